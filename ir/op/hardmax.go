package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Hardmax is 1 at the first greatest element along Axis and 0 elsewhere, of
// floats. A line with a NaN has no greatest element.
type Hardmax struct{ Axis int }

// Infer gives the operand's type.
func (op Hardmax) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, floats{}) }

// Eval marks the first greatest element.
func (op Hardmax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	greatest := reductions[ReduceMax].float
	return mapLines(in[0], op.Axis, func(line []float64) {
		first := slices.Index(line, greatest(line))
		clear(line)
		if first >= 0 {
			line[first] = 1
		}
	}), nil
}

// Lower marks the elements that equal the maximum where as many as 1 of them
// have been met.
func (op Hardmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{op.Axis}, KeepDims: true}, x)
	isTop := b.Node(Equal{}, x, top)
	met := b.Node(CumSum{Axis: op.Axis}, convert(b, isTop, ir.I32))
	isFirst := b.Node(Equal{}, met, b.Scalar(ir.I32, 1))
	return []*ir.Value{convert(b, b.Node(And{}, isTop, isFirst), x.Type.DType)}
}
