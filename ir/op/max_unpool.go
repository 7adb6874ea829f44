package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importMaxUnpool imports MaxUnpool, which puts elements back where MaxPool found them, and zeros elsewhere. The
// indices refer to the smallest tensor from which MaxPool computes a result of x's shape. If the operand
// output_shape is another shape, the result is padded with zeros or cropped at the end.
func importMaxUnpool(c ir.Importer) ([]*ir.Value, error) {
	b, x, places := c.Builder(), c.Arg(0), c.Arg(1)
	w, err := importWindow(c, x.Type, nil, false)
	if err != nil {
		return nil, err
	}
	if places.Type.DType != ir.I64 || places.Type.Rank() != x.Type.Rank() {
		return nil, fmt.Errorf("indices %s for %s", places.Type, x.Type)
	}
	both := []*ir.Value{x, places}
	for i := range x.Type.Shape {
		agree(b, both[0].Type.Shape[i], both[1].Type.Shape[i], fmt.Sprintf("axis %d of elements and indices", i), both)
	}
	x, places = both[0], both[1]
	shape := append([]dim.Dim{}, x.Type.Shape...)
	for i, d := range shape[2:] {
		before, after := w.pad(i, d)
		shape[2+i] = d.Sub(dim.Const(1)).Mul(dim.Const(w.Stride(i))).Add(w.span(i)).Sub(before).Sub(after)
	}
	zeros := fill(b, ir.NewTensor(x.Type.DType), dim.Product(shape...))
	places = checked(b, ReshapeTo(b, places, x.Type.Elems()), dim.Product(shape...), "index", "elements")
	flat := b.Node(ScatterElements{}, zeros, places, ReshapeTo(b, x, x.Type.Elems()))
	y := ReshapeTo(b, flat, shape...)
	if c.Arg(2) == nil {
		return []*ir.Value{y}, nil
	}
	want, err := boundDims(c, 2, "output_shape")
	if err != nil {
		return nil, err
	}
	if len(want) != len(shape) {
		return nil, fmt.Errorf("output_shape %s for rank %d", ShapeText(want), len(shape))
	}
	kept := wholeSlice(y.Type)
	more := Pad{Mode: "constant", Before: make([]dim.Dim, len(shape)), After: make([]dim.Dim, len(shape))}
	for i, d := range shape {
		kept.Shape[i] = d.Min(want[i])
		more.After[i] = want[i].Sub(kept.Shape[i])
	}
	return []*ir.Value{b.Node(more, ApplySlice(b, y, kept))}, nil
}
