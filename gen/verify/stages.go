package verify

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
)

// stages split a quantised model at its quantisations. A rounding tie that goes the other way in an early layer
// changes many outputs of the whole model, whatever the implementation. Such a tie changes a single element of its
// own stage.
type stages struct {
	module *ir.Module
	// cuts are the values of @forward between stages, in order: the integers to which activations
	// are quantised.
	cuts []*ir.Value
	// strict says how the stages are compiled.
	strict bool
	// compile returns a function that computes a module, instead of the evaluator. strict excludes transformations
	// that change the rounding of floats.
	compile func(m *ir.Module, strict bool) (forward, error)
}

const (
	// minCuts is the minimum number of quantised values of a model that is compared by stages.
	minCuts = 2
	// maxStageOff is the share of a stage's integers, not counting ties, that may be off by one
	// quantum. One integer is always accepted.
	maxStageOff = 1e-4
	// movedCuts is the number of quantised values, from the start of the model, in which an element
	// is moved by a quantum. movedPlaces is the number of elements that are moved in each, one at a
	// time.
	movedCuts, movedPlaces = 3, 5
	// maxMoves is the largest accepted ratio d/e. d is the difference between the outputs and the reference. e is the
	// difference that moving an element makes to the outputs.
	maxMoves = 2
)

// stagesOf returns the stages of a module. The function `compile` returns a function that computes a module. Its
// second argument is `strict`.
func stagesOf(m *ir.Module, strict bool, compile func(m *ir.Module, strict bool) (forward, error)) *stages {
	s := &stages{module: m, strict: strict, compile: compile}
	f := m.Func("forward")
	symbols := f.Symbols()
	varies := map[*ir.Value]bool{}
	for _, p := range f.Params {
		varies[p] = true
	}
	for _, n := range f.Nodes {
		args := slices.Clone(n.Args)
		for _, b := range n.Blocks {
			args = append(args, b.Captured()...)
		}
		if !slices.ContainsFunc(args, func(v *ir.Value) bool { return varies[v] }) {
			continue
		}
		for _, r := range n.Results {
			varies[r] = true
		}
		bound := func(symbol string) bool { return slices.Contains(symbols, symbol) }
		if q, ok := n.Op.(op.QuantizeLinear); ok && q.To.IsInt() && !slices.ContainsFunc(ir.SymbolsOf(n.Results), func(s string) bool { return !bound(s) }) {
			s.cuts = append(s.cuts, n.Results[0])
		}
	}
	return s
}

// cut returns a copy of the module in which values of @forward are parameters, after the other parameters. What
// @forward would compute for these values becomes its first results.
func (s *stages) cut(values []*ir.Value) (*ir.Module, error) {
	m := s.module.Clone()
	f := m.Func("forward")
	copies := valuesOf(f)
	given := map[*ir.Value]*ir.Value{}
	var results []*ir.Value
	var names []string
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		for _, v := range values {
			again := copies[v.Name]
			given[again] = b.Param(v.Name, v.Type)
			results = append(results, again)
			names = append(names, given[again].Name)
		}
	})
	if err != nil {
		return nil, err
	}
	use := func(list []*ir.Value) {
		for i, v := range list {
			if p := given[v]; p != nil {
				list[i] = p
			}
		}
	}
	for n := range f.All() {
		use(n.Args)
		for _, b := range n.Blocks {
			use(b.Results)
		}
	}
	f.Results = append(results, f.Results...)
	f.ResultNames = append(names, f.ResultNames...)
	return m, ir.Verify(m)
}

// tap returns a copy of the module whose @forward returns the values in s.cuts, followed by its own results.
func (s *stages) tap() *ir.Module {
	m := s.module.Clone()
	f := m.Func("forward")
	made := valuesOf(f)
	var results []*ir.Value
	var names []string
	for i, v := range s.cuts {
		results, names = append(results, made[v.Name]), append(names, fmt.Sprint("cut ", i))
	}
	f.Results, f.ResultNames = append(results, f.Results...), append(names, f.ResultNames...)
	return m
}

func valuesOf(f *ir.Func) map[string]*ir.Value {
	values := map[string]*ir.Value{}
	for _, n := range f.Nodes {
		for _, r := range n.Results {
			values[r.Name] = r
		}
	}
	return values
}

type staged struct {
	cuts, integers, off int
	// ties counts elements that lie half-way between two integers. offTies counts ties that were
	// rounded the other way, which off does not include.
	ties, offTies int
	// outputs, moved and turned have an entry for each want. outputs is the difference from the
	// reference. moved is the largest change when one integer moves by one. turned is the change when
	// all ties are rounded the other way; it is nil if moved explains every difference.
	outputs, moved, turned []distance
}

