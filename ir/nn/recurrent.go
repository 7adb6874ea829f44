package nn

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// RNN is a stack of simple recurrent layers, h' = tanh(W·x + b + R·h + c). x is the input of a step, h the state
// before it and h' the state after it. W and R are weights, and b and c are biases.
type RNN struct {
	// Weights have PyTorch's names and layouts: "weight_ih_l0", "bias_hh_l1_reverse" and so on.
	Weights map[string]Param `nn:"."`
	cells   cells
}

// LSTM is a stack of long short-term memory layers.
type LSTM struct {
	// Weights have PyTorch's names and layouts. The first axis holds the four gates: input, forget,
	// cell, output.
	Weights map[string]Param `nn:"."`
	cells   cells
}

// GRU is a stack of gated recurrent unit layers.
type GRU struct {
	// Weights have PyTorch's names and layouts. The first axis holds the three gates: reset,
	// update, new.
	Weights map[string]Param `nn:"."`
	cells   cells
}

type cells struct {
	recurrentOptions
	in, hidden int
	// order gives the position in the weights of each gate of the operator.
	order []int
}

// newCells returns the weights and the settings of recurrent layers. The weights are initialised uniformly in
// ±1/√hidden. order gives, for each gate of the operator, the position of this gate in the weights.
func newCells(in, hidden int, order []int, options []RecurrentOption) (map[string]Param, cells) {
	c := cells{recurrentOptions{layers: 1, nonlinearity: "tanh"}, in, hidden, order}
	for _, o := range options {
		o.recurrent(&c.recurrentOptions)
	}
	weights := map[string]Param{}
	rows := len(order) * hidden
	for l := range c.layers {
		width := in
		if l > 0 {
			width = hidden * len(c.suffixes())
		}
		for _, suffix := range c.suffixes() {
			name := fmt.Sprintf("l%d%s", l, suffix)
			weights["weight_ih_"+name] = NewParam(fanIn(hidden), rows, width)
			weights["weight_hh_"+name] = NewParam(fanIn(hidden), rows, hidden)
			if !c.noBias {
				weights["bias_ih_"+name] = NewParam(fanIn(hidden), rows)
				weights["bias_hh_"+name] = NewParam(fanIn(hidden), rows)
			}
		}
	}
	return weights, c
}

func (c cells) suffixes() []string {
	if c.bidirectional {
		return []string{"", "_reverse"}
	}
	return []string{""}
}

// NewRNN returns an RNN from `in` to `hidden` features. Its weights and biases are initialised uniformly in [−k,
// k], where k = 1/√hidden.
func NewRNN(in, hidden int, options ...RecurrentOption) RNN {
	w, c := newCells(in, hidden, []int{0}, options)
	if c.nonlinearity != "tanh" && c.nonlinearity != "relu" {
		fail("unknown nonlinearity %q", c.nonlinearity)
	}
	return RNN{w, c}
}

// NewLSTM returns an LSTM from `in` to `hidden` features, initialised as [NewRNN] does.
func NewLSTM(in, hidden int, options ...RecurrentOption) LSTM {
	w, c := newCells(in, hidden, []int{0, 3, 1, 2}, options)
	return LSTM{w, c}
}

// NewGRU returns a GRU from `in` to `hidden` features, initialised as [NewRNN] does.
func NewGRU(in, hidden int, options ...RecurrentOption) GRU {
	w, c := newCells(in, hidden, []int{1, 0, 2}, options)
	return GRU{w, c}
}

func (c cells) unmade(constructor string) error {
	if c.order == nil {
		return fmt.Errorf("use nn.%s", constructor)
	}
	return nil
}

func (r RNN) check() error  { return r.cells.unmade("NewRNN") }
func (l LSTM) check() error { return l.cells.unmade("NewLSTM") }
func (g GRU) check() error  { return g.cells.unmade("NewGRU") }

// Forward runs the layers over x, [S, N, in] for S steps of N sequences, or [N, S, in] with [BatchFirst]. h is the
// initial state, [layers·directions, N, hidden]; the zero Value means zeros. y holds the state of the last layer
// after each step, [S, N, directions·hidden], or [N, S, directions·hidden] with [BatchFirst]. last holds the final
// states in the shape of h.
func (r RNN) Forward(x, h Value) (y, last Value) {
	required(r)
	y, states := r.cells.run(x, r.Weights, []Value{h}, func(o op.Recurrent) ir.Op { return op.RNN{Recurrent: o} }, []string{r.cells.nonlinearity})
	return y, states[0]
}

