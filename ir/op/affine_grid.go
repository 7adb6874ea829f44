package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importAffineGrid reads AffineGrid: matrices [N,D,D+1], for D spatial axes of the
// extents that size has after N and C, move the places of a grid. The result,
// [N,out…,D], is Σ_j m[:,j]·x_j + m[:,D], where x_j is the coordinate along the j-th
// axis from the last: from −1 to 1, the centres of the first and the last element
// with align_corners, else their outer edges. An axis of one element lies at −1 and
// at 0.
func importAffineGrid(c ir.Importer) ([]*ir.Value, error) {
	b, m := c.Builder(), c.Arg(0)
	size, err := boundDims(c, 1, "size")
	if err != nil {
		return nil, err
	}
	d, align := len(size)-2, c.Int("align_corners", 0) != 0
	if err := tensors([]ir.Type{m.Type}, 1, 1); err != nil {
		return nil, err
	}
	if !m.Type.DType.IsFloat() || d < 1 || m.Type.Rank() != 3 || !m.Type.Shape[1].Equal(ir.Const(d)) || !m.Type.Shape[2].Equal(ir.Const(d+1)) {
		return nil, fmt.Errorf("matrices %s for a size of %d elements", m.Type, len(size))
	}
	if n := m.Type.Shape[0]; !n.Equal(size[0]) {
		b.Nodes(ir.CheckDim{A: n, B: size[0], What: "matrices and batch"})
	}
	narrow := m.Type.DType
	m = convert(b, m, wide(narrow))
	var grid *ir.Value
	for j := range d + 1 {
		shape := append([]ir.Dim{m.Type.Shape[0]}, ir.Dims(orOnes(nil, d)...)...)
		term := reshape(b, sliceAxis(b, m, 2, ir.Const(j), ir.Const(1)), append(shape, ir.Const(d))...)
		if j < d {
			axis := d - 1 - j
			shape := ir.Dims(orOnes(nil, d+1)...)
			shape[axis] = size[2+axis]
			x := gridCoordinates(b, size[2+axis], m.Type.DType, align)
			term = b.Node(Mul{}, term, reshape(b, x, shape...))
		}
		if grid == nil {
			grid = term
		} else {
			grid = b.Node(Add{}, grid, term)
		}
	}
	return []*ir.Value{convert(b, grid, narrow)}, nil
}

// gridCoordinates appends the coordinates of n elements between −1 and 1.
func gridCoordinates(b *ir.Builder, n ir.Dim, d ir.DType, align bool) *ir.Value {
	first, steps := ir.Const(1).Sub(n), n // in halves of a step
	if align {
		steps = n.Sub(ir.Const(1)).Max(ir.Const(1))
		first = steps.Neg()
	}
	twice := b.Node(Range{Count: n}, reshape(b, b.Dims(first)), b.Scalar(ir.I64, 2))
	return b.Node(Div{}, convert(b, twice, d), convert(b, reshape(b, b.Dims(steps)), d))
}
