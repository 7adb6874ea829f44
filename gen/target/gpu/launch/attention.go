package launch

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var attention = []entry{
	multiplies(attend),
	computesBy(attendTraining),
	computesBy(attendGradient),
}

// attend returns the launch of an attention kernel. If [warpAttend] supports the attention, the kernel multiplies
// matrices in warps. Otherwise the kernel has a block of threads for each query.
func attend(o op.Attend, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	width, okWidth := o.Width.Int()
	share, ok := o.Heads.DivExact(o.Shared)
	if !ok || !okWidth {
		return nil, fmt.Errorf("%s heads of %s elements share %s", o.Heads, o.Width, o.Shared)
	}
	l, err := warpAttend(o, n, share, put, nil, by)
	if err != nil {
		l, err = attendByRows(o, n, share, width, put, by)
	}
	if err == nil {
		l.Faster = pipelinedAttend(o, n, put, nil, by)
	}
	return one(l, err)
}

// attendByRows returns the launch of a kernel that computes attention with a block of threads for each query.
// `share` is the number of query heads for each key head, and `width` the number of elements of a value. The block
// goes through the keys in tiles of one key for each thread. It keeps the greatest score, the sum of exp(score −
// greatest), and the sum of the values weighted by these exponentials. Each thread has some elements of the
// weighted sum.
func attendByRows(o op.Attend, n *ir.Node, share dim.Dim, width int, put store, by Options) (kernels.Launch, error) {
	places := []dim.Dim{o.Batch, o.Queries, o.Heads}
	return kernels.Rows("attend", dim.Product(places...), o.Keys, func(r *kernels.Row) {
		at := r.Unflatten(r.Index, places)
		q := &query{Emitter: r.Emitter, Attend: o, by: by, n: n, batch: at[0], row: at[1], head: at[2], group: r.Div(at[2], r.Dim(share))}
		scores := r.Builder.Shared("scores", ir.F32, r.BlockSize(0))
		room := []*kernel.Value{r.Builder.Shared("tops", ir.F32, r.BlockSize(0))}
		zero, none := r.Float(ir.F32, 0), r.Float(ir.F32, math.Inf(-1))
		parts := (width + r.BlockSize(0) - 1) / r.BlockSize(0)
		state := []*kernel.Value{none, zero}
		if sinks := n.Arg(6); sinks != nil {
			state = []*kernel.Value{r.Read(sinks).Get(q.head), r.Float(ir.F32, 1)}
		}
		for range parts {
			state = append(state, zero)
		}
		tile := r.Int(r.BlockSize(0))
		state = r.For(r.Int(0), r.Length, tile, state, func(first *kernel.Value, state []*kernel.Value) []*kernel.Value {
			key := r.Add(first, r.Thread(0))
			score := r.If(r.Lt(key, r.Length), func() []*kernel.Value { return []*kernel.Value{q.score(key)} },
				func() []*kernel.Value { return []*kernel.Value{none} })[0]
			top := r.JoinBlock(room, []*kernel.Value{score}, func(e *kernels.Emitter, x, y []*kernel.Value) []*kernel.Value {
				return extreme(true, ir.F32, ir.F32).join(e, x, y)
			})
			top = extreme(true, ir.F32, ir.F32).join(r.Emitter, state[:1], top)
			from := r.Select(r.Eq(top[0], none), zero, top[0]) // a distance from −∞ is not a number
			r.Store(scores, r.Thread(0), elementary.Exp(r.Builder, r.Sub(score, from)))
			r.Barrier()
			factor := elementary.Exp(r.Builder, r.Sub(state[0], from))
			for i, v := range state[1:] {
				state[i+1] = r.Mul(v, factor)
			}
			sums := r.Times(r.Min(tile, r.Sub(r.Length, first)), state[1:], func(k *kernel.Value, sums []*kernel.Value) []*kernel.Value {
				p := r.Load(scores, k)
				out := []*kernel.Value{r.Add(sums[0], p)}
				for i, sum := range sums[1:] {
					e := r.Add(r.Thread(0), r.Int(i*r.BlockSize(0)))
					v := r.If(r.Lt(e, r.Int(width)), func() []*kernel.Value { return []*kernel.Value{q.value(r.Add(first, k), e)} },
						func() []*kernel.Value { return []*kernel.Value{zero} })[0]
					out = append(out, r.Fma(by.factor(r.Emitter, p), v, sum))
				}
				return out
			})
			r.Barrier()
			return append(top, sums...)
		})
		for i, sum := range state[2:] {
			e := r.Add(r.Thread(0), r.Int(i*r.BlockSize(0)))
			r.Do(r.Lt(e, r.Int(width)), func() {
				v := r.Select(r.Eq(state[1], zero), zero, r.Div(sum, state[1]))
				put(r.Emitter, r.Add(r.Mul(r.Index, r.Int(width)), e), nil, v)
			})
		}
	})
}

