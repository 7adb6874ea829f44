package gpu_test

import (
	"context"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// run runs an operator on a target, with operands of these types and data.
func run(t *testing.T, x targettest.Target, o ir.Op, types []ir.Type, args ...any) ([]any, error) {
	t.Helper()
	f := &ir.Func{Name: pass.Forward}
	b := ir.NewBuilder(f)
	params := make([]*ir.Value, len(types))
	shapes := make([][]int, len(types))
	for i, typ := range types {
		params[i] = b.Param("x", typ)
		shapes[i], _ = typ.Static()
	}
	b.Return(b.Nodes(o, params...)...)
	return runFunc(t, x, f, args, shapes)
}

// runFunc runs a function on a target.
func runFunc(t *testing.T, x targettest.Target, f *ir.Func, args []any, shapes [][]int) ([]any, error) {
	t.Helper()
	for range f.Results {
		f.ResultNames = append(f.ResultNames, "y")
	}
	m := &ir.Module{Funcs: []*ir.Func{f}}
	if err := pass.All(&pass.Context{Target: x}, m, pass.Options{Outline: true}); err != nil {
		t.Fatal(err)
	}
	machine, err := exec.Prepared(x, m, pass.Prepare, pass.Forward)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := machine.Run(context.Background(), args, shapes)
	return out, err
}

var interpreted = gpu.Target{Language: gpu.Language{Name: "interpreted"}, Device: gpu.Interpreter{}}

// TestIndexErrors asserts that an index out of range gives the error of the CPU's kernel.
func TestIndexErrors(t *testing.T) {
	table, three := ir.StaticTensor(ir.F32, 4, 2), ir.StaticTensor(ir.I64, 3)
	square, column := ir.StaticTensor(ir.I64, 3, 2), ir.StaticTensor(ir.I64, 3, 1)
	values := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	updates, six := ir.StaticTensor(ir.F32, 3, 2), []float32{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		op    ir.Op
		types []ir.Type
		args  []any
	}{
		{op.Gather{}, []ir.Type{table, three}, []any{values, []int64{0, 4, -9}}},
		{op.GatherElements{}, []ir.Type{table, square}, []any{values, []int64{0, 1, 2, 3, -5, 1}}},
		{op.GatherND{}, []ir.Type{table, column}, []any{values, []int64{0, 1 << 40, 1}}},
		{
			op.RoiAlign{Mode: "avg", Height: 1, Width: 1, Sampling: 1, Scale: 1},
			[]ir.Type{ir.StaticTensor(ir.F32, 2, 1, 2, 2), ir.StaticTensor(ir.F32, 3, 4), three},
			[]any{values, make([]float32, 12), []int64{0, 1, -1}},
		},
		{
			op.MaxRoiPool{Height: 1, Width: 1, Scale: 1},
			[]ir.Type{ir.StaticTensor(ir.F32, 2, 1, 2, 2), ir.StaticTensor(ir.F32, 2, 5)},
			[]any{values, []float32{1, 0, 0, 1, 1, 2, 0, 0, 1, 1}},
		},
		{op.ScatterElements{Reduction: "add"}, []ir.Type{table, square, updates}, []any{values, []int64{0, 1, 2, 3, -5, 1}, six}},
		{op.ScatterND{}, []ir.Type{table, column, updates}, []any{values, []int64{-4, 3, -1 << 40}, six}},
	} {
		_, want := run(t, cpu.Target{}, c.op, c.types, c.args...)
		_, got := run(t, interpreted, c.op, c.types, c.args...)
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("%s: %v, the CPU's kernel: %v", ir.OpName(c.op), got, want)
		}
	}
}

// TestLengthErrors asserts that the length of a sequence that has fewer steps is an error.
func TestLengthErrors(t *testing.T) {
	steps := op.Steps{Activations: []string{"tanh"}, Alphas: []float64{0}, Betas: []float64{0}}
	f32 := func(shape ...int) ir.Type { return ir.StaticTensor(ir.F32, shape...) }
	for _, c := range []struct {
		op    ir.Op
		types []ir.Type
		args  []any
	}{
		{op.RNNSteps{Steps: steps}, []ir.Type{f32(2, 1, 1), f32(1, 1), ir.StaticTensor(ir.I32, 1)}, []any{[]float32{1, 2}, []float32{1}, []int32{3}}},
		{op.ReverseSequence{}, []ir.Type{f32(2, 1), ir.StaticTensor(ir.I64, 1)}, []any{[]float32{1, 2}, []int64{3}}},
	} {
		if _, err := run(t, interpreted, c.op, c.types, c.args...); err == nil || !strings.Contains(err.Error(), "sequence length 3 is not one of 3 possible lengths") {
			t.Errorf("%s: %v", ir.OpName(c.op), err)
		}
	}
}
