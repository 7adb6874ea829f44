package gen

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// sampleBudget bounds the computation of the sample. It allows plain Go kernels to run for about 2 seconds, which is
// enough for ResNet-50 with a 224 × 224 image.
var sampleBudget = exec.Budget{Steps: 1 << 16, Bytes: 1 << 30, Work: 1 << 33}

// addSamples computes the expected results of the bundled test. If the target cannot run, the default
// target computes them. A function with custom operators gets no results. If a function takes too long, or has too
// many weights, its SampleTooLarge is set instead.
func (m *Model) addSamples(list []*emit.Function) error {
	var sampled []int
	for i, f := range list {
		f.Rounding = m.rounding(m.Functions[i])
		switch {
		case exec.Refuses(f.Func) != nil:
		case m.sampleFlops(i) > sampleBudget.Work:
			f.SampleTooLarge = true
		default:
			sampled = append(sampled, i)
		}
	}
	if len(sampled) == 0 {
		return nil
	}
	by := m
	if !m.options.Target.CanRun() {
		o := m.options
		o.Target, o.Train, o.Loss, o.Keep, o.Dump, o.Stop = nil, false, "", emit.KeepPrepared, nil, 0 // the source has the loss
		var err error
		if by, err = CompileSource(m.Source, o); err != nil {
			return err
		}
	}
	for _, i := range sampled {
		like := *list[i]
		like.Func = by.Functions[i]
		by.addSample(&like, m.sampleFlops(i))
		like.Func = list[i].Func
		*list[i] = like
	}
	return nil
}

// sampleFlops returns the number of floating-point operations of a sample of function i, before the passes.
func (m *Model) sampleFlops(i int) int64 {
	f := m.Source.Module.Func(m.Source.Functions[i].Name)
	return f.Flops(func(string) int64 { return emit.SampleExtent })
}

// addSample computes the expected results of the bundled test for f. If the computation fails or is too large, it sets
// f.SampleFails or f.SampleTooLarge instead. flops is the number that [Model.sampleFlops] returns.
func (m *Model) addSample(f *emit.Function, flops int64) {
	if m.large {
		f.SampleTooLarge = true
		return
	}
	// Inputs with zeros may make an operator divide by zero; inputs without zero may make an index
	// out of range.
	var results []any
	var shapes [][]int
	var err error
	for f.SampleLow = range 2 {
		if results, shapes, err = m.sample(f, nil); err == nil || errors.Is(err, exec.ErrBudget) {
			break
		}
	}
	f.SampleTooLarge = errors.Is(err, exec.ErrBudget)
	f.SampleFails = err != nil && !f.SampleTooLarge
	if err != nil {
		return
	}
	for i, r := range f.IR.Results {
		if s, ok := exec.Sample(r.Type.DType, results[i]); ok && !slices.Contains(f.States, f.IR.ResultNames[i]) {
			s.Rounding = f.Rounding
			f.Sample = append(f.Sample, emit.Sample{Output: i, Shape: shapes[i], Sample: s})
		}
	}
	if flops <= steadyFlops {
		m.keepSteady(f)
	}
}

// sample runs a function on the inputs of the bundled test and returns the results and their shapes. It first changes
// the inputs with `move` if that is not nil.
func (m *Model) sample(f *emit.Function, move func(args []any)) ([]any, [][]int, error) {
	defer m.options.Target.Plain()()
	args, shapes, err := sampleInputs(f.IR, f.SampleLow)
	if err != nil {
		return nil, nil, err
	}
	if move != nil {
		move(args)
	}
	for i, p := range f.IR.Params {
		if slices.Contains(f.States, p.Name) {
			args[i] = nil
		}
	}
	if err := beginStates(f.IR, f.States, args, shapes); err != nil {
		return nil, nil, fmt.Errorf("the sample: %w", err)
	}
	machine := exec.New(f.Func, m.options.Target, exec.Weights(m.Weights))
	machine.Budget = sampleBudget
	results, outShapes, err := machine.Run(context.Background(), args, shapes)
	if err != nil {
		return nil, nil, fmt.Errorf("the sample: %w", err)
	}
	return results, outShapes, nil
}

