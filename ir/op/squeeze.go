package op

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// importSqueeze reads Squeeze, which drops axes of extent 1, all of them where
// none are named: a Reshape. The axes are an attribute before opset 13.
func importSqueeze(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	rank := x.Type.Rank()
	if c.Opset() >= 13 && !isKnown(c.Arg(1)) {
		left, err := rankLess(c, rank, 1)
		if err != nil {
			return nil, err
		}
		return []*ir.Value{squeezeNamed(b, x, c.Arg(1), left)}, nil
	}
	axes, err := attrOrInts(c, 13, "axes", 1)
	if err != nil {
		return nil, err
	}
	if axes == nil {
		axes = onesOf(x.Type.Shape)
		if t, ok := c.ResultType(0); ok && t.IsTensor() && t.Rank() < rank-len(axes) {
			for _, d := range x.Type.Shape {
				if mayBeOne(d) {
					return nil, errors.New(squeezesOpen(b, d))
				}
			}
		}
		keepOpen(b, x.Type.Shape)
	}
	if axes, err = axesFromFront(axes, rank); err != nil {
		return nil, err
	}
	var shape []ir.Dim
	whole := slices.Clone(x.Type.Shape)
	for i, d := range x.Type.Shape {
		if !slices.Contains(axes, i) {
			shape = append(shape, d)
			continue
		}
		if n, ok := d.Int(); ok && n != 1 {
			return nil, fmt.Errorf("axis %d has extent %d, not 1", i, n)
		}
		whole[i] = ir.Const(1)
	}
	return []*ir.Value{reshape(b, b.Assume(x, whole...), shape...)}, nil
}

// onesOf returns the axes of extent 1.
func onesOf(shape []ir.Dim) (axes []int) {
	for i, d := range shape {
		if d.Equal(ir.Const(1)) {
			axes = append(axes, i)
		}
	}
	return axes
}

// mayBeOne reports whether it depends on the arguments that an extent is 1.
func mayBeOne(d ir.Dim) bool {
	lo, hi := d.Bounds()
	return !d.IsConst() && lo <= 1 && hi >= 1
}

// squeezesOpen says that the rank of the result depends on an extent, and how to compile the
// model for the other rank if that is the symbol of an input.
func squeezesOpen(b *ir.Builder, d ir.Dim) string {
	text := fmt.Sprintf("without axes it drops an axis of extent %s where that is 1", d)
	if s := d.String(); slices.Contains(ir.SymbolsOf(b.Func().Params), s) {
		text += fmt.Sprintf("; -dim %s=1 compiles the model for 1", s)
	}
	return text
}

// keepOpen appends checks that no extent is 1 that is known only when the model runs: ranks
// are fixed, and the axis is kept.
func keepOpen(b *ir.Builder, shape []ir.Dim) {
	for _, d := range shape {
		if mayBeOne(d) {
			one := b.Node(Equal{}, b.Dims(d), b.Dims(ir.Const(1)))
			b.Nodes(Require{Value: false, What: squeezesOpen(b, d)}, reshape(b, one))
		}
	}
}

// rankLess returns a rank without the axes that operand i names: as many as it has
// elements, or as the model's type of the result says.
func rankLess(c ir.Importer, rank, i int) (int, error) {
	n, err := listLen(c, i, "axes")
	if err == nil && n <= rank {
		return rank - n, nil
	}
	if err == nil {
		return 0, fmt.Errorf("%d axes of rank %d", n, rank)
	}
	if t, ok := c.ResultType(0); ok && t.Rank() <= rank {
		return t.Rank(), nil
	}
	return 0, err
}

// squeezeNamed drops the axes of extent 1 that a list names when the model runs,
// which leaves a rank.
func squeezeNamed(b *ir.Builder, x, axes *ir.Value, left int) *ir.Value {
	bind := BindSqueeze{newBound(b, "squeezed", left), x.Type.Shape}
	b.Nodes(bind, intList(b, axes))
	return b.Node(Reshape{Shape: bind.dims()}, x)
}

// importUnsqueeze reads Unsqueeze, which puts axes of extent 1 where the result
// is to have them: a Reshape. The axes are an attribute before opset 13.
func importUnsqueeze(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if c.Opset() >= 13 && !isKnown(c.Arg(1)) {
		n, err := listLen(c, 1, "axes")
		if t, ok := c.ResultType(0); err != nil && ok && t.Rank() >= x.Type.Rank() {
			n, err = t.Rank()-x.Type.Rank(), nil
		}
		if err != nil {
			return nil, err
		}
		bind := BindUnsqueeze{newBound(b, "unsqueezed", x.Type.Rank()+n), x.Type.Shape}
		b.Nodes(bind, intList(b, c.Arg(1)))
		return []*ir.Value{b.Node(Reshape{Shape: bind.dims()}, x)}, nil
	}
	axes, err := attrOrInts(c, 13, "axes", 1)
	if err != nil {
		return nil, err
	}
	rank := x.Type.Rank() + len(axes)
	if axes, err = axesFromFront(axes, rank); err != nil {
		return nil, err
	}
	shape, rest := make([]ir.Dim, rank), x.Type.Shape
	for i := range shape {
		if slices.Contains(axes, i) {
			shape[i] = ir.Const(1)
			continue
		}
		shape[i], rest = rest[0], rest[1:]
	}
	return []*ir.Value{reshape(b, x, shape...)}, nil
}

// importFlatten reads Flatten, which joins the axes before one, and those from
// it on: a Reshape. The axis may be negative from opset 11.
func importFlatten(c ir.Importer) ([]*ir.Value, error) {
	x, axis := c.Arg(0), c.Int("axis", 1)
	shape, rank := x.Type.Shape, x.Type.Rank()
	if axis < -rank || axis > rank {
		return nil, fmt.Errorf("axis %d out of range for rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return []*ir.Value{reshape(c.Builder(), x, ir.Product(shape[:axis]...), ir.Product(shape[axis:]...))}, nil
}
