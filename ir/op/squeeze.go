package op

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

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
	var shape []dim.Dim
	whole := slices.Clone(x.Type.Shape)
	for i, d := range x.Type.Shape {
		if !slices.Contains(axes, i) {
			shape = append(shape, d)
			continue
		}
		if n, ok := d.Int(); ok && n != 1 {
			return nil, fmt.Errorf("axis %d has extent %d, not 1", i, n)
		}
		whole[i] = dim.Const(1)
	}
	return []*ir.Value{ReshapeTo(b, b.Assume(x, whole...), shape...)}, nil
}

func onesOf(shape []dim.Dim) (axes []int) {
	for i, d := range shape {
		if d.Equal(dim.Const(1)) {
			axes = append(axes, i)
		}
	}
	return axes
}

func mayBeOne(d dim.Dim) bool {
	lo, hi := d.Bounds()
	return !d.IsConst() && lo <= 1 && hi >= 1
}

// squeezesOpen returns an explanation for users: the rank of the result depends on the extent d. If d is a symbol
// of an input, it adds that the model can be compiled for the other rank.
func squeezesOpen(b *ir.Builder, d dim.Dim) string {
	text := fmt.Sprintf("without axes it drops an axis of extent %s where that is 1", d)
	if s := d.String(); slices.Contains(ir.SymbolsOf(b.Func().Params), s) {
		text += fmt.Sprintf("; -dim %s=1 compiles the model for 1", s)
	}
	return text
}

// keepOpen appends checks that symbolic extents are not 1. It is for axes that are kept because ranks are fixed,
// although ONNX would remove them if their extent was 1.
func keepOpen(b *ir.Builder, shape []dim.Dim) {
	for _, d := range shape {
		if mayBeOne(d) {
			one := b.Node(Equal{}, b.Dims(d), b.Dims(dim.Const(1)))
			b.Nodes(Require{Value: false, What: squeezesOpen(b, d)}, ReshapeTo(b, one))
		}
	}
}

// rankLess returns rank minus the length of operand i, a list of axes. If this length is not constant, it returns
// the rank that the model declares for the result.
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

// squeezeNamed appends x without the axes in the list axes, which is known only at run time. These axes must have
// extent 1. rank is the rank of the result.
func squeezeNamed(b *ir.Builder, x, axes *ir.Value, rank int) *ir.Value {
	bind := BindSqueeze{newBound(b, "squeezed", rank), x.Type.Shape}
	b.Nodes(bind, intList(b, axes))
	return b.Node(Reshape{Shape: bind.dims()}, x)
}

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
	shape, rest := make([]dim.Dim, rank), x.Type.Shape
	for i := range shape {
		if slices.Contains(axes, i) {
			shape[i] = dim.Const(1)
			continue
		}
		shape[i], rest = rest[0], rest[1:]
	}
	return []*ir.Value{ReshapeTo(b, x, shape...)}, nil
}

func importFlatten(c ir.Importer) ([]*ir.Value, error) {
	x, axis := c.Arg(0), c.Int("axis", 1)
	shape, rank := x.Type.Shape, x.Type.Rank()
	if axis < -rank || axis > rank {
		return nil, fmt.Errorf("axis %d out of range for rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return []*ir.Value{ReshapeTo(c.Builder(), x, dim.Product(shape[:axis]...), dim.Product(shape[axis:]...))}, nil
}
