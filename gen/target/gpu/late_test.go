package gpu_test

import (
	"context"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// TestLateOfLate counts the elements of a tensor whose extent is itself counted while the model runs:
// the memory of the second count is made then.
func TestLateOfLate(t *testing.T) {
	f := &ir.Func{Name: pass.Forward}
	b := ir.NewBuilder(f)
	places := b.Node(op.NonZero{Count: "first"}, b.Param("x", ir.StaticTensor(ir.F32, 6)))
	again := b.Node(op.NonZero{Count: "second"}, places)
	rows := op.TransposeBy(b, places, 1, 0)
	distinct := b.Nodes(op.Unique{Count: "third"}, rows, b.Node(op.SortRows{}, rows))
	b.Return(again, distinct[0])
	f.ResultNames = []string{"again", "distinct"}
	m := &ir.Module{Funcs: []*ir.Func{f}}
	if err := pass.All(&pass.Context{Target: interpreted}, m, pass.Options{Outline: true}); err != nil {
		t.Fatal(err)
	}
	machine, err := exec.Prepared(interpreted, m, pass.Prepare, pass.Forward)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x               []float32
		again, distinct []int64
	}{
		{[]float32{1, 0, 2, 0, 0, 3}, []int64{0, 0, 1, 2}, []int64{0, 2, 5}}, // the places are 0, 2 and 5
		{make([]float32, 6), []int64{}, []int64{}},
	} {
		out, _, err := machine.Run(context.Background(), []any{c.x}, [][]int{{6}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out[0].([]int64), c.again) || !slices.Equal(out[1].([]int64), c.distinct) {
			t.Errorf("%v: got %v, want %v and %v", c.x, out, c.again, c.distinct)
		}
	}
}
