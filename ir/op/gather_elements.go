package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// GatherElements picks single elements. For Axis 1, result[i, j, k] = data[i, indices[i, j, k], k]. The result has
// the shape of the indices. An extent of the indices must not exceed the extent of data, except along Axis.
// Negative indices count from the end. An index out of range is an error at run time. Indices are i32 or i64.
type GatherElements struct{ Axis int }

// Infer returns data's element type in the shape of the indices.
func (op GatherElements) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, indices := in[0], in[1]
	if err := indexType(indices); err != nil {
		return nil, err
	}
	return []ir.Type{indices.With(x.DType)}, elementsType(x, indices, op.Axis)
}

// elementsType returns an error if x does not have the axis, or if the ranks of x and indices differ. It also
// returns an error if a constant extent of indices is larger than the extent of x along an axis other than `axis`.
func elementsType(x, indices ir.Type, axis int) error {
	if x.Rank() != indices.Rank() {
		return fmt.Errorf("indices of rank %d for rank %d", indices.Rank(), x.Rank())
	}
	if axis < 0 || axis >= x.Rank() {
		return fmt.Errorf("axis %d out of range for rank %d", axis, x.Rank())
	}
	for i, d := range indices.Shape {
		n, ok := d.Int()
		m, okM := x.Shape[i].Int()
		if i != axis && ok && okM && n > m {
			return fmt.Errorf("axis %d: %d indices for an extent of %d", i, n, m)
		}
	}
	return nil
}

// Eval returns the picked elements in the shape of the indices. It returns an error if an index is
// out of range.
func (op GatherElements) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, indices := in[0], in[1]
	if err := elementsType(x.Type(), indices.Type(), op.Axis); err != nil {
		return nil, err
	}
	picked, err := wrapIndices(indices, x.Shape[op.Axis])
	if err != nil {
		return nil, err
	}
	i := -1
	return move(x, indices.Shape, func(at, from []int) {
		i++
		copy(from, at)
		from[op.Axis] = picked[i]
	})
}

// Grad returns the gradient of data. It adds each element of dy to the element of the gradient that its index
// selects.
func (op GatherElements) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(ScatterElements{op.Axis, "add"}, Full(b, n.Arg(0).Type, 0), n.Arg(1), dy[0]), nil}
}

func importGatherElements(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(GatherElements{Axis: axis}, x, c.Arg(1))}, nil
}