// steadyFlops is the number of floating-point operations up to which [Model.keepSteady] computes a sample twice. It
// keeps the samples of larger networks as they are, because single rounding errors average out there.
const steadyFlops = 1 << 28

// keepSteady removes from a function's sample the results that depend on rounding, because rounding differs between
// processors. It computes the sample a second time with slightly different inputs: they differ by a little more
// than rounding errors of f32, or of the lower precision that products have. It removes each result that changes by
// more than the bundled test allows, for example where nearly equal numbers are normalised by their variance. It
// removes all results if the second computation fails.
func (m *Model) keepSteady(f *emit.Function) {
	n := len(f.Sample)
	movable := func(p *ir.Value) bool {
		return p.Type.IsTensor() && p.Type.DType == ir.F32 && !slices.Contains(f.States, p.Name)
	}
	if n == 0 || !slices.ContainsFunc(f.IR.Params, movable) {
		return
	}
	results, shapes, err := m.sample(f, func(args []any) {
		for _, a := range args {
			if x, ok := a.([]float32); ok {
				nudge(x, max(unsteady, f.Rounding/4))
			}
		}
	})
	f.Sample = slices.DeleteFunc(f.Sample, func(s emit.Sample) bool {
		return err != nil || !slices.Equal(shapes[s.Output], s.Shape) || exec.CheckSample(f.IR.Results[s.Output].Type.DType, results[s.Output], s.Sample) != nil
	})
	f.SampleUnsteady = len(f.Sample) < n
}

// unsteady is the fraction by which [Model.keepSteady] changes inputs. It is slightly above the relative rounding
// errors of f32 kernels.
const unsteady = 1.0 / (1 << 20)

// nudge changes each element x[i] by x[i]·fraction, up or down in a pseudo-random pattern.
func nudge(x []float32, fraction float64) {
	share := float32(fraction)
	for i := range x {
		if uint32(i)*2654435761>>31 == 0 { // in a pseudo-random pattern
			x[i] += float32(x[i] * share)
		} else {
			x[i] -= float32(x[i] * share)
		}
	}
}

// SampleInputs returns the arguments that the bundled test draws for a function, and their shapes.
// Symbolic extents are 2.
func SampleInputs(f *ir.Func) (args []any, shapes [][]int, err error) { return sampleInputs(f, 0) }

func sampleInputs(f *ir.Func, low int) (args []any, shapes [][]int, err error) {
	for i, p := range f.Params {
		seed := uint32(emit.SampleSeed + i)
		var arg any
		var shape []int
		if p.Type.IsTensor() {
			typ := p.Type.Subst(func(string) (dim.Dim, bool) { return dim.Const(emit.SampleExtent), true })
			var item exec.Item
			item, err = sampleTensor(typ, low, seed)
			arg, shape = item.Data, item.Shape
		} else {
			arg, err = sampleContainer(p.Type, low, seed)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p, err)
		}
		args, shapes = append(args, arg), append(shapes, shape)
	}
	return args, shapes, nil
}

// sampleTensor draws a tensor of a static type from seed. Its elements are in the range that
// [emit.SampleRange] returns for `low`. It returns an error if the size overflows an int or exceeds
// the sample's budget.
func sampleTensor(t ir.Type, low int, seed uint32) (exec.Item, error) {
	shape, ok := t.Static()
	if !ok { // an extent that overflows an int
		return exec.Item{}, exec.ErrBudget
	}
	n, err := ir.CheckedLen(shape)
	if err != nil {
		return exec.Item{}, err
	}
	if int64(n) > sampleBudget.Bytes/8 {
		return exec.Item{}, exec.ErrBudget
	}
	data := exec.MakeSlice(t.DType, n)
	lo, hi := emit.SampleRange(t.DType, low)
	exec.Draw(t.DType, data, float64(lo), float64(hi), seed)
	return exec.Item{Data: data, Shape: shape}, nil
}

// sampleContainer returns the container that the bundled test constructs, with tensors that
// [sampleTensor] draws from `low` and `seed`.
func sampleContainer(t ir.Type, low int, seed uint32) (any, error) {
	var items []exec.Item
	for _, elem := range emit.SampleContainer(t) {
		item, err := sampleTensor(elem, low, seed)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return exec.MakeContainer(t, items), nil
}
