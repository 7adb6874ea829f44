package nn

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// RNN is layers of simple recurrent cells, h' = tanh(W·x + b + R·h + c).
type RNN struct {
	// Weights have PyTorch's names, "weight_ih_l0", "bias_hh_l1_reverse" and so on, and
	// its layouts.
	Weights map[string]Param `nn:"."`
	cells   cells
}

// LSTM is layers of long short-term memory.
type LSTM struct {
	// Weights have PyTorch's names and layouts: four gates, input, forget, cell, output,
	// one after the other along the first axis.
	Weights map[string]Param `nn:"."`
	cells   cells
}

// GRU is layers of gated recurrent units.
type GRU struct {
	// Weights have PyTorch's names and layouts: three gates, reset, update, new, one
	// after the other along the first axis.
	Weights map[string]Param `nn:"."`
	cells   cells
}

// cells is what recurrent layers have in common.
type cells struct {
	recurrentOptions
	in, hidden int
	// order is where the gates of the operator stand among those of the weights.
	order []int
}

// newCells returns the layers and their weights, which begin uniform within 1/√hidden.
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

// suffixes are the ends of the names of the weights of each direction.
func (c cells) suffixes() []string {
	if c.bidirectional {
		return []string{"", "_reverse"}
	}
	return []string{""}
}

// NewRNN returns recurrent layers from in to hidden features.
func NewRNN(in, hidden int, options ...RecurrentOption) RNN {
	w, c := newCells(in, hidden, []int{0}, options)
	if c.nonlinearity != "tanh" && c.nonlinearity != "relu" {
		fail("unknown nonlinearity %q", c.nonlinearity)
	}
	return RNN{w, c}
}

// NewLSTM returns recurrent layers from in to hidden features.
func NewLSTM(in, hidden int, options ...RecurrentOption) LSTM {
	w, c := newCells(in, hidden, []int{0, 3, 1, 2}, options)
	return LSTM{w, c}
}

// NewGRU returns recurrent layers from in to hidden features.
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

// Forward runs the layers over x, [S, N, in] or with [BatchFirst] [N, S, in], from the
// states h, [layers·directions, N, hidden], or zeros where h is none. It returns the
// states after each step, […, directions·hidden], and the last ones.
func (r RNN) Forward(x, h Value) (y, last Value) {
	required(r)
	y, states := r.cells.run(x, r.Weights, []Value{h}, func(o op.Recurrent) ir.Op { return op.RNN{Recurrent: o} }, []string{r.cells.nonlinearity})
	return y, states[0]
}

// Forward runs the layers as [RNN.Forward] does; c is the state of the cells.
func (l LSTM) Forward(x, h, c Value) (y, lastH, lastC Value) {
	required(l)
	y, states := l.cells.run(x, l.Weights, []Value{h, c}, func(o op.Recurrent) ir.Op { return op.LSTM{Recurrent: o, InputForget: l.cells.inputForget} }, []string{"sigmoid", "tanh", "tanh"})
	return y, states[0], states[1]
}

// Forward runs the layers as [RNN.Forward] does.
func (g GRU) Forward(x, h Value) (y, last Value) {
	required(g)
	y, states := g.cells.run(x, g.Weights, []Value{h}, func(o op.Recurrent) ir.Op { return op.GRU{Recurrent: o, LinearBeforeReset: !g.cells.resetBefore} }, []string{"sigmoid", "tanh"})
	return y, states[0]
}

// run applies an operator for each layer, with states of several kinds.
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
		// [S, D, N, H] is [S, N, D·H]
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

// stacked returns weights of a layer, those of each direction along a new first axis,
// with their gates in the operator's order.
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
