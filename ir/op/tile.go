package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Tile repeats its whole operand: Repeats[i] times along axis i.
type Tile struct{ Repeats []dim.Dim }

// Infer returns the operand's type with extents multiplied by Repeats.
func (op Tile) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if len(op.Repeats) != x.Rank() {
		return nil, fmt.Errorf("%d repeats for rank %d", len(op.Repeats), x.Rank())
	}
	shape := make([]dim.Dim, x.Rank())
	for i, d := range x.Shape {
		if n, ok := op.Repeats[i].Int(); ok && n < 0 {
			return nil, fmt.Errorf("axis %d is repeated %d times", i, n)
		}
		shape[i] = d.Mul(op.Repeats[i])
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

func (op Tile) source(in []int) source {
	return func(at, from []int) {
		for i := range at {
			from[i] = at[i] % in[i]
		}
	}
}

// Eval returns the operand, repeated along each axis.
func (op Tile) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.Infer([]ir.Type{in[0].Type()})
	if err != nil {
		return nil, err
	}
	shape, ok := out[0].Static()
	if _, err := ir.CheckedLen(shape); err != nil || !ok {
		return nil, fmt.Errorf("repeats %s: no shape", ShapeText(op.Repeats))
	}
	return move(in[0], shape, op.source(in[0].Shape))
}

// InferElems returns the known elements, repeated.
func (op Tile) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	from, ok := in[0].Type.Static()
	if !ok {
		return nil
	}
	return moveElems(in[0], out, op.source(from))
}

// Lower inserts an axis before each repeated axis, expands it by an [Expand], and merges the two axes by a
// [Reshape].
func (op Tile) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, one := n.Args[0], dim.Const(1)
	var from, to []dim.Dim
	for i, d := range x.Type.Shape {
		if r := op.Repeats[i]; !r.Equal(one) {
			from, to = append(from, one), append(to, r)
		}
		from, to = append(from, d), append(to, d)
	}
	return []*ir.Value{ReshapeTo(b, ExpandTo(b, ReshapeTo(b, x, from...), to...), n.Results[0].Type.Shape...)}
}

// Grad returns dy summed over the repetitions, in the operand's shape.
func (op Tile) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	var shape []dim.Dim
	var axes []int
	for i, d := range n.Arg(0).Type.Shape {
		shape, axes = append(shape, op.Repeats[i], d), append(axes, 2*i)
	}
	return []*ir.Value{calculus{b}.sum(ReshapeTo(b, dy[0], shape...), false, axes...)}
}

func importTile(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	if c.Opset() < 6 {
		return tileAxis(c)
	}
	repeats, err := boundDims(c, 1, "repeats")
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(Tile{Repeats: repeats}, x)}, nil
}

// tileAxis imports the Tile of opsets before 6. Operand 1 is the number of repetitions, and operand 2 the axis.
func tileAxis(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	tiles, err := boundDim(c, 1, "tiles")
	if err != nil {
		return nil, err
	}
	repeats := dim.Consts(wholeSlice(x.Type).Steps...)
	if axis := c.Arg(2); axis != nil && !isKnown(axis) {
		marked := markedAxes(b, ConvertTo(b, axis, ir.I64), slices.Repeat([]dim.Dim{tiles}, len(repeats)), false)
		for i := range repeats {
			repeats[i] = marked[2*i+1]
		}
		return []*ir.Value{b.Node(Tile{Repeats: repeats}, x)}, nil
	}
	axis, err := knownInt(c, 2, "axis")
	if err == nil {
		axis, err = fromFront(axis, x.Type.Rank())
	}
	if err != nil {
		return nil, err
	}
	repeats[axis] = tiles
	return []*ir.Value{b.Node(Tile{Repeats: repeats}, x)}, nil
}
