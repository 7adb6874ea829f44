package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ScatterElements returns its first operand with single elements updated. For Axis 1, result[i, indices[i, j, k],
// k] = updates[i, j, k]. With Reduction "add", "mul", "max" or "min", the element and the update are combined.
// indices is the second operand, and updates the third. They have the same shape. Its extents must not exceed the
// extents of the first operand, except along Axis. Negative indices count from the end. An index out of range is an
// error at run time. Indices are i32 or i64. Updates are applied in row-major order.
type ScatterElements struct {
	Axis      int
	Reduction string
}

// Infer returns the type of the data. It returns an error if indices and updates differ in shape, or if indices do
// not fit the data.
func (op ScatterElements) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := scatterType(in, op.Reduction); err != nil {
		return nil, err
	}
	if err := elementsType(in[0], in[1], op.Axis); err != nil {
		return nil, err
	}
	if in[1].Rank() != in[2].Rank() {
		return nil, fmt.Errorf("updates %s for indices %s", in[2], in[1])
	}
	for i, d := range in[1].Shape {
		if err := Same(d, in[2].Shape[i], fmt.Sprintf("axis %d of indices and updates", i)); err != nil {
			return nil, err
		}
	}
	return in[:1], nil
}

// Eval returns the data with the updates applied. It returns an error if an index is out of range.
func (op ScatterElements) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, indices, updates := in[0], in[1], in[2]
	if _, err := op.Infer([]ir.Type{x.Type(), indices.Type(), updates.Type()}); err != nil {
		return nil, err
	}
	picked, err := wrapIndices(indices, x.Shape[op.Axis])
	if err != nil {
		return nil, err
	}
	y, next := copied(x), -1
	visitMove(x.Shape, indices.Shape, func(at, to []int) {
		next++
		copy(to, at)
		to[op.Axis] = picked[next]
	}, func(i, j int) {
		if err == nil {
			err = scatter(op.Reduction, y, j, updates, i)
		}
	})
	return []*ir.Tensor{y}, err
}

// Grad returns the gradients of the data and the updates. They depend on the Reduction:
//   - "": the gradient of the data is dy, with 0 for the replaced elements. The gradient of an update is the
//     element of dy at its index, or 0 if a later update replaced it.
//   - "add": the gradient of the data is dy. The gradient of an update is the element of dy at its index.
//   - "mul": the gradients are as for "add", multiplied by the other factors.
//   - "max", "min": the gradients are as for "add", but 0 for elements and updates that do not equal the result.
func (op ScatterElements) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	at := n.Arg(1)
	return scatterGrad(b, n, dy[0], want, op.Reduction,
		func(reduction string, data, updates *ir.Value) *ir.Value {
			return b.Node(ScatterElements{op.Axis, reduction}, data, at, updates)
		},
		func(data *ir.Value) *ir.Value { return b.Node(GatherElements{Axis: op.Axis}, data, at) })
}

// Overwrites allows the result to reuse the memory of the data.
func (ScatterElements) Overwrites() []int { return []int{0} }

// Lower computes in a wider type if a Reduction is set and the type is narrow, such as f16. Otherwise it returns
// nil.
func (op ScatterElements) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	return lowerScatter(b, n, op.Reduction)
}

func importScatterElements(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	op := ScatterElements{Axis: axis, Reduction: scatterReduction(c)}
	return []*ir.Value{c.Builder().Node(op, x, c.Arg(1), c.Arg(2))}, nil
}
