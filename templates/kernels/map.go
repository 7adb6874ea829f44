package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// maxBlocks is the number of blocks up to which a map has a thread for each element. Every device
// allows as many.
const maxBlocks = 32768

// Map returns the launch of a kernel with a thread for each element of a tensor of this shape. The
// threads do not communicate. element gets the index of its element on each axis, at, and in
// row-major order, i. Large tensors have several elements for each thread.
func Map(name string, shape []dim.Dim, element func(e *Emitter, at []*kernel.Value, i *kernel.Value)) (Launch, error) {
	total := dim.Product(shape...)
	blocks := total.CeilDiv(dim.Const(Threads))
	n, fixed := total.Int()
	loops := !fixed || n > maxBlocks*Threads
	if loops {
		blocks = blocks.Min(dim.Const(maxBlocks))
	}
	return New(name, []dim.Dim{blocks}, []int{Threads}, func(e *Emitter) {
		one := func(i *kernel.Value) { element(e, e.Unflatten(i, shape), i) }
		first, end := e.Global(0), e.Dim(total)
		if !loops {
			e.Do(e.Lt(first, end), func() { one(first) })
			return
		}
		step := e.Dim(blocks.Mul(dim.Const(Threads)))
		e.For(first, end, step, nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			one(i)
			return nil
		})
	})
}

// blockStep returns the step of a loop in which the blocks of a grid share more work than there are
// blocks: the number of blocks. It is at least 1, because the kernel of an empty grid never runs.
func (e *Emitter) blockStep(blocks dim.Dim) *kernel.Value {
	if n, ok := blocks.Int(); ok {
		return e.Int(max(n, 1))
	}
	return e.Dim(blocks)
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

// hasLarger reports whether an extent may differ from 1.
func hasLarger(shape []dim.Dim) bool {
	for _, d := range shape {
		if n, ok := d.Int(); !ok || n != 1 {
			return true
		}
	}
	return false
}
