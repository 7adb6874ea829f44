package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Hardmax returns 1 at the first maximum along Axis and 0 elsewhere, for floats. A line with a NaN gives only
// zeros.
type Hardmax struct{ Axis int }

// Infer returns the operand's type. It returns an error if the operand does not have Axis.
func (op Hardmax) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, floats{}) }

// Eval returns 1 at the first maximum of each line along Axis, and 0 elsewhere. A line with a NaN gives only zeros.
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

// Lower replaces the node. The new nodes give 1 to an element that equals the maximum, unless an element before it
// equals the maximum too.
func (op Hardmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{op.Axis}, KeepDims: true}, x)
	isTop := b.Node(Equal{}, x, top)
	met := b.Node(CumSum{Axis: op.Axis}, ConvertTo(b, isTop, ir.I32))
	isFirst := b.Node(Equal{}, met, b.Scalar(ir.I32, 1))
	return []*ir.Value{ConvertTo(b, b.Node(And{}, isTop, isFirst), x.Type.DType)}
}