// query is the state of a thread that computes the attention of one query of one head.
type query struct {
	*kernels.Emitter
	op.Attend
	by                      Options
	n                       *ir.Node
	batch, row, head, group *kernel.Value // group is the head of keys and values
}

// element returns element i of a row of a head in an operand, rounded by [Options.factor]. layout holds the operand's
// offset and its strides along batch, heads and rows.
func (q *query) element(operand int, layout []dim.Dim, head, row, i *kernel.Value) *kernel.Value {
	offset := q.Dim(layout[0])
	for k, v := range []*kernel.Value{q.batch, head, row} {
		offset = q.Add(offset, q.Mul(v, q.Dim(layout[k+1])))
	}
	return q.by.factor(q.Emitter, q.Read(q.n.Args[operand]).Get(q.Add(offset, i)))
}

// value returns element i of the value that belongs to a key.
func (q *query) value(key, i *kernel.Value) *kernel.Value { return q.element(2, q.V, q.group, key, i) }

func (q *query) score(key *kernel.Value) *kernel.Value {
	sum := q.Times(q.Dim(q.Depth), []*kernel.Value{q.Float(ir.F32, 0)}, func(i *kernel.Value, s []*kernel.Value) []*kernel.Value {
		return []*kernel.Value{q.Fma(q.element(0, q.Q, q.head, q.row, i), q.element(1, q.K, q.group, key, i), s[0])}
	})[0]
	return q.weighed(key, q.Mul(sum, q.Float(ir.F32, q.Scale)))
}

// weighed returns the score of a key as the softmax reads it: after the softcap and the masks. The parameter score is
// the scaled product of the query and the key.
func (q *query) weighed(key, score *kernel.Value) *kernel.Value {
	if q.Softcap != 0 {
		score = q.Mul(q.Float(ir.F32, q.Softcap), elementary.Tanh(q.Builder, q.Div(score, q.Float(ir.F32, q.Softcap))))
	}
	attends := q.attends(key)
	if mask := q.n.Arg(3); mask != nil {
		m := q.Read(mask).Get(q.maskOffset(mask.Type, key))
		if mask.Type.DType == ir.Bool {
			attends = q.And(attends, m)
		} else {
			score = q.Add(score, m)
		}
	}
	return q.Select(attends, score, q.Float(ir.F32, math.Inf(-1)))
}

// attends reports whether the query attends to the position of a key, whatever the mask says.
func (q *query) attends(key *kernel.Value) *kernel.Value {
	whole := func(v *kernel.Value) *kernel.Value { return q.Convert(ir.I64, v) }
	yes, lengths, starts := q.Bool(true), q.n.Arg(4), q.n.Arg(5)
	if lengths != nil {
		yes = q.Lt(whole(key), q.Read(lengths).Get(q.batch))
	}
	if q.Before < 0 && q.After < 0 {
		return yes
	}
	position := q.Add(whole(q.Dim(q.Past)), whole(q.row))
	if starts != nil {
		position = q.Add(position, q.Read(starts).Get(q.batch))
	}
	after := q.Sub(whole(key), position)
	if q.After >= 0 {
		yes = q.And(yes, q.Le(after, q.Whole(ir.I64, int64(q.After))))
	}
	if q.Before >= 0 {
		yes = q.And(yes, q.Ge(after, q.Whole(ir.I64, -int64(q.Before))))
	}
	return yes
}

// maskOffset returns the index of the mask's element for a key. Axes of extent 1 are broadcast.
func (q *query) maskOffset(mask ir.Type, key *kernel.Value) *kernel.Value {
	at := []*kernel.Value{q.batch, q.head, q.row, key}[4-mask.Rank():]
	to := []dim.Dim{q.Batch, q.Heads, q.Queries, q.Keys}[4-mask.Rank():]
	offset := q.Int(0)
	for k, d := range mask.Shape {
		offset = q.Add(q.Mul(offset, q.Dim(d)), broadcast(q.Emitter, at[k], d, to[k]))
	}
	return offset
}
