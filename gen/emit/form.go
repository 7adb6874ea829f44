package emit

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// form tells how callers pass tensors: which row of the API table a model has.
type form uint8

const (
	static  form = iota // pointers to arrays
	batched             // slices of arrays, one for each item of the batch
	dynamic             // rt.Tensor
	scalar              // a number, among arguments and results of other forms
)

// formOf returns the form of a function of these parameters and results, and the symbol of the batch: static when all
// extents are, batched when the first extent of everything is one symbol and the rest
// is static. Where mixed is allowed, it is batched when that holds of an argument, and
// all else is like it or static.
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

// isArray reports whether a Go array holds a tensor.
func isArray(t ir.Type) bool { return t.IsStatic() && !plan.IsHeld(t) }

// isBatch reports whether a slice of Go arrays holds a tensor, one for each item.
func isBatch(t ir.Type, symbol string) bool {
	return !plan.IsHeld(t) && t.Rank() > 0 && t.Shape[0].Equal(ir.Sym(symbol)) && ir.TensorOf(t.DType, t.Shape[1:]...).IsStatic()
}

// portForm returns the form of one argument or result of a function.
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
