package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importAffineGrid imports AffineGrid (from opset 20). Its matrices m, [N,D,D+1], transform a grid over D spatial
// axes. The operand `size` is [N,C,out…], where out… are the extents of the grid. Element (n, o…) of the result,
// [N,out…,D], is the vector m[n]·(x_0, x_1, …, 1). x_0 is the coordinate of o… along the last axis, x_1 is the
// coordinate along the axis before it, and so on. With align_corners, the centres of the first and the last element
// have the coordinates −1 and 1. Otherwise their outer edges have these coordinates. An axis with one element has the
// coordinate −1 with align_corners, and 0 otherwise.
func importAffineGrid(c ir.Importer) ([]*ir.Value, error) {
	b, m := c.Builder(), c.Arg(0)
	size, err := boundDims(c, 1, "size")
	if err != nil {
		return nil, err
	}
	d, align := len(size)-2, c.Int("align_corners", 0) != 0
	if err := CheckTensors([]ir.Type{m.Type}, 1, 1); err != nil {
		return nil, err
	}
	if !m.Type.DType.IsFloat() || d < 1 || m.Type.Rank() != 3 || !m.Type.Shape[1].Equal(dim.Const(d)) || !m.Type.Shape[2].Equal(dim.Const(d+1)) {
		return nil, fmt.Errorf("matrices %s for a size of %d elements", m.Type, len(size))
	}
	if n := m.Type.Shape[0]; !n.Equal(size[0]) {
		b.Nodes(ir.CheckDim{A: n, B: size[0], What: "matrices and batch"})
	}
	narrow := m.Type.DType
	m = ConvertTo(b, m, wide(narrow))
	var grid *ir.Value
	for j := range d + 1 {
		shape := append([]dim.Dim{m.Type.Shape[0]}, dim.Consts(orOnes(nil, d)...)...)
		term := ReshapeTo(b, sliceAxis(b, m, 2, dim.Const(j), dim.Const(1)), append(shape, dim.Const(d))...)
		if j < d {
			axis := d - 1 - j
			shape := dim.Consts(orOnes(nil, d+1)...)
			shape[axis] = size[2+axis]
			x := gridCoordinates(b, size[2+axis], m.Type.DType, align)
			term = b.Node(Mul{}, term, ReshapeTo(b, x, shape...))
		}
		if grid == nil {
			grid = term
		} else {
			grid = b.Node(Add{}, grid, term)
		}
	}
	return []*ir.Value{ConvertTo(b, grid, narrow)}, nil
}

// gridCoordinates appends n numbers in [−1, 1] at equal distances, as a vector of type d. If align is true, the
// first is −1 and, if n > 1, the last is 1. Otherwise number i is the centre of part i when [−1, 1] is cut into n
// equal parts.
func gridCoordinates(b *ir.Builder, n dim.Dim, d ir.DType, align bool) *ir.Value {
	first, steps := dim.Const(1).Sub(n), n // in units of half a step
	if align {
		steps = n.Sub(dim.Const(1)).Max(dim.Const(1))
		first = steps.Neg()
	}
	twice := b.Node(Range{Count: n}, ReshapeTo(b, b.Dims(first)), b.Scalar(ir.I64, 2))
	return b.Node(Div{}, ConvertTo(b, twice, d), ConvertTo(b, ReshapeTo(b, b.Dims(steps)), d))
}
