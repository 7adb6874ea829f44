package gen

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
)

// sampleBudget bounds what the sample takes: about 2 seconds of the plain Go kernels, which
// is what ResNet-50 needs for an image of 224 × 224.
var sampleBudget = exec.Budget{Steps: 1 << 16, Bytes: 1 << 30, Work: 1 << 33}

// addSample computes what the bundled test expects of a function, compiled from source, if
// it can be run here.
func (m *Model) addSample(f *emit.Function, source *ir.Func) {
	if exec.Refuses(f.Func) != nil {
		return
	}
	flops := source.Flops(func(string) int64 { return emit.SampleExtent })
	if m.large || flops > sampleBudget.Work {
		f.SampleTooLarge = true
		return
	}
	// Numbers that include zero may be what an operator cannot divide by; without
	// it, an index may be out of range.
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
			f.Sample = append(f.Sample, emit.Sample{Output: i, Shape: shapes[i], Sample: s})
		}
	}
	if flops <= steadyFlops {
		m.keepSteady(f)
	}
}

// sample computes a function of what the bundled test draws, moved by move if that is not nil.
func (m *Model) sample(f *emit.Function, move func(args []any)) ([]any, [][]int, error) {
	defer plainGo()()
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
	machine := exec.New(f.Func, exec.Weights(m.Weights))
	machine.Budget = sampleBudget
	results, outShapes, err := machine.Run(context.Background(), args, shapes)
	if err != nil {
		return nil, nil, fmt.Errorf("the sample: %w", err)
	}
	return results, outShapes, nil
}

// steadyFlops is the most floating-point operations of a function whose sample is computed
// twice: what takes more is a network of a size where single roundings drown.
const steadyFlops = 1 << 28

// keepSteady leaves out of a function's sample what depends on how sums are rounded, which
// differs from processor to processor: results that change by more than the bundled test
// allows when arguments do by a little more than kernels differ. So it is where almost
// equal numbers are divided by how much they vary.
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
				nudge(x)
			}
		}
	})
	f.Sample = slices.DeleteFunc(f.Sample, func(s emit.Sample) bool {
		return err != nil || !slices.Equal(shapes[s.Output], s.Shape) || exec.CheckSample(f.IR.Results[s.Output].Type.DType, results[s.Output], s.Sample) != nil
	})
	f.SampleUnsteady = len(f.Sample) < n
}

// nudge moves numbers by a share of them, up or down.
func nudge(x []float32) {
	const share = 1.0 / (1 << 20)
	for i := range x {
		if uint32(i)*2654435761>>31 == 0 { // in no apparent order
			x[i] += float32(x[i] * share)
		} else {
			x[i] -= float32(x[i] * share)
		}
	}
}

// SampleInputs returns arguments for a function, drawn as those of the bundled
// test are: 2 along symbolic extents.
func SampleInputs(f *ir.Func) (args []any, shapes [][]int, err error) { return sampleInputs(f, 0) }

// sampleInputs is [SampleInputs] with numbers that begin at low.
func sampleInputs(f *ir.Func, low int) (args []any, shapes [][]int, err error) {
	for i, p := range f.Params {
		seed := uint32(emit.SampleSeed + i)
		var arg any
		var shape []int
		if p.Type.IsTensor() {
			typ := p.Type.Subst(func(string) (ir.Dim, bool) { return ir.Const(emit.SampleExtent), true })
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

// sampleTensor draws a tensor of a static type. Errors: a size that does not fit an
// int, and one over the sample's budget.
func sampleTensor(t ir.Type, low int, seed uint32) (exec.Item, error) {
	shape, ok := t.Static()
	if !ok { // an extent that does not fit an int
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

// sampleContainer returns the container that the bundled test makes.
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