func (s staged) String() string {
	ties, turned := "", ""
	if s.offTies > 0 {
		ties = fmt.Sprintf(" and %d of %d ties", s.offTies, s.ties)
	}
	if s.turned != nil {
		turned = "; all ties the other way: " + farthest(s.turned).String()
	}
	return fmt.Sprintf("%d of %d integers of %d quantised values off by one%s; outputs: %s; one integer moved by one: %s%s",
		s.off, s.integers, s.cuts, ties, farthest(s.outputs), farthest(s.moved), turned)
}

// unexplained looks for an expected output whose difference is explained neither by a moved integer nor by the ties.
// It returns the index of the first one, or −1 if all differences are explained.
func (s staged) unexplained() int {
	for i, d := range s.outputs {
		if !s.moved[i].explains(d) && (s.turned == nil || !s.turned[i].explains(d)) {
			return i
		}
	}
	return -1
}

// distance is the difference between two outputs.
type distance struct {
	// beyond is the number of elements that differ by more than the tolerance, and of the number of
	// elements compared.
	beyond, of int
	// largest is the largest difference, divided by [judge.unit].
	largest float64
}

func (d distance) String() string {
	return fmt.Sprintf("%d of %d differ, by up to %.3g", d.beyond, d.of, d.largest)
}

func farthest(list []distance) distance {
	var most distance
	for _, d := range list {
		most = distance{max(most.beyond, d.beyond), max(most.of, d.of), max(most.largest, d.largest)}
	}
	return most
}

func (d distance) explains(e distance) bool {
	return e.beyond <= maxMoves*d.beyond && e.largest <= maxMoves*d.largest && !math.IsInf(d.largest, 1)
}

// got holds the outputs of the whole model. check makes three comparisons. It compares each stage with the evaluator,
// on integers that the evaluator computes from inputs. It compares got with the outputs of the stages run one after
// the other. It compares got with wants, the expected outputs that got differs from. This last difference must be
// explained: by the effect of one integer that is off by one, or by the effect of all ties that go the other way.
// check returns an error if a comparison fails.
func (s *stages) check(ctx context.Context, j *judge, inputs, got []*onnx.Value, wants []want) (found staged, err error) {
	f := s.module.Func("forward")
	values, ties := map[*ir.Value]*ir.Tensor{}, map[*ir.Value][]tie{}
	args := make([]*ir.Tensor, len(inputs))
	for i, v := range inputs {
		args[i] = toIR(v, f.Params[i].Type)
	}
	outputs, err := s.evaluate(args, func(cut *ir.Value, integers *ir.Tensor, list []tie) {
		values[cut], ties[cut] = integers, list
	})
	if err != nil {
		return found, fmt.Errorf("eval: %w", err)
	}
	if err := s.each(ctx, j, inputs, got, values, ties, outputs, &found); err != nil {
		return found, err
	}
	for _, w := range wants {
		d, err := j.distance(got[w.output], w, nil)
		if err != nil {
			return found, err
		}
		found.outputs = append(found.outputs, d)
	}
	found.moved = make([]distance, len(wants))
	for _, v := range s.cuts[:min(movedCuts, len(s.cuts))] {
		if err := s.move(ctx, j, inputs, v, values[v], wants, &found); err != nil {
			return found, err
		}
	}
	if found.unexplained() < 0 {
		return found, nil
	}
	if err := s.turn(j, args, outputs, wants, &found); err != nil {
		return found, fmt.Errorf("eval: %w", err)
	}
	if i := found.unexplained(); i >= 0 {
		return found, fmt.Errorf("output %q: %s; one integer moved by one: %s; all ties the other way: %s", wants[i].name, found.outputs[i], found.moved[i], found.turned[i])
	}
	return found, nil
}

