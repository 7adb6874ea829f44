package cpu

import "fmt"

// Activation names a function of recurrent layers in small letters: affine, elu,
// hardsigmoid, leakyrelu, relu, scaledtanh, sigmoid, softplus, softsign, tanh or
// thresholdedrelu.
type Activation string

// activate applies a function with its parameters to x.
func activate[T Float](x []T, f Activation, alpha, beta float64) {
	a, b := T(alpha), T(beta)
	switch f {
	case "affine":
		for i, v := range x {
			x[i] = T(a*v) + b
		}
	case "elu":
		Elu(x, x, a)
	case "hardsigmoid":
		HardSigmoid(x, x, a, b)
	case "leakyrelu":
		LeakyRelu(x, x, a)
	case "relu":
		Relu(x, x)
	case "scaledtanh":
		MulScalar(x, x, b)
		Tanh(x, x)
		MulScalar(x, x, a)
	case "sigmoid":
		Sigmoid(x, x)
	case "softplus":
		Softplus(x, x)
	case "softsign":
		Softsign(x, x)
	case "tanh":
		Tanh(x, x)
	case "thresholdedrelu":
		for i, v := range x {
			if v < a {
				x[i] = 0
			}
		}
	default:
		panic("cpu: unknown activation " + f)
	}
}

// bound limits the operands of a gate's function to ±clip, unless that is 0.
func bound[T Float](x []T, clip float64) {
	if clip > 0 {
		Clip(x, x, T(-clip), T(clip))
	}
}

// recurrence is a recurrent layer in one direction under way: its results, and the
// extents that its kernels have in common.
type recurrence[T Float] struct {
	steps, batch, hidden int
	gates                int // elements of the projected x for a step
	reverse              bool
	lens                 []int32
	y, h, x, scratch     []T
}

// start checks the memory and puts the initial state, zeros when it is nil, into
// h.
func (r *recurrence[T]) start(initial []T) error {
	if r.lens != nil {
		r.lens = trim(r.lens, r.batch)
		for n, l := range r.lens {
			if l < 0 || int(l) > r.steps {
				return fmt.Errorf("sequence lengths: element %d is %d, 0 to %d expected", n, l, r.steps)
			}
		}
	}
	r.y = trim(r.y, volume(r.steps, r.batch, r.hidden))
	r.x = trim(r.x, volume(r.steps, r.batch, r.gates))
	r.scratch = trim(r.scratch, volume(r.batch, r.gates))
	r.h = trim(r.h, volume(r.batch, r.hidden))
	begin(r.h, initial)
	return nil
}

// begin puts an initial state, zeros when it is nil, into a state.
func begin[T Float](state, initial []T) {
	if initial == nil {
		clear(state)
		return
	}
	copy(state, trim(initial, len(state)))
}

// at returns the step that is done i-th.
func (r *recurrence[T]) at(i int) int {
	if r.reverse {
		return r.steps - 1 - i
	}
	return i
}

// row returns the gates of a sequence at step t, and its state; ok is false beyond
// the sequence's end.
func (r *recurrence[T]) row(t, n int) (gates, h []T, ok bool) {
	gates = r.scratch[n*r.gates:][:r.gates]
	return gates, r.h[n*r.hidden:][:r.hidden], r.lens == nil || t < int(r.lens[n])
}

// store copies a sequence's state after step t to the result, or zeros beyond the
// sequence's end.
func (r *recurrence[T]) store(t, n int, ok bool) {
	to := r.y[(t*r.batch+n)*r.hidden:][:r.hidden]
	if !ok {
		clear(to)
		return
	}
	copy(to, r.h[n*r.hidden:])
}

// blank clears the last state of sequences without steps.
func (r *recurrence[T]) blank(state []T) {
	for n := range r.batch {
		if r.steps == 0 || r.lens != nil && r.lens[n] == 0 {
			clear(state[n*r.hidden:][:r.hidden])
		}
	}
}

