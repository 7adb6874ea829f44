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

// preparedBytes is the most bytes of prepared weights that are held: of those beyond it,
// each is made where it is used, if nothing else is made with it.
var preparedBytes int64 = MaxEmbedded

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
	if m.keepsRaw() && m.WeightsSize() > MaxEmbedded {
		m.unprepared = true
		return nil
	}
	made, err := m.runParts()
	if err != nil {
		return err
	}
	if !m.keepsRaw() && m.Source.Initial == nil { // a file of prepared weights
		if err := m.noteSources(); err != nil {
			return err
		}
	}
	raw := exec.Weights(m.Raw)
	for _, w := range m.kept() {
		shape, _ := w.Type.Static()
		d := w.Type.DType
		switch x, now := made[w.Name]; {
		case now:
			exec.AddTo(m.Weights, w.Name, d, x.Data, x.Shape)
		case m.later[w.Name] != nil:
			exec.AddMade(m.Weights, w.Name, d, m.later[w.Name].write, shape)
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

// write makes the only weight.
func (p *part) write(dst any) error {
	_, err := p.run([]any{dst})
	return err
}

// size returns how many bytes the weights have, and whether there is only one, which can
// be made each time it is used.
func (p *part) size() (bytes int64, single bool) {
	single = len(p.IR.Results) == 1
	for _, r := range p.IR.Results {
		n, static := r.Type.Elems().Int()
		if !static || r.Type.DType.Size() == 0 {
			return 0, false
		}
		bytes += int64(n) * int64(r.Type.DType.Size())
		single = single && exec.CanAddMade(r.Type.DType)
	}
	return bytes, single
}

// runParts makes prepared weights, several at a time, and notes which are made later.
// Errors are those of all parts, in their order.
func (m *Model) runParts() (map[string]exec.Item, error) {
	list, err := program.Parts(m.Module, pass.Prepare)
	if err != nil {
		return nil, err
	}
	m.later = map[string]*part{}
	var now []*part
	var held int64
	for _, f := range list {
		p := &part{f, m}
		bytes, single := p.size()
		if single && held+bytes > preparedBytes {
			m.later[f.IR.ResultNames[0]] = p
			continue
		}
		held += bytes
		now = append(now, p)
	}
	made, errs := make([][]exec.Item, len(now)), make([]error, len(now))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(now); i = int(next.Add(1)) - 1 {
			made[i], errs[i] = now[i].run(nil)
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(now)) {
		wait.Go(work)
	}
	wait.Wait()
	weights := map[string]exec.Item{}
	for i, items := range made {
		for k, x := range items {
			weights[now[i].IR.ResultNames[k]] = x
		}
	}
	return weights, errors.Join(errs...)
}

// passing returns a lookup of weights for a single run of a function, which holds no more
// of those that are made later than it has to.
func (m *Model) passing() func(name string) (any, error) {
	held := exec.Weights(m.Weights)
	type passed struct {
		name  string
		bytes int64
		data  any
	}
	var last []passed
	var total int64
	return func(name string) (any, error) {
		p := m.later[name]
		if p == nil {
			return held(name)
		}
		if i := slices.IndexFunc(last, func(x passed) bool { return x.name == name }); i >= 0 {
			return last[i].data, nil
		}
		made, err := p.run(nil)
		if err != nil {
			return nil, err
		}
		bytes, _ := p.size()
		last, total = append(last, passed{name, bytes, made[0].Data}), total+bytes
		for len(last) > 1 && total > preparedBytes {
			total -= last[0].bytes
			last = slices.Delete(last, 0, 1)
		}
		return made[0].Data, nil
	}
}

// noteSources notes, for each prepared weight, a digest of the weights that it is made of.
func (m *Model) noteSources() error {
	names := map[string]bool{}
	for n := range m.Prepare.IR.All() {
		if l, ok := n.Op.(ir.Load); ok {
			names[l.Name] = true
		}
	}
	sums, err := m.Raw.Checksums(slices.Sorted(maps.Keys(names))...)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, w := range m.kept() {
		kept[w.Name] = true
	}
	for i, name := range m.Prepare.IR.ResultNames {
		if kept[name] {
			m.Weights.SetMetadata("burngen.sources:"+name, sources(m.Prepare.IR.Results[i], sums))
		}
	}
	return nil
}

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
	return hex.EncodeToString(h.Sum(nil)[:16])
}
