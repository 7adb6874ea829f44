package gen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// plain counts who wants plain Go kernels: their choice is the process's.
var plain struct {
	sync.Mutex
	users   int
	restore func()
}

// plainGo makes kernels plain Go until all who called it have called done.
func plainGo() (done func()) {
	plain.Lock()
	defer plain.Unlock()
	if plain.users++; plain.users == 1 {
		plain.restore = cpu.SetLevel(cpu.Generic)
	}
	return func() {
		plain.Lock()
		defer plain.Unlock()
		if plain.users--; plain.users == 0 {
			plain.restore()
		}
	}
}

// checkNarrow returns an error where rounding a prepared weight to f16 has made an
// infinity.
func (m *Model) checkNarrow(name string, data any) error {
	halves, ok := data.([]rt.Float16)
	if m.options.WeightsDType != ir.F16 || !ok {
		return nil
	}
	const infinity = 0x7c00
	if !slices.ContainsFunc(halves, func(h rt.Float16) bool { return h&0x7fff == infinity }) {
		return nil
	}
	return fmt.Errorf("weight %q: elements are beyond 65504, the largest number of f16: bf16 has room for them", name)
}

// largeBytes is the size of weights above which those that are prepared are not held, unless
// they are made with others.
var largeBytes int64 = MaxEmbedded

// prepare makes the weights that Functions load, with the plain Go kernels: the
// same bytes on every machine.
func (m *Model) prepare() error {
	m.Raw, m.Weights = rt.NewWeights(), rt.NewWeights()
	if m.Source.Initial != nil {
		m.Raw = rt.InitialWeights(emit.SampleSeed, m.Source.Initial, m.Source.given())
	}
	for _, w := range m.Module.Weights {
		if m.Source.Initial != nil && m.Source.Module.Weight(w.Name) != nil {
			continue
		}
		if w.Data == nil && w.Type.Elems().Equal(ir.Dim{}) {
			w.Data = []byte{}
		}
		if w.Data != nil {
			exec.AddWeight(m.Raw, w)
		}
	}
	if err := m.Raw.Err(); err != nil {
		return err
	}
	m.large = m.isLarge()
	if m.large && m.keepsRaw() && !m.keepsPrepared() {
		return nil
	}
	parts, err := m.parts()
	if err != nil {
		return err
	}
	made, later, err := m.runParts(parts)
	if err != nil {
		return err
	}
	if m.keepsPrepared() {
		m.noteSources(parts)
	}
	raw := exec.Weights(m.Raw)
	for _, w := range m.kept() {
		shape, _ := w.Type.Static()
		d := w.Type.DType
		switch x, now := made[w.Name]; {
		case now:
			exec.AddTo(m.Weights, w.Name, d, x.Data, x.Shape)
		case later[w.Name] != nil:
			exec.AddMade(m.Weights, w.Name, d, later[w.Name].write, shape)
		case d.Bits() >= 8 && d != ir.Bool && m.Raw.Raw(w.Name) != nil: // used as they are stored
			m.Weights.AddRaw(w.Name, d.String(), shape, m.Raw.Raw(w.Name))
		default:
			data, err := raw(w.Name)
			if err != nil {
				return err
			}
			exec.AddTo(m.Weights, w.Name, d, data, shape)
		}
	}
	return m.Weights.Err()
}

// part is a part of Prepare, see [program.Parts].
type part struct {
	*program.Func
	m *Model
	// sums returns checksums of the weights that it reads, by their names.
	sums func() (map[string][]uint32, error)
}

// parts takes Prepare apart.
func (m *Model) parts() ([]*part, error) {
	list, err := program.Parts(m.Module, pass.Prepare)
	if err != nil {
		return nil, err
	}
	parts := make([]*part, len(list))
	for i, f := range list {
		parts[i] = &part{f, m, sync.OnceValues(func() (map[string][]uint32, error) {
			names := map[string]bool{}
			for n := range f.IR.All() {
				if l, ok := n.Op.(ir.Load); ok {
					names[l.Name] = true
				}
			}
			return m.Raw.Checksums(slices.Sorted(maps.Keys(names))...)
		})}
	}
	return parts, nil
}

// run makes the weights, in memory that is given or not.
func (p *part) run(into []any) (made []exec.Item, err error) {
	defer plainGo()()
	results, shapes, err := exec.New(p.Func, exec.Weights(p.m.Raw)).RunInto(context.Background(), nil, nil, into)
	if err != nil {
		return nil, err
	}
	for i, name := range p.IR.ResultNames {
		if err := p.m.checkNarrow(name, results[i]); err != nil {
			return nil, err
		}
		made = append(made, exec.Item{Data: results[i], Shape: shapes[i]})
	}
	return made, nil
}

// write makes the only weight. The checksums of what it reads, which a file of it will need,
// are computed before: whichever comes first brings it into the processor's cache.
func (p *part) write(dst any) error {
	if p.m.keepsPrepared() {
		if _, err := p.sums(); err != nil {
			return err
		}
	}
	_, err := p.run([]any{dst})
	return err
}

// single reports whether there is only one weight, which can be made each time it is used.
func (p *part) single() bool {
	r := p.IR.Results
	return len(r) == 1 && exec.CanAddMade(r[0].Type.DType)
}

// runParts makes prepared weights, several at a time, and returns which parts make theirs
// later. Errors are those of all parts, in their order.
func (m *Model) runParts(parts []*part) (now map[string]exec.Item, later map[string]*part, err error) {
	now, later = map[string]exec.Item{}, map[string]*part{}
	var run []*part
	for _, p := range parts {
		if m.large && p.single() {
			later[p.IR.ResultNames[0]] = p
		} else {
			run = append(run, p)
		}
	}
	made, errs := make([][]exec.Item, len(run)), make([]error, len(run))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(run); i = int(next.Add(1)) - 1 {
			made[i], errs[i] = run[i].run(nil)
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(run)) {
		wait.Go(work)
	}
	wait.Wait()
	for i, items := range made {
		for k, x := range items {
			now[run[i].IR.ResultNames[k]] = x
		}
	}
	return now, later, errors.Join(errs...)
}

// noteSources notes, for each prepared weight, a digest of the weights that it is made of.
func (m *Model) noteSources(parts []*part) {
	kept := map[string]bool{}
	for _, w := range m.kept() {
		kept[w.Name] = true
	}
	for _, p := range parts {
		for i, name := range p.IR.ResultNames {
			if !kept[name] {
				continue
			}
			m.Weights.SetMetadataFunc(rt.SourcesPrefix+name, 2*sourcesLen, func() (string, error) {
				sums, err := p.sums()
				if err != nil {
					return "", err
				}
				return sources(p.IR.Results[i], sums), nil
			})
		}
	}
}

// sourcesLen is how many bytes of a SHA-256 a digest of sources has.
const sourcesLen = 16

// sources returns a digest of the weights that a prepared one is made of.
func sources(v *ir.Value, sums map[string][]uint32) string {
	h := sha256.New()
	seen := map[*ir.Value]bool{}
	var visit func(v *ir.Value)
	visit = func(v *ir.Value) {
		if v == nil || v.Def == nil || seen[v] {
			return
		}
		seen[v] = true
		if l, ok := v.Def.Op.(ir.Load); ok {
			fmt.Fprintf(h, "%q %x", l.Name, sums[l.Name])
		}
		for _, a := range v.Def.Args {
			visit(a)
		}
	}
	visit(v)
	return hex.EncodeToString(h.Sum(nil)[:sourcesLen])
}
