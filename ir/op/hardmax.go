package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Hardmax returns 1 at the first maximum along Axis and 0 elsewhere, for floats. If a line has a
// NaN, it has no maximum.
type Hardmax struct{ Axis int }

// Infer returns the operand's type.
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

// Lower marks elements that equal the maximum and before which no equal element was found.
func (op Hardmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{op.Axis}, KeepDims: true}, x)
	isTop := b.Node(Equal{}, x, top)
	met := b.Node(CumSum{Axis: op.Axis}, ConvertTo(b, isTop, ir.I32))
	isFirst := b.Node(Equal{}, met, b.Scalar(ir.I32, 1))
	return []*ir.Value{ConvertTo(b, b.Node(And{}, isTop, isFirst), x.Type.DType)}
}