// each compares every stage and every output with the evaluator. It also compares got, the outputs of the whole
// model, with what the stages compute from the integers of the whole model. It adds the numbers of integers and ties
// to `found`. It returns an error that says what differs.
func (s *stages) each(ctx context.Context, j *judge, inputs, got []*onnx.Value, values map[*ir.Value]*ir.Tensor, ties map[*ir.Value][]tie, outputs []*ir.Tensor, found *staged) error {
	m, err := s.cut(s.cuts)
	if err != nil {
		return err
	}
	run, err := s.compile(m, s.strict)
	if err != nil {
		return err
	}
	integers := make([]*onnx.Value, len(s.cuts))
	for i, v := range s.cuts {
		integers[i] = &onnx.Value{Tensor: values[v]}
	}
	results, err := run(ctx, slices.Concat(inputs, integers))
	if err != nil {
		return err
	}
	for i, v := range s.cuts {
		n := values[v].Len()
		off, offTies, err := offByOne(results[i].Tensor, values[v], ties[v])
		if err != nil {
			return fmt.Errorf("quantised value %q: %w", v.Name, err)
		}
		found.cuts, found.integers, found.off = found.cuts+1, found.integers+n, found.off+off
		found.ties, found.offTies = found.ties+len(ties[v]), found.offTies+offTies
	}
	f := s.module.Func("forward")
	for i, r := range f.Results {
		if slices.Contains(s.cuts, r) {
			continue
		}
		if why := j.container(results[len(s.cuts)+i], fromIR(outputs[i]), false); why != "" {
			return fmt.Errorf("output %q: %s", f.ResultNames[i], why)
		}
	}
	// The whole must compute exactly what the stages compute.
	whole, err := s.compile(s.tap(), s.strict)
	if err != nil {
		return err
	}
	tapped, err := whole(ctx, inputs)
	if err != nil {
		return err
	}
	results, err = run(ctx, slices.Concat(inputs, tapped[:len(s.cuts)]))
	if err != nil {
		return err
	}
	for i, v := range s.cuts {
		if !results[i].Tensor.Equal(tapped[i].Tensor) {
			return fmt.Errorf("quantised value %q of the whole model differs from the value of its stage", v.Name)
		}
	}
	for i, name := range f.ResultNames {
		if why := j.container(got[i], results[len(s.cuts)+i], false); why != "" {
			return fmt.Errorf("output %q of the whole model differs from the output of its stage: %s", name, why)
		}
	}
	return nil
}

// offByOne compares integers. offTies is the number of ties that were rounded the other way. off is the number of
// other integers that are off by one. It returns an error if the types differ, if integers are off by more than one,
// or if too many integers that are not ties are off.
func offByOne(got, want *ir.Tensor, ties []tie) (off, offTies int, err error) {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return 0, 0, fmt.Errorf("%s, want %s", got.Type(), want.Type())
	}
	for i := range want.Len() {
		for len(ties) > 0 && ties[0].at < i {
			ties = ties[1:]
		}
		switch g, w := got.Int(i), want.Int(i); {
		case g == w:
		case len(ties) > 0 && ties[0] == (tie{i, g}):
			offTies++
		case g-w == 1 || w-g == 1:
			off++
		default:
			return 0, 0, fmt.Errorf("element %d %s is %d, want %d", i, place(i, want.Shape), g, w)
		}
	}
	if float64(off) > max(1, maxStageOff*float64(want.Len())) {
		return 0, 0, fmt.Errorf("%d of %d integers are off by one", off, want.Len())
	}
	return off, offTies, nil
}

// move changes elements of a quantised value by one, one element at a time, and records how much
// the outputs of `wants` change. It runs the strictly compiled stages, because the evaluator is a
// hundred times slower. The stages are verified at this point.
func (s *stages) move(ctx context.Context, j *judge, inputs []*onnx.Value, v *ir.Value, integers *ir.Tensor, wants []want, found *staged) error {
	m, err := s.cut([]*ir.Value{v})
	if err != nil {
		return err
	}
	run, err := s.compile(m, true)
	if err != nil {
		return err
	}
	with := func(t *ir.Tensor) ([]*onnx.Value, error) {
		return run(ctx, append(slices.Clone(inputs), &onnx.Value{Tensor: t}))
	}
	still, err := with(integers)
	if err != nil {
		return err
	}
	n := integers.Len()
	places := min(movedPlaces, n)
	for k := range places {
		if ctx.Err() != nil {
			return errTimeout
		}
		results, err := with(moved(integers, (2*k+1)*n/(2*places)))
		if err != nil {
			return err
		}
		for i, w := range wants {
			d, err := j.distance(results[1+w.output], w, still[1+w.output].Tensor)
			if err != nil {
				return err
			}
			found.moved[i] = farthest([]distance{found.moved[i], d})
		}
	}
	return nil
}

// moved returns t with element i increased by one, or decreased if it is the largest integer.
func moved(t *ir.Tensor, i int) *ir.Tensor {
	m := ir.NewTensor(t.DType, t.Shape...)
	for k := range t.Len() {
		m.Copy(k, t, k)
	}
	if m.SetInt(i, t.Int(i)+1); m.Int(i) < t.Int(i) {
		m.SetInt(i, t.Int(i)-1)
	}
	return m
}

