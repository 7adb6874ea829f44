package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Map returns the [Launch] of a kernel that calls `element` for each element of a tensor of this
// shape. Each thread computes one element or, if the tensor is very large, several. The threads do
// not communicate. The function gets two indices of its element: `at` has the index on each axis,
// and i is the index in row-major order.
func Map(name string, shape []dim.Dim, element func(e *Emitter, at []*kernel.Value, i *kernel.Value)) (Launch, error) {
	total := dim.Product(shape...)
	blocks := total.CeilDiv(dim.Const(Threads))
	return Grid(name, []dim.Dim{blocks}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		end := e.Dim(total)
		return func(block []*kernel.Value) {
			i := e.Add(e.Mul(block[0], e.Int(Threads)), e.Thread(0))
			e.Do(e.Lt(i, end), func() { element(e, e.Unflatten(i, shape), i) })
		}
	})
}

// Unflatten returns the index on each axis of a tensor of this shape from the row-major index i.
func (e *Emitter) Unflatten(i *kernel.Value, shape []dim.Dim) []*kernel.Value {
	at := make([]*kernel.Value, len(shape))
	rest := e.Convert(ir.U32, i)
	outer := true
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = e.Int(0)
		if n, ok := shape[k].Int(); ok && n == 1 {
			continue
		}
		outer = !hasLarger(shape[:k])
		if outer {
			at[k] = e.Convert(ir.I32, rest)
			continue
		}
		extent := e.Convert(ir.U32, e.Dim(shape[k]))
		at[k] = e.Convert(ir.I32, e.Rem(rest, extent))
		rest = e.Div(rest, extent)
	}
	return at
}

func hasLarger(shape []dim.Dim) bool {
	for _, d := range shape {
		if n, ok := d.Int(); !ok || n != 1 {
			return true
		}
	}
	return false
}
