package cpu

import (
	"context"
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// Activation is the name of a function of recurrent layers in lower case: affine, elu, hardsigmoid,
// leakyrelu, relu, scaledtanh, sigmoid, softplus, softsign, tanh or thresholdedrelu.
type Activation string

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

// bound clamps the elements of x to ±clip, unless clip is 0. The caller then applies a gate's
// function to them.
func bound[T Float](x []T, clip float64) {
	if clip > 0 {
		Clip(x, x, T(-clip), T(clip))
	}
}

type function struct {
	name        Activation
	alpha, beta float64
}

// gate applies f to the elements of x, in place. It first clamps them to ±r.clip, unless r.clip is
// 0.
func (r *recurrence[T]) gate(x []T, f function) {
	bound(x, r.clip)
	activate(x, f.name, f.alpha, f.beta)
}

// recurrence is the state of a running recurrent layer, in one direction. It has the fields that
// all kinds of layers need.
type recurrence[T Float] struct {
	ctx                  context.Context // ends the call early; may be nil
	steps, batch, hidden int
	gates                int // elements of the projected x for one step of one sequence
	reverse              bool
	clip                 float64
	lens                 []int32
	y, h, x, scratch     []T
	weights              []T
	keeps                bool // scratch has room for the gates of all steps
}

// start sets h to `initial`, or to zeros if initial is nil. It returns an error if the length of a
// sequence is out of range. It panics if a slice is too short.
func (r *recurrence[T]) start(initial []T) error {
	if err := r.checkLengths(); err != nil {
		return err
	}
	r.y = trim(r.y, volume(r.steps, r.batch, r.hidden))
	r.x = trim(r.x, volume(r.steps, r.batch, r.gates))
	if r.keeps {
		r.scratch = trim(r.scratch, len(r.x))
	} else {
		r.scratch = trim(r.scratch, volume(r.batch, r.gates))
	}
	r.h = trim(r.h, volume(r.batch, r.hidden))
	begin(r.h, initial)
	return nil
}

func (r *recurrence[T]) checkLengths() error {
	if r.lens != nil {
		r.lens = trim(r.lens, r.batch)
	}
	for n, l := range r.lens {
		if l < 0 || int(l) > r.steps {
			return fmt.Errorf("sequence lengths: element %d is %d, 0 to %d expected", n, l, r.steps)
		}
	}
	return nil
}

func begin[T Float](state, initial []T) {
	if initial == nil {
		clear(state)
		return
	}
	copy(state, trim(initial, len(state)))
}

// nearWeights is a number of elements of recurrent weights. This many elements stay in a core's own
// cache between steps. If there are more, sequences are not divided among workers.
const nearWeights = 256 << 10

// If the number of sequences is a multiple of `together`, and the number of columns a multiple of
// `abreast`, each element of a product is one running sum. The order of its terms does not then
// depend on how the work is divided.
const (
	together = 4
	abreast  = 32
)

// parts returns the number of parts into which the sequences are divided among workers. It returns
// 1 in two cases:
//
//   - The weights exceed a core's cache. Workers then divide the columns of each product instead.
//   - Tiles of sequences or columns are incomplete. Incomplete tiles are summed in another order.
func (r *recurrence[T]) parts(columns int) int {
	weights := volume(r.hidden, r.gates)
	if r.batch%together != 0 || columns%abreast != 0 || weights > nearWeights {
		return 1
	}
	return min(r.batch/together, partsFor(int64(volume(r.steps, r.batch, weights)), int64(volume(r.steps, 4, weights))))
}

// share returns the range [from, to) of the sequences of part i. There are `parts` parts.
func (r *recurrence[T]) share(i, parts int) (from, to int) {
	if parts == 1 {
		return 0, r.batch
	}
	from, to = portion(r.batch/together, i, parts)
	return from * together, to * together
}

func (r *recurrence[T]) at(i int) int {
	if r.reverse {
		return r.steps - 1 - i
	}
	return i
}

// row returns the gates and the state of sequence n at step t. ok is false after the sequence's
// end.
func (r *recurrence[T]) row(t, n int) (gates, h []T, ok bool) {
	gates = r.gatesOf(t)[n*r.gates:][:r.gates]
	return gates, r.h[n*r.hidden:][:r.hidden], r.within(t, n)
}

// gatesOf returns the gates of all sequences at step t.
func (r *recurrence[T]) gatesOf(t int) []T {
	if r.keeps {
		return r.scratch[t*r.batch*r.gates:]
	}
	return r.scratch
}

func (r *recurrence[T]) within(t, n int) bool { return r.lens == nil || t < int(r.lens[n]) }

// store copies the state of sequence n after step t to y. If ok is false, the sequence has ended,
// and store writes zeros.
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

// fused reports whether assembly computes a step. `usual` says whether the layer has the default
// functions and options, which assembly requires.
func (r *recurrence[T]) fused(usual bool) bool {
	_, ok := any(r.h).([]float32)
	return ok && usual && r.clip == 0 && level != Generic
}

// product computes some gates of the i-th step: columns [first, first+n) of the gates of sequences
// [from, to). The gates are r.x + a·weights. r.x already contains the products of the layer's
// input. a is [batch, hidden].
func (r *recurrence[T]) product(i, from, to int, a, weights []T, first, n int) {
	if from == to || n == 0 {
		return
	}
	length, t := (to-from-1)*r.gates+n, r.at(i)
	x := r.x[(t*r.batch+from)*r.gates+first:][:length]
	addProduct(r.gatesOf(t)[from*r.gates+first:][:length], a[from*r.hidden:], weights, x, to-from, n, r.hidden, r.hidden, r.gates, i%2 != 0)
}

// farWeights is a number of elements. Weights that do not fit the cache are read in groups of
// columns, each with about this many elements. Every second step reads the groups from last to
// first.
const farWeights = 384 << 10

// addProduct computes dst = x + a·weights. dst and x have m rows of n elements, and their rows are
// `stride` elements apart. a has m rows of k elements, and its rows are lda elements apart. The
// weights are panels if T is float32, and a matrix [k, n] if T is float64.
//
// If `back` is true, large weights are read from the last column to the first. A caller sets `back`
// at every second step, because the columns that the step before read last are still in the cache.
func addProduct[T Float](dst, a, weights, x []T, m, n, k, lda, stride int, back bool) {
	d, ok := any(dst).([]float32)
	if !ok {
		for i := range m {
			to := dst[i*stride:][:n]
			copy(to, x[i*stride:])
			for l, v := range a[i*lda:][:k] {
				for j, w := range weights[l*n:][:n] {
					to[j] += T(v * w)
				}
			}
		}
		return
	}
	panels, residual := any(weights).([]float32), any(x).([]float32)
	shape := MatMulShape{M: m, K: k, LDA: lda, LDC: stride, Batch: 1}
	turns := 1
	if len(panels) > nearWeights {
		turns = ceil(n*k, farWeights)
	}
	columns := ceil(ceil(n, turns), 64) * 64
	for i := range turns {
		if back {
			i = turns - 1 - i
		}
		if from := i * columns; from < n {
			shape.N = min(columns, n-from)
			ep := Epilogue{Residual: residual[from:]}
			MatMul(d[from:], any(a).([]float32), panels[from*k:], &shape, &ep)
		}
	}
}

// RNN runs a layer of simple recurrent cells (ONNX RNN). Each step computes h = f(x + h·weights). x
// and y are [steps, batch, hidden]. x must already contain the products of the input and its
// weights, and the biases. y receives h after each step. h starts as h0, [batch, hidden], or as
// zeros if h0 is nil. If reverse is true, RNN starts with the last step.
//
// lens[i] is the length of sequence i; if lens is nil, every length is steps. After a sequence's
// end, y is zero. The final h of a sequence without steps is zero.
//
// If T is float32, weights are packed by [PackPanels]. If T is float64, they are the matrix
// [hidden, hidden]. alpha and beta are parameters of f. The operands of f are clamped to ±clip
// unless clip is 0. scratch is [batch, hidden].
//
// RNN returns an error for a length out of range. It checks ctx between steps. If ctx is done, it
// ends the call as [rt.EndIfDone] does, and y and h are undefined. A nil ctx is never done.
func RNN[T Float](ctx context.Context, y, h, x, weights []T, lens []int32, h0, scratch []T, steps, batch, hidden int, reverse bool, clip float64, f Activation, alpha, beta float64) error {
	r := rnn[T]{
		recurrence: recurrence[T]{ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: hidden, reverse: reverse, clip: clip, lens: lens, y: y, h: h, x: x, scratch: scratch, weights: weights},
		f:          function{f, alpha, beta},
	}
	if err := r.start(h0); err != nil {
		return err
	}
	rt.EndIfDone(ctx)
	if s, ok := any(&r).(*rnn[float32]); !ok || !rnns.run(s, r.parts(hidden)) {
		r.Part(0, 1)
	}
	rt.EndIfDone(ctx)
	r.blank(r.h)
	return nil
}

type rnn[T Float] struct {
	recurrence[T]
	f function
}

var rnns slot[rnn[float32], *rnn[float32]]

func (r *rnn[T]) Part(i, parts int) {
	from, to := r.share(i, parts)
	for i := 0; i < r.steps && rt.Done(r.ctx) == nil; i++ {
		r.product(i, from, to, r.h, r.weights, 0, r.hidden)
		t := r.at(i)
		for n := from; n < to; n++ {
			gates, state, ok := r.row(t, n)
			if ok {
				r.gate(gates, r.f)
				copy(state, gates)
			}
			r.store(t, n, ok)
		}
	}
}

// LSTM runs a layer of long short-term memory, like [RNN] (ONNX LSTM). x is [steps, batch,
// 4·hidden]: the input, output and forget gates, and the candidate. c0 is the initial cell state,
// and c the final one. Each step computes c = forget·c + input·candidate, and then h = output·e(c).
// peepholes is [3·hidden], for the input, output and forget gates, or nil. scratch is [batch,
// 4·hidden]. If coupled is true, the forget gate is 1 − the input gate. f is the activation of the
// gates, g of the candidate, and e of the cell state.
func LSTM[T Float](ctx context.Context, y, h, c, x, weights []T, lens []int32, h0, c0, peepholes, scratch []T, steps, batch, hidden int, reverse, coupled bool, clip float64, f Activation, fAlpha, fBeta float64, g Activation, gAlpha, gBeta float64, e Activation, eAlpha, eBeta float64) error {
	r := lstm[T]{
		recurrence: recurrence[T]{ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: 4 * hidden, reverse: reverse, clip: clip, lens: lens, y: y, h: h, x: x, scratch: scratch, weights: weights},
		c:          trim(c, volume(batch, hidden)), peepholes: peepholes, coupled: coupled,
		f: function{f, fAlpha, fBeta}, g: function{g, gAlpha, gBeta}, e: function{e, eAlpha, eBeta},
	}
	if peepholes != nil {
		r.peepholes = trim(peepholes, volume(3, hidden))
	}
	return r.run(h0, c0)
}

// LSTMTrace is [LSTM] with the default functions, the logistic function and tanh, that also stores
// what [LSTMGrad] needs. gates, [steps, batch, 4·hidden], receives the gates and the candidate of
// each step, after their functions. cells, [steps, batch, hidden], receives the cell state after
// each step. After a sequence's end, both are zero.
func LSTMTrace[T Float](ctx context.Context, y, h, c, gates, cells, x, weights []T, lens []int32, h0, c0 []T, steps, batch, hidden int, reverse bool) error {
	r := lstm[T]{
		recurrence: recurrence[T]{ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: 4 * hidden, reverse: reverse, lens: lens, y: y, h: h, x: x, scratch: gates, weights: weights, keeps: true},
		c:          trim(c, volume(batch, hidden)), cells: trim(cells, volume(steps, batch, hidden)),
		f: function{name: "sigmoid"}, g: function{name: "tanh"}, e: function{name: "tanh"},
	}
	return r.run(h0, c0)
}

// run computes all steps. The initial states are h0 and c0, or zeros if they are nil.
func (r *lstm[T]) run(h0, c0 []T) error {
	if err := r.start(h0); err != nil {
		return err
	}
	begin(r.c, c0)
	rt.EndIfDone(r.ctx)
	if s, ok := any(r).(*lstm[float32]); !ok || !lstms.run(s, r.parts(4*r.hidden)) {
		r.Part(0, 1)
	}
	rt.EndIfDone(r.ctx)
	r.blank(r.h)
	r.blank(r.c)
	return nil
}

type lstm[T Float] struct {
	recurrence[T]
	c, peepholes []T
	cells        []T // of all steps, if it keeps the gates
	coupled      bool
	f, g, e      function
}

var lstms slot[lstm[float32], *lstm[float32]]

func (r *lstm[T]) Part(i, parts int) {
	from, to := r.share(i, parts)
	fused := r.fused(r.peepholes == nil && !r.coupled && r.f.name == "sigmoid" && r.g.name == "tanh" && r.e.name == "tanh")
	for i := 0; i < r.steps && rt.Done(r.ctx) == nil; i++ {
		r.product(i, from, to, r.h, r.weights, 0, r.gates)
		t := r.at(i)
		for n := from; n < to; n++ {
			gates, state, ok := r.row(t, n)
			memory := r.c[n*r.hidden:][:r.hidden]
			switch {
			case ok && fused && r.keeps:
				lstmTraceCell(state, memory, gates)
			case ok && fused:
				lstmCell(state, memory, gates)
			case ok:
				r.cell(state, memory, gates)
			case r.keeps:
				clear(gates)
			}
			r.store(t, n, ok)
			if r.keeps {
				r.storeCell(t, n, ok)
			}
		}
	}
}

// lstmCell computes one step of an LSTM for one sequence, with the default functions, in assembly.
// It updates the state and the cell state, `memory`, from the gates. T must be float32.
func lstmCell[T Float](state, memory, gates []T) {
	h, c, _ := float32s1(state, memory)
	g, n := any(gates).([]float32), len(h)
	lstmCellFast(h, c, g[:n], g[n:2*n], g[2*n:3*n], g[3*n:4*n])
}

// lstmTraceCell is like [lstmCell], and also replaces the gates by the results of their functions.
func lstmTraceCell[T Float](state, memory, gates []T) {
	h, c, _ := float32s1(state, memory)
	g, n := any(gates).([]float32), len(h)
	lstmTraceCellFast(h, c, g[:n], g[n:2*n], g[2*n:3*n], g[3*n:4*n])
}

// storeCell copies the cell state of sequence n after step t to r.cells. If ok is false, the
// sequence has ended, and storeCell writes zeros.
func (r *lstm[T]) storeCell(t, n int, ok bool) {
	to := r.cells[(t*r.batch+n)*r.hidden:][:r.hidden]
	if !ok {
		clear(to)
		return
	}
	copy(to, r.c[n*r.hidden:])
}

// cell computes one step of an LSTM for one sequence. It applies the functions to the gates in
// place. It then updates the state and the cell state, `memory`. Only the functions use assembly.
func (r *lstm[T]) cell(state, memory, gates []T) {
	hidden := r.hidden
	in, out, forget, next := gates[:hidden], gates[hidden:2*hidden], gates[2*hidden:3*hidden], gates[3*hidden:]
	early := gates[:3*hidden] // the gates to which f applies together
	if r.peepholes != nil {
		peep(in, memory, r.peepholes[:hidden])
		peep(forget, memory, r.peepholes[2*hidden:])
		r.gate(in, r.f)
		early = forget
	}
	r.gate(early, r.f)
	r.gate(next, r.g)
	if r.coupled {
		ScalarSub(forget, 1, in)
	}
	for j, v := range memory {
		memory[j] = T(forget[j]*v) + T(in[j]*next[j])
	}
	if r.peepholes != nil {
		peep(out, memory, r.peepholes[hidden:2*hidden])
		r.gate(out, r.f)
	}
	copy(state, memory)
	activate(state, r.e.name, r.e.alpha, r.e.beta)
	Mul(state, state, out)
}

// peep adds memory[j]·weights[j], the contribution of a peephole, to each gate[j].
func peep[T Float](gate, memory, weights []T) {
	for j, v := range memory {
		gate[j] += T(v * weights[j])
	}
}

// GRU runs a layer of gated recurrent units, like [RNN] (ONNX GRU). x is [steps, batch, 3·hidden]:
// xu for the update gate, xr for the reset gate, and xn for the candidate n. Each step computes
//
//	update, reset = f([xu, xr] + h·weights)
//	n = g(xn + (reset∘h)·candidate), or g(xn + reset∘(h·candidate + bias)) if linear is true
//	h = update∘h + (1 − update)∘n
//
// where ∘ multiplies element by element. `weights` and `candidate` are the recurrent weights of the
// gates and of n. bias is [hidden] or nil. scratch is [batch, 3·hidden], and spare is [batch,
// hidden].
func GRU[T Float](ctx context.Context, y, h, x, weights, candidate []T, lens []int32, h0, bias, scratch, spare []T, steps, batch, hidden int, reverse, linear bool, clip float64, f Activation, fAlpha, fBeta float64, g Activation, gAlpha, gBeta float64) error {
	r := gru[T]{
		recurrence: recurrence[T]{ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: 3 * hidden, reverse: reverse, clip: clip, lens: lens, y: y, h: h, x: x, scratch: scratch, weights: weights},
		candidate:  candidate, bias: bias, spare: trim(spare, volume(batch, hidden)), linear: linear,
		f: function{f, fAlpha, fBeta}, g: function{g, gAlpha, gBeta},
	}
	return r.run(h0)
}

// GRUTrace is [GRU] with the default functions, the logistic function and tanh, that also stores
// what [GRUGrad] needs. gates, [steps, batch, 3·hidden], receives update, reset and n of each step,
// in the symbols of GRU. kept, [steps, batch, hidden], receives h·candidate + bias if linear is
// true, and otherwise reset∘h, where h is the state before the step. After a sequence's end, gates
// and kept are zero.
func GRUTrace[T Float](ctx context.Context, y, h, gates, kept, x, weights, candidate []T, lens []int32, h0, bias []T, steps, batch, hidden int, reverse, linear bool) error {
	r := gru[T]{
		recurrence: recurrence[T]{ctx: ctx, steps: steps, batch: batch, hidden: hidden, gates: 3 * hidden, reverse: reverse, lens: lens, y: y, h: h, x: x, scratch: gates, weights: weights, keeps: true},
		candidate:  candidate, bias: bias, spare: trim(kept, volume(steps, batch, hidden)), linear: linear,
		f: function{name: "sigmoid"}, g: function{name: "tanh"},
	}
	return r.run(h0)
}

// run computes all steps. The initial state is h0, or zeros if it is nil.
func (r *gru[T]) run(h0 []T) error {
	if err := r.start(h0); err != nil {
		return err
	}
	if r.bias != nil {
		r.bias = trim(r.bias, r.hidden)
	}
	rt.EndIfDone(r.ctx)
	if s, ok := any(r).(*gru[float32]); !ok || !grus.run(s, r.parts(r.hidden)) {
		r.Part(0, 1)
	}
	rt.EndIfDone(r.ctx)
	r.blank(r.h)
	return nil
}

type gru[T Float] struct {
	recurrence[T]
	candidate, bias, spare []T
	linear                 bool
	f, g                   function
}

var grus slot[gru[float32], *gru[float32]]

func (r *gru[T]) Part(i, parts int) {
	from, to := r.share(i, parts)
	fused := !r.keeps && r.fused(r.f.name == "sigmoid" && r.g.name == "tanh")
	hidden := r.hidden
	for i := 0; i < r.steps && rt.Done(r.ctx) == nil; i++ {
		t := r.at(i)
		all := r.spare
		if r.keeps {
			all = all[t*r.batch*hidden:]
		}
		r.product(i, from, to, r.h, r.weights, 0, 2*hidden)
		for n := from; n < to; n++ {
			gates, state, _ := r.row(t, n)
			r.reset(all[n*hidden:][:hidden], gates, state, fused)
		}
		switch {
		case !r.linear:
			r.product(i, from, to, all, r.candidate, 2*hidden, hidden)
		case from < to && hidden > 0:
			spare := all[from*hidden : to*hidden]
			addProduct(spare, r.h[from*hidden:], r.candidate, spare, to-from, hidden, hidden, hidden, hidden, i%2 != 0)
		}
		for n := from; n < to; n++ {
			gates, state, ok := r.row(t, n)
			spare, x := all[n*hidden:][:hidden], r.x[(t*r.batch+n)*r.gates+2*hidden:][:hidden]
			switch {
			case ok && fused:
				gruCell(state, gates, x, spare, r.linear)
			case ok:
				r.cell(state, gates, x, spare)
			case r.keeps:
				clear(gates)
				clear(spare)
			}
			r.store(t, n, ok)
		}
	}
}

// reset prepares spare for the product with r.candidate, for one sequence. If r.linear is true,
// spare becomes the bias, or zeros, to which the product is added. Otherwise spare becomes an
// operand of the product: the reset gate times state.
//
// If fused is false, reset also applies r.f to the update and reset gates. If fused is true,
// [gruCell] does this later; reset then applies r.f only to the reset gate, and only if r.linear is
// false.
func (r *gru[T]) reset(spare, gates, state []T, fused bool) {
	reset := gates[r.hidden : 2*r.hidden]
	switch {
	case !fused:
		r.gate(gates[:2*r.hidden], r.f)
	case !r.linear:
		r.gate(reset, r.f)
	}
	switch {
	case !r.linear:
		Mul(spare, reset, state)
	case r.bias == nil:
		clear(spare)
	default:
		copy(spare, r.bias)
	}
}

// gruCell computes one step of a GRU for one sequence, with the default functions, in assembly. It
// updates the state from the gates. T must be float32. If linear is true, it also uses x, which is
// xn of [GRU], and `product`, which is h·candidate + bias.
func gruCell[T Float](state, gates, x, product []T, linear bool) {
	h, p, _ := float32s1(state, product)
	g, n := any(gates).([]float32), len(h)
	if linear {
		gruLinearCellFast(h, g[:n], g[n:2*n], any(x).([]float32), p)
	} else {
		gruCellFast(h, g[:n], g[2*n:3*n])
	}
}

// cell computes one step of a GRU for one sequence, with the functions of r: it updates the state from
// the gates. [gru.reset] must have applied r.f to the update and reset gates before. If r.linear is
// true, cell also reads x, which is xn of [GRU], and `product`, which is h·candidate + bias. Only r.g
// may run in assembly.
func (r *gru[T]) cell(state, gates, x, product []T) {
	update, reset, next := gates[:r.hidden], gates[r.hidden:2*r.hidden], gates[2*r.hidden:]
	if r.linear {
		for j, v := range product {
			next[j] = x[j] + T(reset[j]*v)
		}
	}
	r.gate(next, r.g)
	for j, v := range state {
		state[j] = T((1-update[j])*next[j]) + T(update[j]*v)
	}
}
