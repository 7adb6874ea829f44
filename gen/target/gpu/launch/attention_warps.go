package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// warpAttend returns a launch that computes an attention with matrix products in warps. share is the number of heads of
// queries for each head of keys. It returns an error if the device has no such products for the type, or if the kernel
// does not support the depth or the width of the heads. sums is as in [kernels.Attention].
func warpAttend(o op.Attend, n *ir.Node, share dim.Dim, put store, sums storeScore, by Options) (kernels.Launch, error) {
	a, err := attended(o, n, share, by)
	if err != nil {
		return kernels.Launch{}, err
	}
	a.Sink, a.StoreSum = sinkOf(n), sums
	a.Store = func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
		i := e.Add(e.Mul(at.Batch, e.Dim(o.Queries)), at.Query)
		i = e.Add(e.Mul(i, e.Dim(o.Heads)), at.Head)
		put(e, e.Add(e.Mul(i, e.Int(a.Width)), column), nil, x)
	}
	return kernels.WarpAttention("attend", a)
}

// storeScore is the type of StoreSum of [kernels.Attention].
type storeScore func(e *kernels.Emitter, at kernels.Attending, top, total *kernel.Value)

// attended describes an attention to kernels that multiply matrices in warps. It returns an error if they do not support
// it.
func attended(o op.Attend, n *ir.Node, share dim.Dim, by Options) (a kernels.Attended, err error) {
	d := n.Args[0].Type.DType
	depth, _ := o.Depth.Int()
	width, _ := o.Width.Int()
	if by.matrix(d) == ir.Invalid || d == ir.F32 || depth < 1 || depth%16 != 0 || depth > 128 || width < 1 || width%8 != 0 || width > 128 {
		return a, errMode
	}
	a = kernels.Attended{
		Batch: o.Batch, Heads: o.Heads, Queries: o.Queries, Keys: o.Keys, Shared: share, Depth: depth, Width: width, Matrix: d,
		Scale: o.Scale, Past: o.Past,
		Query: elementsOf(n.Args[0], o.Q, func(at kernels.Attending) (head, row *kernel.Value) { return at.Head, at.Query }),
		Key:   elementsOf(n.Args[1], o.K, func(at kernels.Attending) (head, row *kernel.Value) { return at.Group, at.Key }),
		Value: elementsOf(n.Args[2], o.V, func(at kernels.Attending) (head, row *kernel.Value) { return at.Group, at.Key }),
	}
	a.Score, a.Before, a.After = scoring(o, n, by)
	return a, nil
}

// sinkOf returns a function that loads the score of the sink of a head, or nil if there are no sinks.
func sinkOf(n *ir.Node) func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
	sinks := n.Arg(6)
	if sinks == nil {
		return nil
	}
	return func(e *kernels.Emitter, at kernels.Attending) *kernel.Value { return e.Read(sinks).Get(at.Head) }
}

// elementsOf returns a function that loads n adjacent elements of a row of v, from index `element` on. The function
// `place` returns the head and the row. layout holds the offset of v in memory and its strides along batch, heads
// and rows.
func elementsOf(v *ir.Value, layout []dim.Dim, place func(at kernels.Attending) (head, row *kernel.Value)) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
	strides, known := dim.Ints(layout)
	return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
		head, row := place(at)
		index := e.Dim(layout[0])
		for k, x := range []*kernel.Value{at.Batch, head, row} {
			index = e.Add(index, e.Mul(x, e.Dim(layout[k+1])))
		}
		index = e.Add(index, element)
		adjacent := known
		for _, stride := range strides {
			adjacent = adjacent && stride%n == 0
		}
		memory := e.Read(v)
		if adjacent {
			return e.LoadN(memory.Pointer(), index, n)
		}
		var list []*kernel.Value
		for i := range n {
			list = append(list, memory.Raw(e.Add(index, e.Int(i))))
		}
		return list
	}
}

// scoring returns a function that changes a score before the softmax reads it, or nil if scores do not change. It
// also returns the window of keys: query i attends to the keys from position i − before to position i + after. A
// negative number means all keys on that side. If the positions are known only at run time, before and after are
// −1, and the function `score` excludes the keys outside of the window.
func scoring(o op.Attend, n *ir.Node, by Options) (score func(e *kernels.Emitter, at kernels.Attending, score *kernel.Value) *kernel.Value, before, after int) {
	before, after = o.Before, o.After
	moved := n.Arg(5) != nil && (before >= 0 || after >= 0) // positions are known at run time
	if moved {
		before, after = -1, -1
	}
	if o.Softcap == 0 && n.Arg(3) == nil && n.Arg(4) == nil && !moved {
		return nil, before, after
	}
	return func(e *kernels.Emitter, at kernels.Attending, score *kernel.Value) *kernel.Value {
		q := &query{Emitter: e, Attend: o, by: by, n: n, batch: at.Batch, row: at.Query, head: at.Head, group: at.Group}
		return q.weighed(at.Key, score)
	}, before, after
}
