package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importFeatureVectorizer imports FeatureVectorizer: the concatenation of its operands, in f32. If the attribute
// inputdimensions is present, it gives a number of features for each operand. A longer operand is cut to this
// number, and a shorter one is padded with zeros.
func importFeatureVectorizer(c ir.Importer) ([]*ir.Value, error) {
	b, sizes := c.Builder(), c.Ints("inputdimensions", nil)
	if len(sizes) > 0 && len(sizes) != c.NumArgs() {
		return nil, fmt.Errorf("%d inputdimensions for %d operands", len(sizes), c.NumArgs())
	}
	parts := make([]*ir.Value, c.NumArgs())
	for i := range parts {
		x, err := matrixOf(b, c.Arg(i))
		if err != nil {
			return nil, err
		}
		x = ConvertTo(b, x, ir.F32)
		if len(sizes) > 0 {
			if x, err = resizeRows(b, x, sizes[i]); err != nil {
				return nil, err
			}
		}
		parts[i] = x
	}
	return []*ir.Value{b.Node(Concat{Axis: 1}, parts...)}, nil
}

// resizeRows returns the matrix x with rows of `size` elements. It cuts longer rows, and pads shorter rows with
// zeros. If the length of a row is symbolic, it must equal size at run time.
func resizeRows(b *ir.Builder, x *ir.Value, size int) (*ir.Value, error) {
	if size < 0 {
		return nil, fmt.Errorf("%d features", size)
	}
	have, ok := x.Type.Shape[1].Int()
	switch {
	case !ok:
		values := []*ir.Value{x}
		agree(b, x.Type.Shape[1], dim.Const(size), "features", values)
		return values[0], nil
	case have > size:
		s := wholeSlice(x.Type)
		s.Shape[1] = dim.Const(size)
		return ApplySlice(b, x, s), nil
	case have < size:
		zeros := b.Node(Fill{Value: ir.Scalar(ir.F32, 0), Shape: []dim.Dim{x.Type.Shape[0], dim.Const(size - have)}})
		return b.Node(Concat{Axis: 1}, x, zeros), nil
	}
	return x, nil
}
