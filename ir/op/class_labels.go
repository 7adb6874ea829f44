package op

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// classLabels returns the labels of a classifier. They are the strings of the attribute classlabels_strings, or the
// integers of the attribute with the name `ints`. It returns an error unless exactly one of the two attributes has
// elements.
func classLabels(c ir.Importer, ints string) (*ir.Tensor, error) {
	texts, numbers := c.Texts("classlabels_strings", nil), c.Ints(ints, nil)
	switch {
	case len(texts) > 0 && len(numbers) > 0:
		return nil, fmt.Errorf("classlabels_strings and %s", ints)
	case len(texts) > 0:
		return textTensor(texts), nil
	case len(numbers) > 0:
		return intTensor(numbers), nil
	}
	return nil, fmt.Errorf("no classlabels_strings and no %s", ints)
}

func labelsOf(b *ir.Builder, labels *ir.Tensor, classes *ir.Value) *ir.Value {
	return b.Node(Gather{Axis: 0}, b.Const(labels), classes)
}

// matrixOf returns x as a matrix. A vector becomes a matrix of one row. It returns an error if x is nil, is not a
// tensor, or has another rank.
func matrixOf(b *ir.Builder, x *ir.Value) (*ir.Value, error) {
	switch {
	case x == nil || !x.Type.IsTensor():
		return nil, errors.New("no tensor of rows")
	case x.Type.Rank() == 1:
		return ReshapeTo(b, x, dim.Const(1), x.Type.Shape[0]), nil
	case x.Type.Rank() != 2:
		return nil, fmt.Errorf("rows are %s, a matrix expected", x.Type)
	}
	return x, nil
}

// rowsOf returns x as a matrix of f32 or f64, as [matrixOf] does. It converts types other than f64 to f32, and
// returns an error for strings and bools.
func rowsOf(b *ir.Builder, x *ir.Value) (*ir.Value, error) {
	x, err := matrixOf(b, x)
	switch {
	case err != nil:
		return nil, err
	case x.Type.DType == ir.String || x.Type.DType == ir.Bool:
		return nil, fmt.Errorf("rows are %s, numbers expected", x.Type.DType)
	case x.Type.DType == ir.F64:
		return x, nil
	}
	return ConvertTo(b, x, ir.F32), nil
}
