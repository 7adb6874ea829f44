package launch

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var sequence = []entry{
	computes(linearAttention),
	computes(reverseSequence),
}

func reverseSequence(o op.ReverseSequence, n *ir.Node) ([]kernels.Launch, error) {
	x, lens, y := n.Args[0], n.Args[1], n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	time, batch := o.Axes()
	steps := x.Type.Shape[time]
	return one(kernels.Map("reverse_sequence", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		whole := func(v *kernel.Value) *kernel.Value { return e.Convert(ir.I64, v) }
		length := e.Min(e.Read(lens).Get(at[batch]), whole(e.Dim(steps)))
		from := append([]*kernel.Value{}, at...)
		from[time] = e.Select(e.Lt(whole(at[time]), length), e.Sub(e.Sub(e.Convert(ir.I32, length), e.Int(1)), at[time]), at[time])
		in := e.Read(x)
		e.Write(y).SetRaw(i, in.Raw(in.Offset(from)))
	}))
}

const (
	// linearRounds limits the work of a launch of linearAttention: the number of time steps times the depth of a
	// key. A launch may exceed it only if it has a single step.
	linearRounds = 1 << 14
	// linearSteps is the largest number of time steps of a launch.
	linearSteps = 16
)

// linearAttention computes attention with a state instead of a softmax. A first kernel copies the initial state. A
// second kernel then computes some time steps in each [kernels.Rounds] round. A thread has one column of a state. A
// column does not depend on other columns.
func linearAttention(_ op.LinearAttention, n *ir.Node) ([]kernels.Launch, error) {
	q, k, past := n.Args[0], n.Args[1], n.Args[3]
	y, last := n.Results[0], n.Results[1]
	if d := y.Type.DType; d != ir.F32 && d != ir.F64 {
		return nil, errNarrow
	}
	batch, steps, heads, shared, width := y.Type.Shape[0], y.Type.Shape[1], y.Type.Shape[2], k.Type.Shape[2], y.Type.Shape[3]
	perHead, _ := heads.DivExact(shared)
	each, ok := perHead.Int()
	if !ok {
		return nil, fmt.Errorf("%s heads of queries share %s of keys", heads, shared)
	}
	chunk := 1
	if depth, ok := q.Type.Shape[3].Int(); ok {
		chunk = max(1, min(linearSteps, linearRounds/max(1, depth)))
	}
	first, err := kernels.Map("linear_attention_start", last.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		e.Write(last).Set(i, e.Read(past).Get(i))
	})
	if err != nil {
		return nil, err
	}
	rounds := &kernels.Rounds{Count: steps.CeilDiv(dim.Const(chunk))}
	next, err := rounds.Repeat(one(kernels.Map("linear_attention", []dim.Dim{batch, shared, width}, func(e *kernels.Emitter, at []*kernel.Value, _ *kernel.Value) {
		c := column{Emitter: e, Node: n, batch: at[0], head: at[1], e: at[2], each: each}
		from := e.Mul(e.Round(), e.Int(chunk))
		to := e.Min(e.Dim(steps), e.Add(from, e.Int(chunk)))
		e.For(from, to, e.Int(1), nil, func(step *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			c.step(step)
			return nil
		})
	})))
	return append([]kernels.Launch{first}, next...), err
}

type column struct {
	*kernels.Emitter
	*ir.Node
	batch, head, e *kernel.Value
	each           int // heads of queries that use the state
}

// step computes a time step. It updates column e of a head's state, and stores element e of y for each query that
// uses the state.
func (c *column) step(step *kernel.Value) {
	q, key, value, keep, rate := c.Args[0], c.Args[1], c.Args[2], c.Arg(4), c.Arg(5)
	state, y := c.Write(c.Results[1]), c.Write(c.Results[0])
	d := state.DType
	depth := c.Dim(q.Type.Shape[3])
	place := func(i *kernel.Value) *kernel.Value { return state.Offset([]*kernel.Value{c.batch, c.head, i, c.e}) }
	// kept returns element i of the column, multiplied.
	kept := func(i *kernel.Value) *kernel.Value {
		s := state.Get(place(i))
		if keep != nil {
			s = c.Mul(s, c.Read(keep).At(c.batch, step, c.head, i))
		}
		return s
	}
	added := c.Read(value).At(c.batch, step, c.head, c.e)
	if rate != nil {
		have := c.Times(depth, []*kernel.Value{c.Float(d, 0)}, func(i *kernel.Value, s []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{c.Fma(c.Read(key).At(c.batch, step, c.head, i), kept(i), s[0])}
		})[0]
		added = c.Mul(c.Read(rate).At(c.batch, step, c.head), c.Sub(added, have))
	}
	sums := make([]*kernel.Value, c.each)
	for h := range sums {
		sums[h] = c.Float(d, 0)
	}
	query := func(h int) *kernel.Value { return c.Add(c.Mul(c.head, c.Int(c.each)), c.Int(h)) }
	sums = c.Times(depth, sums, func(i *kernel.Value, sums []*kernel.Value) []*kernel.Value {
		s := c.Fma(c.Read(key).At(c.batch, step, c.head, i), added, kept(i))
		state.Set(place(i), s)
		for h, sum := range sums {
			sums[h] = c.Fma(c.Read(q).At(c.batch, step, query(h), i), s, sum)
		}
		return sums
	})
	for h, sum := range sums {
		y.Set(y.Offset([]*kernel.Value{c.batch, step, query(h), c.e}), sum)
	}
}
