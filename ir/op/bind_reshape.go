package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BindReshape binds the extents of the result of [Reshape], applied to a tensor of shape From with
// a list of requested extents. An element 0 copies From's extent unless AllowZero is set. One
// element may be -1 and is then inferred. The list has an element for each symbol.
type BindReshape struct {
	Bound
	From      []dim.Dim
	AllowZero bool
}

// Infer checks that the operand is a list of i64. There are no results.
func (op BindReshape) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, len(op.Symbols))
}

// BindValues returns the extents of the result, with −1 and, unless AllowZero is set, 0 replaced.
// It returns an error if the result would not have the number of elements of From.
func (op BindReshape) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	want := make([]dim.Dim, in[0].Len())
	for i := range want {
		want[i] = dim.Const64(in[0].Int(i))
	}
	dims, err := resolveShape(op.From, want, op.AllowZero)
	if err != nil {
		return nil, err
	}
	shape, ok := dim.Ints(dims)
	if n, err := ir.CheckedLen(shape); err != nil || !ok || !dim.Const(n).Equal(dim.Product(op.From...)) {
		return nil, fmt.Errorf("shape %s for the elements of %s", ShapeText(want), ShapeText(op.From))
	}
	return op.extents(shape)
}
