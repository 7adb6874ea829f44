package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ScatterElements is its first operand with single elements updated: result[i,
// indices[i, j, k], k] = updates[i, j, k] where Axis is 1, or the sum, product,
// maximum or minimum of both where Reduction is "add", "mul", "max" or "min".
// Indices, the second operand, and updates, the third, have one shape, at most
// the data's along the other axes. Negative indices count from the end; one
// outside the axis is an error at run time. Indices are i32 or i64. Updates are
// applied in row-major order.
type ScatterElements struct {
	Axis      int
	Reduction string
}

// Infer gives the result the data's type.
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
		if err := same(d, in[2].Shape[i], fmt.Sprintf("axis %d of indices and updates", i)); err != nil {
			return nil, err
		}
	}
	return in[:1], nil
}

// Eval applies the updates.
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

// Grad of the data is the result's where they stay, and of the updates where they come
// to stand: that of scatter.
func (op ScatterElements) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	at := n.Arg(1)
	return scatterGrad(b, n, of[0], want, op.Reduction,
		func(reduction string, data, updates *ir.Value) *ir.Value {
			return b.Node(ScatterElements{op.Axis, reduction}, data, at, updates)
		},
		func(data *ir.Value) *ir.Value { return b.Node(GatherElements{Axis: op.Axis}, data, at) })
}

// Overwrites marks that the data may be updated in place.
func (ScatterElements) Overwrites() []int { return []int{0} }

// Lower reduces narrow types in wider ones.
func (op ScatterElements) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	return lowerScatter(b, n, op.Reduction)
}

// Call is cpu.ScatterElements, or cpu.ScatterElementsAdd and so on.
func (op ScatterElements) Call(n *ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "ScatterElements" + scatterReductions[op.Reduction].suffix, Args: []any{
		ir.Out(0), ir.In(0), ir.In(1), ir.In(2), n.Args[1].Type.Shape, n.Args[0].Type.Shape, op.Axis,
	}}, nil
}

// importScatterElements reads ScatterElements and Scatter, its name in opset 9.
func importScatterElements(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	op := ScatterElements{Axis: axis, Reduction: scatterReduction(c)}
	return []*ir.Value{c.Builder().Node(op, x, c.Arg(1), c.Arg(2))}, nil
}
