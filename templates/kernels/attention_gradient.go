package kernels

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// AttentionGradient is the backward pass of an [Attention]. With the weights P = softmax(Scale · query · key) and dY, the
// gradient of the result, it is
//
//	dV = Pᵀ·dY    dS = P ∘ (dY·Vᵀ − D)    dQ = Scale · dS·K    dK = Scale · dSᵀ·Q
//
// where D has one number for each query: the dot product of its rows of dY and of the result. One kernel computes
// dQ, and another one dK and dV. Both compute P and dS, rounded to the type Matrix.
type AttentionGradient struct {
	// Attention is the forward pass. Its Score must add to scores or exclude keys. Its Sink, Store and StoreSum do not
	// matter.
	Attention
	DY HeadRows // the gradient of the result
	// Moments has what [AttentionMoments] computes.
	Moments *Scratch
	// StoreQuery, StoreKey and StoreValue store an element of dQ, dK and dV, an f32.
	StoreQuery, StoreKey, StoreValue func(e *Emitter, at Attending, column, x *kernel.Value)
}

// The moments are padded to a multiple of rowsOfMoments queries. The number of queries that a
// kernel multiplies at a time must divide it.
const rowsOfMoments = 128

// MomentsOf returns the memory for the moments of an attention with these extents, see [AttentionMoments].
func MomentsOf(batch, heads, queries dim.Dim) *Scratch {
	rows := queries.CeilDiv(dim.Const(rowsOfMoments)).Mul(dim.Const(rowsOfMoments))
	return &Scratch{DType: ir.F32, Shape: []dim.Dim{batch, heads, dim.Const(2), rows}}
}

// Moments are the operands of [AttentionMoments].
type Moments struct {
	Batch, Heads, Queries dim.Dim
	Width                 int // a multiple of 8
	// Sum returns the logarithm of the sum of the exponentials of a query's scores, an f32. It is ∞ for a query without
	// keys.
	Sum func(e *Emitter, at Attending) *kernel.Value
	// Result and DY return elements `element` … element+7 of the result, or of its gradient, for a query.
	Result, DY func(e *Emitter, at Attending, element *kernel.Value) []*kernel.Value
}

// AttentionMoments returns the launch of a kernel that stores two numbers for each query: the logarithm that m.Sum
// returns, converted to the base 2, and the dot product of Result and DY. In the rows of `to` after the last query,
// the numbers are ∞ and 0. It returns an error if `to` has more elements than an i32 counts.
func AttentionMoments(name string, m Moments, to *Scratch) (Launch, error) {
	const lanes = 8
	threads := 1 // that share a query
	for m.Width%(2*threads*lanes) == 0 && threads < kernel.Warp {
		threads *= 2
	}
	rows, total := dim.Product(m.Batch, to.Shape[3], m.Heads), dim.Product(to.Shape...)
	if n, ok := total.Int(); ok && n > math.MaxInt32 {
		return Launch{}, errAttention
	}
	return Grid(name, []dim.Dim{rows.CeilDiv(dim.Const(Threads / threads))}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		return func(block []*kernel.Value) {
			row := e.Add(e.Mul(block[0], e.Int(Threads/threads)), e.Div(e.Thread(0), e.Int(threads)))
			part := e.Rem(e.Thread(0), e.Int(threads))
			at := e.Unflatten(row, []dim.Dim{m.Batch, to.Shape[3], m.Heads})
			query := Attending{Batch: at[0], Query: at[1], Head: at[2]}
			exists := e.Lt(e.Mul(row, e.Int(2)), e.Dim(total))
			inside := e.And(exists, e.Lt(query.Query, e.Dim(m.Queries)))
			zero := e.Float(ir.F32, 0)
			sum := e.If(inside, func() []*kernel.Value {
				sum := zero
				for i := 0; i < m.Width; i += threads * lanes {
					element := e.Add(e.Int(i), e.Mul(part, e.Int(lanes)))
					y, dy := m.Result(e, query, element), m.DY(e, query, element)
					for k := range y {
						sum = e.Fma(e.Convert(ir.F32, y[k]), e.Convert(ir.F32, dy[k]), sum)
					}
				}
				return []*kernel.Value{sum}
			}, func() []*kernel.Value { return []*kernel.Value{zero} })[0]
			for n := 1; n < threads; n *= 2 {
				sum = e.Add(sum, e.Shuffle(sum, n))
			}
			e.Do(e.And(exists, e.Eq(part, e.Int(0))), func() {
				top := e.If(inside, func() []*kernel.Value {
					return []*kernel.Value{e.Mul(m.Sum(e, query), e.Float(ir.F32, math.Log2E))}
				}, func() []*kernel.Value { return []*kernel.Value{e.Float(ir.F32, math.Inf(1))} })[0]
				moments := e.Scratch(to)
				for i, x := range []*kernel.Value{top, sum} {
					moments.Set(moments.Offset([]*kernel.Value{query.Batch, query.Head, e.Int(i), query.Query}), x)
				}
			})
		}
	})
}