// Forward runs the layers over x. h and c are the initial hidden and cell states; the zero Value means zeros. y holds
// the hidden state after each step. lastH and lastC are the final hidden and cell states. The shapes are those of
// [RNN.Forward], and c and lastC have the shape of h.
func (l LSTM) Forward(x, h, c Value) (y, lastH, lastC Value) {
	required(l)
	y, states := l.cells.run(x, l.Weights, []Value{h, c}, func(o op.Recurrent) ir.Op { return op.LSTM{Recurrent: o, InputForget: l.cells.inputForget} }, []string{"sigmoid", "tanh", "tanh"})
	return y, states[0], states[1]
}

// Forward runs the layers over x. The operands and the results have the same meaning as in [RNN.Forward].
func (g GRU) Forward(x, h Value) (y, last Value) {
	required(g)
	y, states := g.cells.run(x, g.Weights, []Value{h}, func(o op.Recurrent) ir.Op { return op.GRU{Recurrent: o, LinearBeforeReset: !g.cells.resetBefore} }, []string{"sigmoid", "tanh"})
	return y, states[0]
}

// run applies the operator once for each layer. states are the initial states, such as h and c; a zero Value means
// zeros. functions are the activations of one direction. run returns the output of the last layer, and the final
// states in the order of states.
func (c cells) run(x Value, weights map[string]Param, states []Value, operator func(op.Recurrent) ir.Op, functions []string) (Value, []Value) {
	if x.Rank() != 3 || !x.Dim(2).Equal(c.in) {
		weights["weight_ih_l0"].failAt("input %s, layer expects rank 3 with %d features", x.typ(), c.in)
	}
	directions := len(c.suffixes())
	o := op.Recurrent{Direction: "forward", Activations: slices.Repeat(functions, directions), Clip: c.clip}
	switch {
	case c.bidirectional && c.reversed:
		fail("both Bidirectional and Reversed")
	case c.bidirectional:
		o.Direction = "bidirectional"
	case c.reversed:
		o.Direction = "reverse"
	}
	o.Alphas, o.Betas = make([]float64, len(o.Activations)), make([]float64, len(o.Activations))
	if c.batchFirst {
		x = x.Transpose(0, 1)
	}
	last := make([][]Value, len(states))
	for l := range c.layers {
		args := []Value{x, c.stacked(weights, "weight_ih", l), c.stacked(weights, "weight_hh", l), {}, {}}
		if !c.noBias {
			args[3] = Concat(1, c.stacked(weights, "bias_ih", l), c.stacked(weights, "bias_hh", l))
		}
		for _, s := range states {
			if s.Valid() {
				s = s.Narrow(0, l*directions, directions)
			}
			args = append(args, s)
		}
		out := many(operator(o), args...)
		// [S, D, N, H] becomes [S, N, D·H]
		x = out[0].Permute(0, 2, 1, 3).Flatten(2, 3)
		for i := range states {
			last[i] = append(last[i], out[1+i])
		}
		if c.dropout > 0 && l < c.layers-1 {
			x = NewDropout(c.dropout).Forward(x)
		}
	}
	for i, list := range last {
		states[i] = Concat(0, list...)
	}
	if c.batchFirst {
		x = x.Transpose(0, 1)
	}
	return x, states
}

// stacked returns the weights of a layer whose names begin with `kind`, such as "weight_ih". It stacks the weights
// of the directions along a new first axis, and puts the gates in the operator's order.
func (c cells) stacked(weights map[string]Param, kind string, layer int) Value {
	var rows []Value
	for _, suffix := range c.suffixes() {
		w := weights[fmt.Sprintf("%s_l%d%s", kind, layer, suffix)].Value()
		if len(c.order) > 1 {
			gates := make([]Value, len(c.order))
			for i, g := range c.order {
				gates[i] = w.Narrow(0, g*c.hidden, c.hidden)
			}
			w = Concat(0, gates...)
		}
		rows = append(rows, w)
	}
	return Stack(0, rows...)
}
