package launch

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// attendTraining launches the kernel of the [op.Attend], which also stores the sums.
func attendTraining(o op.AttendTraining, n *ir.Node, by Options) ([]kernels.Launch, error) {
	a := op.Attend(o)
	share, ok := a.Heads.DivExact(a.Shared)
	if !ok {
		return nil, errMode
	}
	sums := func(e *kernels.Emitter, at kernels.Attending, top, total *kernel.Value) {
		sum := e.Add(top, elementary.Log(e.Builder, total))
		none := e.Eq(total, e.Float(ir.F32, 0))
		e.Write(n.Results[1]).Set(sumAt(e, a, at), e.Select(none, e.Float(ir.F32, math.Inf(1)), sum))
	}
	l, err := warpAttend(a, n, share, plainly(n), sums, by)
	if err == nil {
		l.Faster = pipelinedAttend(a, n, plainly(n), sums, by)
	}
	return one(l, err)
}

// sumAt returns the index of a query's sum.
func sumAt(e *kernels.Emitter, a op.Attend, at kernels.Attending) *kernel.Value {
	head := e.Add(e.Mul(at.Batch, e.Dim(a.Heads)), at.Head)
	return e.Add(e.Mul(head, e.Dim(a.Queries)), at.Query)
}

// attendGradient launches three kernels: one for the moments of queries, see [kernels.AttentionMoments], one for the
// gradient of the queries, and one for the gradients of the keys and values.
func attendGradient(o op.AttendGradient, n *ir.Node, by Options) ([]kernels.Launch, error) {
	a := o.Forward()
	share, ok := a.Heads.DivExact(a.Shared)
	if !ok {
		return nil, errMode
	}
	forward := &ir.Node{Op: a, Args: []*ir.Value{n.Arg(0), n.Arg(1), n.Arg(2), n.Arg(6), n.Arg(7), n.Arg(8)}}
	w, err := attended(a, forward, share, by)
	if err != nil || w.Width%16 != 0 {
		return nil, errMode
	}
	query := func(at kernels.Attending) (head, row *kernel.Value) { return at.Head, at.Query }
	key := func(at kernels.Attending) (head, row *kernel.Value) { return at.Group, at.Key }
	dy, y := elementsOf(n.Arg(3), o.DY, query), elementsOf(n.Arg(4), o.Y, query)
	moments := kernels.MomentsOf(a.Batch, a.Heads, a.Queries)
	eight := func(load func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value) []*kernel.Value {
		return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value) []*kernel.Value {
			return load(e, at, element, 8)
		}
	}
	first, err := kernels.AttentionMoments("attend_moments", kernels.Moments{
		Batch: a.Batch, Heads: a.Heads, Queries: a.Queries, Width: w.Width, Result: eight(y), DY: eight(dy),
		Sum: func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
			return e.Read(n.Arg(5)).Get(sumAt(e, a, at))
		},
	}, moments)
	if err != nil {
		return nil, err
	}
	store := func(i int, rows, heads dim.Dim, width int, place func(at kernels.Attending) (head, row *kernel.Value)) func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
		return func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
			head, row := place(at)
			index := e.Add(e.Mul(e.Add(e.Mul(at.Batch, e.Dim(rows)), row), e.Dim(heads)), head)
			e.Write(n.Results[i]).Set(e.Add(e.Mul(index, e.Int(width)), column), x)
		}
	}
	g := kernels.AttendedGradient{Attended: w, DY: dy, Moments: moments}
	g.StoreQuery = store(0, a.Queries, a.Heads, w.Depth, query)
	g.StoreKey, g.StoreValue = store(1, a.Keys, a.Shared, w.Depth, key), store(2, a.Keys, a.Shared, w.Width, key)
	launches := []kernels.Launch{first}
	for _, keys := range []bool{false, true} {
		name := "attend_queries"
		if keys {
			name = "attend_keys"
		}
		l, err := kernels.WarpAttentionGradient(name, g, keys)
		if err != nil {
			return nil, err
		}
		l.Faster = pipelinedGradient(name, o, forward, n.Arg(3), g, keys, by)
		launches = append(launches, l)
	}
	return launches, nil
}

// pipelinedGradient returns the launch of a pipelined kernel that can take the place of the kernel of g, or nil if
// there is none. The kernel computes the gradients of keys and values if `keys` is true, and otherwise the gradient
// of queries. forward is the node of the attention, and dy the gradient of its result.
func pipelinedGradient(name string, o op.AttendGradient, forward *ir.Node, dy *ir.Value, g kernels.AttendedGradient, keys bool, by Options) *kernels.Launch {
	a, ok := attentionOf(o.Forward(), forward, by)
	if !ok {
		return nil
	}
	p := kernels.AttentionGradient{Attention: a, Moments: g.Moments, StoreQuery: g.StoreQuery, StoreKey: g.StoreKey, StoreValue: g.StoreValue}
	if p.DY, ok = headRows(dy, o.DY, a.Batch, a.Heads, a.Queries, a.Width); !ok {
		return nil
	}
	l, err := kernels.PipelinedAttentionGradient(name, p, keys, kernels.GradientTilesOf(p))
	if err != nil {
		return nil
	}
	return &l
}