// product computes columns first to first+n of the gates of step t: the projected
// x plus a, [batch, hidden], times recurrent weights.
func (r *recurrence[T]) product(t int, a, weights []T, first, n int) {
	length := (r.batch-1)*r.gates + n
	if r.batch == 0 || n == 0 {
		return
	}
	x := r.x[t*r.batch*r.gates+first:][:length]
	addProduct(r.scratch[first:][:length], a, weights, x, r.batch, n, r.hidden, r.gates)
}

// addProduct computes dst = x + a·weights, where dst and x have m rows of n
// elements, stride apart, and a is [m, k]. The weights are panels in float32, the
// matrix [k, n] in float64.
func addProduct[T Float](dst, a, weights, x []T, m, n, k, stride int) {
	if d, ok := any(dst).([]float32); ok {
		shape := MatMulShape{M: m, N: n, K: k, LDA: k, LDC: stride, Batch: 1}
		ep := Epilogue{Residual: any(x).([]float32)}
		MatMul(d, any(a).([]float32), any(weights).([]float32), &shape, &ep)
		return
	}
	for i := range m {
		to := dst[i*stride:][:n]
		copy(to, x[i*stride:])
		for l, v := range a[i*k:][:k] {
			for j, w := range weights[l*n:][:n] {
				to[j] += T(v * w)
			}
		}
	}
}

// RNN runs a layer of simple recurrent cells over steps of x, which the input
// weights and biases have been applied to: x and y are [steps, batch, hidden]. From
// the state h0, [batch, hidden], zeros when it is nil, it computes
// h = f(x + h·weights), y being h after each step; the last h of a sequence without
// steps is zero. The weights are panels as [PackPanels] makes them in float32, the
// matrix [hidden, hidden] in float64. reverse begins with the last step. lens holds
// the lengths of the sequences; nil is steps for all, and y is zero beyond them. The
// operands of f are limited to ±clip unless that is 0. scratch is [batch, hidden].
// The error is that of a length out of range (ONNX RNN).
func RNN[T Float](y, h, x, weights []T, lens []int32, h0, scratch []T, steps, batch, hidden int, reverse bool, clip float64, f Activation, alpha, beta float64) error {
	r := recurrence[T]{steps: steps, batch: batch, hidden: hidden, gates: hidden, reverse: reverse, lens: lens, y: y, h: h, x: x, scratch: scratch}
	if err := r.start(h0); err != nil {
		return err
	}
	for i := range steps {
		t := r.at(i)
		r.product(t, r.h, weights, 0, hidden)
		for n := range batch {
			gates, state, ok := r.row(t, n)
			if ok {
				bound(gates, clip)
				activate(gates, f, alpha, beta)
				copy(state, gates)
			}
			r.store(t, n, ok)
		}
	}
	r.blank(r.h)
	return nil
}

