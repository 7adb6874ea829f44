package launch

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var lines = []entry{
	computes(func(o op.ArgMax, n *ir.Node) ([]kernels.Launch, error) {
		return argExtreme("arg_max", n, o.Axis, true, o.Last)
	}),
	computes(func(o op.ArgMin, n *ir.Node) ([]kernels.Launch, error) {
		return argExtreme("arg_min", n, o.Axis, false, o.Last)
	}),
	computes(func(o op.CumSum, n *ir.Node) ([]kernels.Launch, error) {
		return cumulate("cum_sum", n, o, 0, func(e *kernels.Emitter, x, y *kernel.Value) *kernel.Value { return e.Add(x, y) })
	}),
	computes(func(o op.CumProd, n *ir.Node) ([]kernels.Launch, error) {
		return cumulate("cum_prod", n, op.CumSum(o), 1, func(e *kernels.Emitter, x, y *kernel.Value) *kernel.Value { return e.Mul(x, y) })
	}),
	computes(topK),
}

// argExtreme computes an index for each row along axis: the index of the greatest element if greatest is set, and
// otherwise the index of the smallest element. If last is set, ties go to the last index instead of the first. NaN is
// more extreme than all numbers.
func argExtreme(name string, n *ir.Node, axis int, greatest, last bool) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	a := along(x.Type.Shape, []int{axis})
	// better returns the state that is more extreme; of equal ones the one with the index that counts.
	// An index below 0 stands for no element.
	better := func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
		beats := e.Gt(t[0], s[0])
		if !greatest {
			beats = e.Lt(t[0], s[0])
		}
		equal := e.Eq(t[0], s[0])
		if d.IsFloat() {
			isNaN, wasNaN := e.Ne(t[0], t[0]), e.Ne(s[0], s[0])
			beats = e.Or(beats, e.And(isNaN, e.Not(wasNaN)))
			beats = e.And(beats, e.Not(wasNaN))
			equal = e.Or(equal, e.And(isNaN, wasNaN))
		}
		nearer := e.Lt(t[1], s[1])
		if last {
			nearer = e.Gt(t[1], s[1])
		}
		takes := e.Or(beats, e.And(equal, nearer))
		none := e.Lt(s[1], e.Int(0))
		takes = e.And(e.Or(takes, none), e.Ge(t[1], e.Int(0)))
		return []*kernel.Value{e.Select(takes, t[0], s[0]), e.Select(takes, t[1], s[1])}
	}
	return one(kernels.Reduce(name, a.rows(), a.length(), kernels.Reduction{
		Start: func(e *kernels.Emitter) []*kernel.Value { return []*kernel.Value{e.Number(d, 0), e.Int(-1)} },
		Add: func(e *kernels.Emitter, s []*kernel.Value, row, i *kernel.Value) []*kernel.Value {
			return better(e, s, []*kernel.Value{e.Read(x).Get(a.offset(e, row, i)), i})
		},
		Join: better,
		Store: func(e *kernels.Emitter, row *kernel.Value, s []*kernel.Value) {
			e.Write(y).Set(row, e.Convert(ir.I64, s[1]))
		},
	}))
}

// cumulate returns the launch of a kernel that computes cumulative sums or products. A thread goes through a row.
// It starts with the number `first`, and combines it with the elements of the row one after the other by the
// function `join`.
func cumulate(name string, n *ir.Node, o op.CumSum, first float64, join func(e *kernels.Emitter, x, y *kernel.Value) *kernel.Value) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	a := along(x.Type.Shape, []int{o.Axis})
	return one(kernels.Map(name, []dim.Dim{a.rows()}, func(e *kernels.Emitter, _ []*kernel.Value, row *kernel.Value) {
		length := e.Dim(a.length())
		e.Times(length, []*kernel.Value{e.Number(d, first)}, func(k *kernel.Value, s []*kernel.Value) []*kernel.Value {
			i := k
			if o.Reverse {
				i = e.Sub(e.Sub(length, e.Int(1)), k)
			}
			at := a.offset(e, row, i)
			sum := join(e, s[0], e.Read(x).Get(at))
			if o.Exclusive {
				e.Write(y).Set(at, s[0])
			} else {
				e.Write(y).Set(at, sum)
			}
			return []*kernel.Value{sum}
		})
	}))
}

// maxRanked is the largest number of elements in a row that topK ranks. The host ranks longer rows.
const maxRanked = 1 << 15

// topK returns the launch of a kernel that selects the first o.K elements of each row in sorted order. There is a
// thread for each element. The thread counts the elements of the row that precede its own in the result. It stores
// its own at this index if the index is less than o.K.
func topK(o op.TopK, n *ir.Node) ([]kernels.Launch, error) {
	x, values, places := n.Args[0], n.Results[0], n.Results[1]
	d, ok := kernels.Arithmetic(x.Type.DType)
	last := x.Type.Rank() - 1
	if !ok || o.Axis != last {
		return nil, errNarrow
	}
	extent := x.Type.Shape[last]
	if count, ok := extent.Int(); !ok || count > maxRanked || !extent.Sub(o.K).NonNegative() {
		return nil, fmt.Errorf("%s of %s elements", o.K, extent)
	}
	rows := dim.Product(x.Type.Shape[:last]...)
	return one(kernels.Map("top_k", []dim.Dim{rows, extent}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		in, first, own := e.Read(x), e.Mul(at[0], e.Dim(extent)), e.Read(x).Get(i)
		rank := e.Times(e.Dim(extent), []*kernel.Value{e.Int(0)}, func(k *kernel.Value, rank []*kernel.Value) []*kernel.Value {
			v := in.Get(e.Add(first, k))
			beats, equal := e.Gt(v, own), e.Eq(v, own)
			if o.Smallest {
				beats = e.Lt(v, own)
			}
			if d.IsFloat() { // NaN is the greatest
				isNaN, ownNaN := e.Ne(v, v), e.Ne(own, own)
				equal = e.Or(equal, e.And(isNaN, ownNaN))
				if o.Smallest {
					beats = e.Or(beats, e.And(ownNaN, e.Not(isNaN)))
				} else {
					beats = e.Or(beats, e.And(isNaN, e.Not(ownNaN)))
				}
			}
			before := e.Or(beats, e.And(equal, e.Lt(k, at[1])))
			return []*kernel.Value{e.Add(rank[0], e.Convert(ir.I32, before))}
		})[0]
		e.Do(e.Lt(rank, e.Dim(o.K)), func() {
			to := e.Add(e.Mul(at[0], e.Dim(o.K)), rank)
			e.Write(values).SetRaw(to, in.Raw(i))
			e.Write(places).Set(to, e.Convert(ir.I64, at[1]))
		})
	}))
}
