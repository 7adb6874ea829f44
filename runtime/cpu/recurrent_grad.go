package cpu

import (
	"context"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// LSTMGrad is the backward pass of [LSTMTrace], from the last step to the first. gates and cells
// are the results of LSTMTrace, and lens, c0 and reverse are as in its call. dy, [steps, batch,
// hidden], is the gradient of y. lastH and lastC, [batch, hidden], are the gradients of the final
// states. A nil dy, lastH or lastC means zeros.
//
// dx, [steps, batch, 4·hidden], becomes the gradient of the x of LSTMTrace. After a sequence's end
// it is zero. dx and gates may be the same slice. dh and dc, [batch, hidden], become the gradients
// of the initial states.
//
// If T is float32, weights are the transposed recurrent weights, packed by [PackPanels]. If T is
// float64, they are the transposed matrix [4·hidden, hidden]. LSTMGrad returns an error for a
// length out of range. If ctx is done, it ends the call as LSTMTrace does; dx, dh and dc are then
// undefined.
func LSTMGrad[T Float](ctx context.Context, dx, dh, dc, gates, cells, weights []T, lens []int32, c0, dy, lastH, lastC []T, steps, batch, hidden int, reverse bool) error {
	r := lstmGrad[T]{
		recurrence: recurrence[T]{
			ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: 4 * hidden, reverse: reverse, lens: lens,
			h: trim(dh, volume(batch, hidden)), scratch: trim(dx, volume(steps, batch, 4*hidden)), weights: weights, keeps: true,
		},
		c: trim(dc, volume(batch, hidden)), cells: trim(cells, volume(steps, batch, hidden)),
	}
	if err := r.checkLengths(); err != nil {
		return err
	}
	if dy != nil {
		r.dy = trim(dy, volume(steps, batch, hidden))
	}
	if c0 != nil {
		r.c0 = trim(c0, volume(batch, hidden))
	}
	rt.EndIfDone(ctx)
	copy(r.scratch, trim(gates, len(r.scratch)))
	begin(r.h, lastH)
	begin(r.c, lastC)
	r.blank(r.h)
	r.blank(r.c)
	if s, ok := any(&r).(*lstmGrad[float32]); !ok || !lstmGrads.run(s, r.parts(hidden)) {
		r.Part(0, 1)
	}
	rt.EndIfDone(ctx)
	return nil
}

// lstmGrad is the state of a running [LSTMGrad]. h and c are the gradients of the states after the
// current step. scratch starts as the gates, and gradients overwrite it. Workers of the pool may
// divide the sequences among them.
type lstmGrad[T Float] struct {
	recurrence[T]
	c, c0, cells, dy []T
}

var lstmGrads slot[lstmGrad[float32], *lstmGrad[float32]]

// Part implements [rt.Task]. It computes all steps of the sequences in part i of `parts`.
func (r *lstmGrad[T]) Part(i, parts int) {
	from, to := r.share(i, parts)
	fused := r.fused(true)
	if from == to {
		return
	}
	for n := from; n < to; n++ {
		r.seed(r.steps-1, n, false)
	}
	for i := r.steps - 1; i >= 0 && rt.Done(r.ctx) == nil; i-- {
		t := r.at(i)
		for n := from; n < to; n++ {
			gates, dh, ok := r.row(t, n)
			if ok {
				at := t*r.batch + n
				r.cell(gates, r.cells[at*r.hidden:][:r.hidden], r.before(i, n), dh, r.c[n*r.hidden:][:r.hidden], fused)
			} else {
				clear(gates)
			}
			r.seed(i-1, n, ok)
		}
		dh := r.h[from*r.hidden : to*r.hidden]
		addProduct(dh, r.gatesOf(t)[from*r.gates:], r.weights, dh, to-from, r.hidden, r.gates, r.gates, r.hidden, i%2 != 0)
	}
}

// seed adds the gradient of y after the i-th step to the gradient of sequence n's hidden state. If
// fresh is true, it sets the gradient of the hidden state instead of adding.
func (r *lstmGrad[T]) seed(i, n int, fresh bool) {
	dh := r.h[n*r.hidden:][:r.hidden]
	hasY := i >= 0 && r.dy != nil && r.within(r.at(i), n)
	switch {
	case !hasY && fresh:
		clear(dh)
	case hasY && fresh:
		copy(dh, r.dy[(r.at(i)*r.batch+n)*r.hidden:])
	case hasY:
		Add(dh, dh, r.dy[(r.at(i)*r.batch+n)*r.hidden:][:r.hidden])
	}
}

// before returns the cell state of sequence n before the i-th step. It returns nil if this state is
// zero.
func (r *lstmGrad[T]) before(i, n int) []T {
	switch {
	case i > 0 && r.within(r.at(i-1), n):
		return r.cells[(r.at(i-1)*r.batch+n)*r.hidden:][:r.hidden]
	case r.c0 != nil:
		return r.c0[n*r.hidden:][:r.hidden]
	}
	return nil
}

// cell computes the backward pass of one step of an LSTM, for one sequence. `gates` holds the
// results of the gates' functions; cell replaces them by the gradients of the operands of these
// functions. `cell` and `before` are the cell states after and before the step; a nil `before` is
// zero. dh is the gradient of the hidden state after the step. dc is the gradient of `cell`, and
// becomes the gradient of `before`. If fused is true, assembly computes the step.
func (r *lstmGrad[T]) cell(gates, cell, before, dh, dc []T, fused bool) {
	in, out, forget, next := gates[:r.hidden], gates[r.hidden:2*r.hidden], gates[2*r.hidden:3*r.hidden], gates[3*r.hidden:]
	isZero := before == nil
	if isZero {
		before = cell // any numbers
	}
	if fused {
		lstmGradCell(in, out, forget, next, cell, before, dh, dc)
	} else {
		for j, v := range cell {
			i, o, f, g, t := in[j], out[j], forget[j], next[j], T(math.Tanh(float64(v)))
			h := T(dh[j] * o)
			c := dc[j] + T(h*(1-T(t*t)))
			out[j] = (1 - o) * h * t
			in[j] = (1 - i) * T(c*i) * g
			next[j] = (1 - T(g*g)) * T(c*i)
			dc[j] = c * f
			forget[j] = (1 - f) * dc[j] * before[j]
		}
	}
	if isZero {
		clear(forget)
	}
}

// lstmGradCell is the part of [lstmGrad.cell] in assembly. T is float32.
func lstmGradCell[T Float](in, out, forget, next, cell, before, dh, dc []T) {
	i, o, _ := float32s1(in, out)
	f, g, _ := float32s1(forget, next)
	c, b, _ := float32s1(cell, before)
	h, d, _ := float32s1(dh, dc)
	lstmGradCellFast(i, o, f, g, c, b, h, d)
}

// GRUGrad is the backward pass of [GRUTrace], from the last step to the first. gates and kept are
// the results of GRUTrace, and lens, reverse and linear are as in its call. `before`, [steps,
// batch, hidden], is the state before each step. dy, [steps, batch, hidden], is the gradient of y,
// and `last`, [batch, hidden], the gradient of the final state. A nil dy or `last` means zeros.
//
// dx, [steps, batch, 3·hidden], becomes the gradient of the x of GRUTrace. dk, [steps, batch,
// hidden], becomes the gradient of kept. After a sequence's end, both are zero. dx and gates may be
// the same slice. dh, [batch, hidden], becomes the gradient of the initial state.
//
// weights and candidate are the transposed `weights` and `candidate` of GRUTrace. If T is float32,
// they are packed by [PackPanels]. If T is float64, they are matrices, [2·hidden, hidden] and
// [hidden, hidden]. GRUGrad returns an error for a length out of range. If ctx is done, it ends the
// call as GRUTrace does; dx, dk and dh are then undefined.
func GRUGrad[T Float](ctx context.Context, dx, dk, dh, gates, kept, before, weights, candidate []T, lens []int32, dy, last []T, steps, batch, hidden int, reverse, linear bool) error {
	r := gruGrad[T]{
		recurrence: recurrence[T]{
			ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: 3 * hidden, reverse: reverse, lens: lens,
			h: trim(dh, volume(batch, hidden)), scratch: trim(dx, volume(steps, batch, 3*hidden)), weights: weights, keeps: true,
		},
		candidate: candidate, linear: linear,
		dk: trim(dk, volume(steps, batch, hidden)), before: trim(before, volume(steps, batch, hidden)),
	}
	if err := r.checkLengths(); err != nil {
		return err
	}
	if dy != nil {
		r.dy = trim(dy, volume(steps, batch, hidden))
	}
	rt.EndIfDone(ctx)
	copy(r.scratch, trim(gates, len(r.scratch)))
	if linear {
		copy(r.dk, trim(kept, len(r.dk)))
	}
	begin(r.h, last)
	r.blank(r.h)
	if s, ok := any(&r).(*gruGrad[float32]); !ok || !gruGrads.run(s, r.parts(hidden)) {
		r.Part(0, 1)
	}
	rt.EndIfDone(ctx)
	return nil
}

// gruGrad is the state of a running [GRUGrad]. h is the gradient of the state after the current
// step. scratch starts as a copy of the gates, which gradients overwrite. If linear is true, dk starts
// as a copy of GRUTrace's result `kept`, which gradients also overwrite. Workers of the pool may divide
// the sequences among themselves.
type gruGrad[T Float] struct {
	recurrence[T]
	candidate, before, dk, dy []T
	linear                    bool
}

var gruGrads slot[gruGrad[float32], *gruGrad[float32]]

// Part implements [rt.Task]. It computes all steps of the sequences in part i of `parts`.
func (r *gruGrad[T]) Part(i, parts int) {
	from, to := r.share(i, parts)
	fused, hidden := r.fused(true), r.hidden
	if from == to || hidden == 0 {
		return
	}
	m := to - from
	for i := r.steps - 1; i >= 0 && rt.Done(r.ctx) == nil; i-- {
		t := r.at(i)
		all := r.gatesOf(t)[from*r.gates:]
		dk, dh := r.dk[(t*r.batch+from)*hidden:][:m*hidden], r.h[from*hidden:to*hidden]
		for n := from; n < to; n++ {
			gates, dh, ok := r.row(t, n)
			at := (t*r.batch + n) * hidden
			kept := r.dk[at:][:hidden]
			if !ok {
				clear(gates)
				clear(kept)
				continue
			}
			if r.dy != nil {
				Add(dh, dh, r.dy[at:][:hidden])
			}
			r.cell(gates, r.before[at:][:hidden], kept, dh, fused)
		}
		if r.linear {
			addProduct(dh, dk, r.candidate, dh, m, hidden, hidden, hidden, hidden, i%2 != 0)
		} else {
			clear(dk)
			addProduct(dk, all[2*hidden:], r.candidate, dk, m, hidden, hidden, r.gates, hidden, i%2 != 0)
			for n := from; n < to; n++ {
				if gates, dh, ok := r.row(t, n); ok {
					at := (t*r.batch + n) * hidden
					r.reset(gates[hidden:2*hidden], r.before[at:][:hidden], r.dk[at:][:hidden], dh, fused)
				}
			}
		}
		addProduct(dh, all, r.weights, dh, m, hidden, 2*hidden, r.gates, hidden, i%2 != 0)
	}
}

// cell computes a part of the backward pass of one step of a GRU, for one sequence. It replaces
// update and n, in the symbols of [GRU], by the gradients of the operands of f and g. h is the state
// before the step. dh is the gradient of the state after the step; it becomes the part of h's
// gradient that comes through the update gate. If r.linear is true, cell also replaces reset by the
// gradient of the operand of f, and the kept product by its gradient. If fused is true, assembly
// computes this.
func (r *gruGrad[T]) cell(gates, h, kept, dh []T, fused bool) {
	update, reset, next := gates[:r.hidden], gates[r.hidden:2*r.hidden], gates[2*r.hidden:]
	if fused {
		gruGradCell(update, reset, next, h, kept, dh, r.linear)
		return
	}
	for j, v := range h {
		z, n := update[j], next[j]
		pass := T(dh[j] * z)
		d := (dh[j] - pass) * (1 - T(n*n))
		update[j], next[j], dh[j] = (1-z)*pass*(v-n), d, pass
		if r.linear {
			p := kept[j]
			kept[j] = d * reset[j]
			reset[j] = (1 - reset[j]) * kept[j] * p
		}
	}
}

// reset computes a part of the backward pass of one step of a GRU that is not linear, for one
// sequence. `gate` is the result of the reset gate's sigmoid; reset replaces it by the gradient of
// the sigmoid's operand. h is the state before the step, and dk is the gradient of the product
// gate·h. dh is the gradient of h; reset adds the part that comes through this product. If fused is
// true, assembly computes this.
func (r *gruGrad[T]) reset(gate, h, dk, dh []T, fused bool) {
	if fused {
		gruResetGradCell(gate, h, dk, dh)
		return
	}
	for j, v := range h {
		pass := T(dk[j] * gate[j])
		dh[j] += pass
		gate[j] = (1 - gate[j]) * pass * v
	}
}

// gruGradCell is the part of [gruGrad.cell] in assembly. T is float32.
func gruGradCell[T Float](update, reset, next, h, kept, dh []T, linear bool) {
	z, r, _ := float32s1(update, reset)
	n, b, _ := float32s1(next, h)
	k, d, _ := float32s1(kept, dh)
	if linear {
		gruLinearGradCellFast(z, r, n, b, k, d)
	} else {
		gruGradCellFast(z, n, b, d)
	}
}

// gruResetGradCell is [gruGrad.reset] in assembly. T is float32.
func gruResetGradCell[T Float](gate, h, dk, dh []T) {
	g, b, _ := float32s1(gate, h)
	k, d, _ := float32s1(dk, dh)
	gruResetGradCellFast(g, b, k, d)
}
