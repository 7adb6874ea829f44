package emit

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

type form uint8

const (
	static  form = iota // pointers to arrays
	batched             // slices of arrays, one per item of the batch
	dynamic             // rt.Tensor
	scalar              // a number, among arguments and results of other forms
)

// formOf returns the form of a function with these parameters and results. It also returns the
// symbol of the batch, which is "" unless the form is batched. The form is static if all extents are
// constants. It is batched if the first extent of every tensor is the same symbol and the other
// extents are constants. If mixed is set, some tensors of a batched function may be static.
// Otherwise the form is dynamic. It is always dynamic if there are strings or containers, or neither
// parameters nor results.
func formOf(params, results []*ir.Value, mixed bool) (form, string) {
	values := slices.Concat(params, results)
	symbols := (&ir.Func{Block: ir.Block{Params: params}}).Symbols()
	isStatic := true
	for _, v := range values {
		isStatic = isStatic && isArray(v.Type)
	}
	if isStatic && len(values) > 0 {
		return static, ""
	}
	if len(symbols) != 1 {
		return dynamic, ""
	}
	for _, v := range values {
		if !isBatch(v.Type, symbols[0]) && !(mixed && isArray(v.Type)) {
			return dynamic, ""
		}
	}
	return batched, symbols[0]
}

// isArray reports whether values of type t can be stored in a Go array: tensors of numbers or
// booleans with constant extents.
func isArray(t ir.Type) bool { return t.IsStatic() && !plan.IsHeld(t) }

// isBatch reports whether a tensor of type t can be passed as a slice of Go arrays, one for each
// item of the batch. symbol is the symbol of the batch.
func isBatch(t ir.Type, symbol string) bool {
	return !plan.IsHeld(t) && t.Rank() > 0 && t.Shape[0].Equal(dim.Sym(symbol)) && ir.TensorOf(t.DType, t.Shape[1:]...).IsStatic()
}

// portForm returns the form of an argument or result of type t. Without [Function.Direct] the result is the form of
// the function. With [Function.Direct], a scalar is passed as a number, and a static tensor of a batched function as
// an array.
func (a *api) portForm(t ir.Type) form {
	switch {
	case !a.spec.Direct:
		return a.form
	case t.IsTensor() && t.Rank() == 0 && !plan.IsHeld(t):
		return scalar
	case a.form == batched && isArray(t):
		return static
	}
	return a.form
}