// distance returns the difference of v from w, or from `other` if that is not nil. It compares the elements that w
// holds. If the output is compared by statistics, see [want.summarised], it also compares the number of NaNs, the
// smallest and the largest element. It returns an error if v has another type than w or another number of NaNs, or if
// w holds no values.
func (j *judge) distance(v *onnx.Value, w want, other *ir.Tensor) (distance, error) {
	d := distance{}
	got := v.Tensor
	if got == nil || got.DType != w.dtype || !slices.Equal(got.Shape, w.shape) || w.dtype == ir.String {
		return d, fmt.Errorf("output %q: of another type", w.name)
	}
	for _, p := range w.parts {
		if n := p.values.Len(); n > 0 && (got.Len() == 0 || n-1 > (got.Len()-1)/p.stride) {
			return d, fmt.Errorf("output %q: the reference has %d elements, %d apart", w.name, n, p.stride)
		}
		near, unit := j.near(w, p), j.unit(w, p)
		for i := range p.values.Len() {
			at, want, k := i*p.stride, p.values, i
			if other != nil {
				want, k = other, at
			}
			d.add(near(got, at, want, k), got.Number(at), want.Number(k), unit)
		}
	}
	if w.summarised(got.Len()) {
		nans, low, high := extremes(got)
		wantNaNs, least, most := w.stats.NaN, float64(w.stats.Min), float64(w.stats.Max)
		if other != nil {
			wantNaNs, least, most = extremes(other)
		}
		if nans != wantNaNs {
			return d, fmt.Errorf("output %q: %d NaNs, want %d", w.name, nans, wantNaNs)
		}
		if nans < got.Len() {
			rms, largest := w.stats.magnitude()
			absolute, relative := j.limits(w.dtype, rms, largest)
			unit := j.unit(w, part{})
			d.add(within(low, least, absolute, relative), low, least, unit)
			d.add(within(high, most, absolute, relative), high, most, unit)
		}
	}
	if d.of == 0 {
		return d, fmt.Errorf("output %q: the reference holds no value of it", w.name)
	}
	return d, nil
}

// add counts a pair of compared numbers, a and b. If near is false, they differ by more than the tolerance. add then
// also counts the difference, and updates the largest difference. Differences are divided by unit.
func (d *distance) add(near bool, a, b, unit float64) {
	if d.of++; near {
		return
	}
	apart := math.Abs(a-b) / unit
	if apart != apart {
		apart = math.Inf(1)
	}
	d.beyond, d.largest = d.beyond+1, max(d.largest, apart)
}

// unit returns the number by which differences of an output are divided: the quantum of a quantised
// output, 1 for integers, and otherwise the root mean square of the reference.
func (j *judge) unit(w want, p part) float64 {
	if quantum := j.quantum(w); quantum > 0 {
		return quantum
	}
	if !w.dtype.IsFloat() {
		return 1
	}
	var rms float64
	if w.stats != nil && (p.values == nil || w.stats.Count > p.values.Len()) {
		rms, _ = w.stats.magnitude()
	} else {
		rms, _ = magnitude(p.values)
	}
	return max(rms, math.SmallestNonzeroFloat32)
}

// byStages compares a trial by stages, within the time limit. wants are the expected outputs that got differs from.
// byStages returns a note about the result. The note is empty if the trial cannot be compared by stages. This is the
// case if the evaluator computes the trial, if the trial has several calls or random outputs, or if the model has too
// few quantised values.
func (v *verifier) byStages(ctx context.Context, c Case, t trial, j *judge, got []*onnx.Value, wants []want) (string, error) {
	if v.Mode == Evaluated || t.calls > 1 || len(t.frames) > 0 || slices.ContainsFunc(j.ports.results, func(p port) bool { return p.random }) {
		return "", nil
	}
	deadline, _ := ctx.Deadline()
	return limited(time.Until(deadline), func() (string, error) {
		o, err := v.options(c)
		if err != nil {
			return "", err
		}
		src, err := onnx.Open(c.model(), onnx.Options{Outputs: o.Outputs})
		if err != nil {
			return "", err
		}
		s := stagesOf(src.Module, v.Strict, func(m *ir.Module, strict bool) (forward, error) {
			compiled, err := gen.FromModule(src.Name, m, gen.Options{Strict: strict, WeightsDType: v.WeightsDType})
			if err != nil {
				return nil, err
			}
			return executed(compiled), nil
		})
		if len(s.cuts) < minCuts {
			return "", nil
		}
		by := "by stages"
		if v.Mode == Generated {
			by += ", run by package exec"
		}
		found, err := s.check(ctx, j, t.inputs, got, wants)
		return by + ": " + found.String(), err
	})
}
