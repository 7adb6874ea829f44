package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importMaxUnpool reads MaxUnpool, which puts elements back where MaxPool found
// them, between zeros. What it numbers is the shape that the pool's window
// reaches; output_shape adds zeros after the last cells of that, or drops some.
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
	shape := append([]ir.Dim{}, x.Type.Shape...)
	for i, d := range shape[2:] {
		before, after := w.pad(i, d)
		shape[2+i] = d.Sub(ir.Const(1)).Mul(ir.Const(w.stride(i))).Add(w.span(i)).Sub(before).Sub(after)
	}
	zeros := fill(b, ir.NewTensor(x.Type.DType), ir.Product(shape...))
	places = checked(b, reshape(b, places, x.Type.Elems()), ir.Product(shape...), "index", "elements")
	flat := b.Node(ScatterElements{}, zeros, places, reshape(b, x, x.Type.Elems()))
	y := reshape(b, flat, shape...)
	if c.Arg(2) == nil {
		return []*ir.Value{y}, nil
	}
	want, err := boundDims(c, 2, "output_shape")
	if err != nil {
		return nil, err
	}
	if len(want) != len(shape) {
		return nil, fmt.Errorf("output_shape %s for rank %d", shapeText(want), len(shape))
	}
	kept := wholeSlice(y.Type)
	more := Pad{Mode: "constant", Before: make([]ir.Dim, len(shape)), After: make([]ir.Dim, len(shape))}
	for i, d := range shape {
		kept.Shape[i] = d.Min(want[i])
		more.After[i] = want[i].Sub(kept.Shape[i])
	}
	return []*ir.Value{b.Node(more, applySlice(b, y, kept))}, nil
}
