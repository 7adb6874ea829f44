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
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/rt"
)

// checkNarrow returns an error if rounding a packed weight to f16 made it infinite.
func (m *Model) checkNarrow(name string, data any) error {
	halves, ok := data.([]rt.Float16)
	if m.options.WeightsDType != ir.F16 || !ok {
		return nil
	}
	const infinity = 0x7c00
	if !slices.ContainsFunc(halves, func(h rt.Float16) bool { return h&0x7fff == infinity }) {
		return nil
	}
	return fmt.Errorf("weight %q: elements exceed 65504, the largest number of f16; use bf16", name)
}

// largeBytes is a limit in bytes for the size of all weights together. Within the limit, all packed weights are
// computed once and held in memory. Above the limit, this holds only for packed weights that one [part] computes
// together, and for packed weights of a type that [exec.AddMade] does not accept. All other packed weights are then
// computed each time they are used.
var largeBytes int64 = MaxEmbedded

// prepare sets m.Raw, m.Weights and m.large. It packs the weights that Functions load. It uses the plain Go kernels,
// because they produce the same bytes on every machine. m.Weights stays empty if the target cannot run here. It also
// stays empty if m.large is true, unless New draws the weights or the weights file stores packed weights.
func (m *Model) prepare() error {
	m.Raw, m.Weights = rt.NewWeights(), rt.NewWeights()
	if m.Source.Initial != nil {
		m.Raw = initialWeights(m.Source.Initial, m.Source.given())
	}
	for _, w := range m.Module.Weights {
		if m.Source.Initial != nil && m.given[w.Name] {
			continue
		}
		if w.Data == nil && w.Type.Elems().Equal(dim.Dim{}) {
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
	_, isDrawn := m.store().(emit.Drawn)
	if !m.options.Target.CanRun() || m.large && !m.store().Form().HasPrepared() && !isDrawn {
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
	if m.store().Form().HasPrepared() {
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
		case d.Bits() >= 8 && d != ir.Bool && m.Raw.Raw(w.Name) != nil: // used as stored
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

// initialWeights returns [rt.InitialWeights] for the seed of samples. Random elements are drawn when they are first
// used: a package that is not sampled here needs none of them.
func initialWeights(list []rt.Initial, given *rt.Weights) *rt.Weights {
	random := []string{rt.InitUniform, rt.InitNormal, rt.InitTruncated, rt.InitOrthogonal}
	isDrawn := func(w rt.Initial) bool { return w.DType == "f32" && slices.Contains(random, w.Init.Kind) }
	weights := rt.InitialWeights(emit.SampleSeed, slices.DeleteFunc(slices.Clone(list), isDrawn), given)
	for _, w := range list {
		if isDrawn(w) {
			rt.AddMade(weights, w.Name, func(dst []float32) error {
				return w.Init.Fill(dst, emit.SampleSeed, w.Name, w.Shape...)
			}, w.Shape...)
		}
	}
	return weights
}

// part is an independent part of Prepare; see [program.Parts].
type part struct {
	*program.Func
	m *Model
	// sums returns checksums of the weights that the part reads, keyed by name.
	sums func() (map[string][]uint32, error)
}

func (m *Model) parts() ([]*part, error) {
	list, err := program.Parts(m.Module, pass.Prepare, m.options.Target)
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

// run computes the packed weights of the part. dst is their memory. If dst is nil, run allocates the memory.
func (p *part) run(dst []any) (made []exec.Item, err error) {
	defer p.m.options.Target.Plain()()
	results, shapes, err := exec.New(p.Func, p.m.options.Target, exec.Weights(p.m.Raw)).RunInto(context.Background(), nil, nil, dst)
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

// write computes the part's only packed weight into dst. If the weights file has packed weights, the file also has
// checksums of the weights that the part reads. write computes the checksums first, because that brings the weights
// into the cache.
func (p *part) write(dst any) error {
	if p.m.store().Form().HasPrepared() {
		if _, err := p.sums(); err != nil {
			return err
		}
	}
	_, err := p.run([]any{dst})
	return err
}

func (p *part) single() bool {
	r := p.IR.Results
	return len(r) == 1 && exec.CanAddMade(r[0].Type.DType)
}

// runParts computes packed weights. A part is a function that computes some of them; several parts run at a time.
// computed holds the computed weights. deferred holds the parts that are computed each time their weight is used.
// Both are keyed by the name of the weight. runParts returns the errors of all parts in their order.
func (m *Model) runParts(parts []*part) (computed map[string]exec.Item, deferred map[string]*part, err error) {
	computed, deferred = map[string]exec.Item{}, map[string]*part{}
	var run []*part
	for _, p := range parts {
		if m.large && p.single() {
			deferred[p.IR.ResultNames[0]] = p
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
			computed[run[i].IR.ResultNames[k]] = x
		}
	}
	return computed, deferred, errors.Join(errs...)
}

// noteSources records, for each packed weight, a digest of the weights that it was computed from.
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

// sourcesLen is the length in bytes of a digest of sources, a truncated SHA-256.
const sourcesLen = 16

// sources returns a digest of the weights that v, a packed weight, depends on. sums are their
// checksums, keyed by name.
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
