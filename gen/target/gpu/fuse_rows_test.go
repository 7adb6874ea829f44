package gpu_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// rowCases are functions of x [rows, length], vectors w and b [length], labels [rows, 1] and the upstream gradient g. The
// results are the function's and, unless wrt is empty, the gradients with respect to these operands. launches is the number
// of launches for rows that one kernel computes together.
var rowCases = map[string]struct {
	build    func(b *ir.Builder, x, w, bias, labels *ir.Value) *ir.Value
	wrt      string
	launches int
}{
	"layer norm": {func(b *ir.Builder, x, w, bias, _ *ir.Value) *ir.Value {
		return b.Node(op.LayerNormalization{Axis: 1, Epsilon: 1e-5}, x, w, bias)
	}, "x", 1},
	"RMS norm after an addition": {func(b *ir.Builder, x, w, bias, _ *ir.Value) *ir.Value {
		return b.Node(op.RMSNormalization{Axis: 1, Epsilon: 1e-5}, b.Node(op.Add{}, x, bias), w)
	}, "x", 1},
	"softmax of scaled elements": {func(b *ir.Builder, x, w, bias, _ *ir.Value) *ir.Value {
		return b.Node(op.Softmax{Axis: 1}, b.Node(op.Mul{}, x, bias))
	}, "x", 1},
	"cross entropy": {func(b *ir.Builder, x, _, _, labels *ir.Value) *ir.Value {
		return b.Node(op.Neg{}, b.Node(op.GatherElements{Axis: 1}, b.Node(op.LogSoftmax{Axis: 1}, x), labels))
	}, "x", 3}, // with the check of the labels and the upstream gradient's sign
	"distance from the mean": {func(b *ir.Builder, x, _, _, _ *ir.Value) *ir.Value {
		mean := b.Node(op.Reduce{Kind: op.ReduceMean, Axes: []int{1}, KeepDims: true}, x)
		return b.Node(op.Sqrt{}, b.Node(op.Reduce{Kind: op.ReduceSumSquare, Axes: []int{1}}, b.Node(op.Sub{}, x, mean)))
	}, "", 1},
	"the greatest, without the other rows' sum": {func(b *ir.Builder, x, w, _, _ *ir.Value) *ir.Value {
		// The sum of columns depends on all rows: it is not a part of the kernel, nor is what uses it.
		sums := b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{0}}, b.Node(op.Exp{}, b.Node(op.Mul{}, x, w)))
		most := b.Node(op.Reduce{Kind: op.ReduceMax, Axes: []int{1}, KeepDims: true}, x)
		return b.Node(op.Div{}, b.Node(op.Softmax{Axis: 1}, b.Node(op.Sub{}, x, most)), sums)
	}, "", 3},
	"two softmaxes, of which one needs all rows of the other": {func(b *ir.Builder, x, w, _, _ *ir.Value) *ir.Value {
		sums := b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{0}}, b.Node(op.Softmax{Axis: 1}, b.Node(op.Mul{}, x, w)))
		return b.Node(op.Softmax{Axis: 1}, b.Node(op.Add{}, x, sums))
	}, "", 3},
}

// TestFuseRows compares fusions of rows with the definitions of their operators: for lengths that vectors divide and
// others, and for lengths that are symbols.
func TestFuseRows(t *testing.T) {
	for name, c := range rowCases {
		for _, length := range []int{65, 96, 258, 520} {
			for _, symbolic := range []bool{false, true} {
				t.Run(fmt.Sprint(name, length, symbolic), func(t *testing.T) {
					const rows = 3
					m, n := dim.Const(rows), dim.Const(length)
					if symbolic {
						m, n = dim.Sym("M"), dim.Sym("N")
					}
					f := &ir.Func{Name: pass.Forward}
					args := []*ir.Tensor{small(ir.F32, rows, length), small(ir.F32, length), small(ir.F32, length), ir.NewTensor(ir.I64, rows, 1)}
					for i := range rows {
						args[3].SetInt(i, int64(i*31))
					}
					err := ir.Try(func() {
						b := ir.NewBuilder(f)
						x, w, bias := b.Param("x", ir.TensorOf(ir.F32, m, n)), b.Param("w", ir.TensorOf(ir.F32, n)), b.Param("b", ir.TensorOf(ir.F32, n))
						labels := b.Param("labels", ir.TensorOf(ir.I64, m, dim.Const(1)))
						y := c.build(b, x, w, bias, labels)
						f.Results = []*ir.Value{y}
						if c.wrt == "" {
							return
						}
						g := b.Param("g", y.Type)
						if name == "cross entropy" {
							args = append(args, small(ir.F32, rows, 1))
						} else {
							args = append(args, small(ir.F32, rows, length))
						}
						gradients, err := grad.Append(b, y, g, []*ir.Value{x})
						if err != nil {
							t.Fatal(err)
						}
						f.Results = append(f.Results, gradients...)
					})
					if err != nil {
						t.Fatal(err)
					}
					for i := range f.Results {
						f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
					}
					want := c.launches
					if symbolic && len(c.wrt) == 0 && want > 1 {
						want++ // sums of columns have parts
					}
					launched(t, f, args, want)
				})
			}
		}
	}
}
