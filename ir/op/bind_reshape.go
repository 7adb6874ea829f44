package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BindReshape binds the extents of the result of a [Reshape] of a tensor of shape From. Its operand is the list of
// requested extents, with one element for each symbol. A requested 0 copies the extent of From unless AllowZero is
// set. One element may be -1, and its extent is inferred.
type BindReshape struct {
	Bound
	From      []dim.Dim
	AllowZero bool
}

// Infer returns an error unless the operand is a list of i64. There are no results.
func (op BindReshape) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, len(op.Symbols))
}

// BindValues returns the extents of the result. They are the requested extents, after −1 and 0 have been replaced as
// [BindReshape] says. BindValues returns an error if the result and From would have different numbers of elements.
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