// LSTM runs a layer of long short-term memory over steps of x as [RNN] does, x
// being [steps, batch, 4·hidden] with the gates i, o, f, c, c0 and c the state of
// the cell before and after, peepholes [3·hidden] for i, o, f or nil, and scratch
// [batch, 4·hidden]. coupled makes f = 1 − i. f is applied to the gates but c, g to
// that, and e to the cell (ONNX LSTM).
func LSTM[T Float](y, h, c, x, weights []T, lens []int32, h0, c0, peepholes, scratch []T, steps, batch, hidden int, reverse, coupled bool, clip float64, f Activation, fAlpha, fBeta float64, g Activation, gAlpha, gBeta float64, e Activation, eAlpha, eBeta float64) error {
	r := recurrence[T]{steps: steps, batch: batch, hidden: hidden, gates: 4 * hidden, reverse: reverse, lens: lens, y: y, h: h, x: x, scratch: scratch}
	if err := r.start(h0); err != nil {
		return err
	}
	c = trim(c, volume(batch, hidden))
	begin(c, c0)
	if peepholes != nil {
		peepholes = trim(peepholes, volume(3, hidden))
	}
	for i := range steps {
		t := r.at(i)
		r.product(t, r.h, weights, 0, r.gates)
		for n := range batch {
			gates, state, ok := r.row(t, n)
			if !ok {
				r.store(t, n, ok)
				continue
			}
			memory := c[n*hidden:][:hidden]
			in, out, forget, next := gates[:hidden], gates[hidden:2*hidden], gates[2*hidden:3*hidden], gates[3*hidden:]
			early := gates[:3*hidden] // what f is applied to at once
			if peepholes != nil {
				peep(in, memory, peepholes[:hidden])
				peep(forget, memory, peepholes[2*hidden:])
				bound(in, clip)
				activate(in, f, fAlpha, fBeta)
				early = forget
			}
			bound(early, clip)
			activate(early, f, fAlpha, fBeta)
			bound(next, clip)
			activate(next, g, gAlpha, gBeta)
			if coupled {
				ScalarSub(forget, 1, in)
			}
			for j, v := range memory {
				memory[j] = T(forget[j]*v) + T(in[j]*next[j])
			}
			if peepholes != nil {
				peep(out, memory, peepholes[hidden:2*hidden])
				bound(out, clip)
				activate(out, f, fAlpha, fBeta)
			}
			copy(state, memory)
			activate(state, e, eAlpha, eBeta)
			Mul(state, state, out)
			r.store(t, n, ok)
		}
	}
	r.blank(r.h)
	r.blank(c)
	return nil
}

// peep adds the products of the cell's state and the weights of a gate's peephole.
func peep[T Float](gate, memory, weights []T) {
	for j, v := range memory {
		gate[j] += T(v * weights[j])
	}
}

// GRU runs a layer of gated recurrent units over steps of x as [RNN] does, x being
// [steps, batch, 3·hidden] with the gates z, r, h. weights are the recurrent ones
// of z and r, candidate those of h. linear applies r after candidate and its bias,
// [hidden] or nil. scratch is [batch, 3·hidden], spare [batch, hidden]. f is applied
// to z and r, g to h (ONNX GRU).
func GRU[T Float](y, h, x, weights, candidate []T, lens []int32, h0, bias, scratch, spare []T, steps, batch, hidden int, reverse, linear bool, clip float64, f Activation, fAlpha, fBeta float64, g Activation, gAlpha, gBeta float64) error {
	r := recurrence[T]{steps: steps, batch: batch, hidden: hidden, gates: 3 * hidden, reverse: reverse, lens: lens, y: y, h: h, x: x, scratch: scratch}
	if err := r.start(h0); err != nil {
		return err
	}
	spare = trim(spare, volume(batch, hidden))
	for i := range steps {
		t := r.at(i)
		r.product(t, r.h, weights, 0, 2*hidden)
		for n := range batch {
			gates, state, _ := r.row(t, n)
			bound(gates[:2*hidden], clip)
			activate(gates[:2*hidden], f, fAlpha, fBeta)
			kept := spare[n*hidden:][:hidden]
			switch {
			case !linear:
				Mul(kept, gates[hidden:2*hidden], state)
			case bias == nil:
				clear(kept)
			default:
				copy(kept, trim(bias, hidden))
			}
		}
		if linear {
			if batch > 0 && hidden > 0 {
				addProduct(spare, r.h, candidate, spare, batch, hidden, hidden, hidden)
			}
		} else {
			r.product(t, spare, candidate, 2*hidden, hidden)
		}
		for n := range batch {
			gates, state, ok := r.row(t, n)
			if ok {
				update, reset, next := gates[:hidden], gates[hidden:2*hidden], gates[2*hidden:]
				if linear {
					x := r.x[(t*batch+n)*r.gates+2*hidden:][:hidden]
					for j, v := range spare[n*hidden:][:hidden] {
						next[j] = x[j] + T(reset[j]*v)
					}
				}
				bound(next, clip)
				activate(next, g, gAlpha, gBeta)
				for j, v := range state {
					state[j] = T((1-update[j])*next[j]) + T(update[j]*v)
				}
			}
			r.store(t, n, ok)
		}
	}
	r.blank(r.h)
	return nil
}
