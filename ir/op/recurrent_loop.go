package op

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

var activationNodes = map[string]func(c calculus, x *ir.Value, alpha, beta float64) *ir.Value{
	"affine": func(c calculus, x *ir.Value, alpha, beta float64) *ir.Value { return c.plus(c.times(x, alpha), beta) },
	"elu":    func(c calculus, x *ir.Value, alpha, _ float64) *ir.Value { return c.Node(Elu{Alpha: alpha}, x) },
	"hardsigmoid": func(c calculus, x *ir.Value, alpha, beta float64) *ir.Value {
		return c.Node(HardSigmoid{Alpha: alpha, Beta: beta}, x)
	},
	"leakyrelu": func(c calculus, x *ir.Value, alpha, _ float64) *ir.Value { return c.Node(LeakyRelu{Alpha: alpha}, x) },
	"relu":      func(c calculus, x *ir.Value, _, _ float64) *ir.Value { return c.Node(Relu{}, x) },
	"scaledtanh": func(c calculus, x *ir.Value, alpha, beta float64) *ir.Value {
		return c.times(c.Node(Tanh{}, c.times(x, beta)), alpha)
	},
	"sigmoid":  func(c calculus, x *ir.Value, _, _ float64) *ir.Value { return c.Node(Sigmoid{}, x) },
	"softplus": func(c calculus, x *ir.Value, _, _ float64) *ir.Value { return c.Node(Softplus{}, x) },
	"softsign": func(c calculus, x *ir.Value, _, _ float64) *ir.Value { return c.Node(Softsign{}, x) },
	"tanh":     func(c calculus, x *ir.Value, _, _ float64) *ir.Value { return c.Node(Tanh{}, x) },
	"thresholdedrelu": func(c calculus, x *ir.Value, alpha, _ float64) *ir.Value {
		return c.where(c.Node(GreaterOrEqual{}, x, c.num(x, alpha)), x)
	},
}

func (op Steps) activateNode(c calculus, i int, x *ir.Value) *ir.Value {
	return activationNodes[op.Activations[i]](c, x, op.Alphas[i], op.Betas[i])
}

func (op Steps) gateNode(c calculus, i int, x *ir.Value) *ir.Value {
	if op.Clip > 0 && !math.IsInf(op.Clip, 1) {
		x = c.Node(Clip{Lo: -op.Clip, Hi: op.Clip}, x)
	}
	return op.activateNode(c, i, x)
}

// loop appends a loop over the time steps of one direction. x is the projected x, [S,N,G·H]. lens holds the lengths
// of the sequences; nil means that all have S steps. next appends one step, given the step's row of x and the states
// before the step. It returns the states after the step, [N,H]; the first of them is also the step's row of y. If
// loop has results beyond y and the states, `rows` holds the step's row of each. loop returns y, [S,N,H], the final
// states, and these other results.
func (op Steps) loop(b *ir.Builder, x, lens *ir.Value, states []*ir.Value, next func(c calculus, x *ir.Value, states []*ir.Value) (after, rows []*ir.Value)) []*ir.Value {
	steps := x.Type.Shape[0]
	out := op.eachStep(b, steps, states, func(c calculus, at *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
		after, rows = next(c, c.Node(Gather{}, x, at), states)
		rows = append([]*ir.Value{after[0]}, rows...)
		if lens != nil {
			within := withinLengths(c.Builder, at, lens)
			for i, v := range after {
				after[i] = c.Node(Where{}, within, v, states[i])
			}
			for i, v := range rows {
				rows[i] = c.where(within, v)
			}
		}
		return after, rows
	})
	last, rows := out[:len(states)], out[len(states):]
	results := rows[:1:1]
	for _, s := range last {
		results = append(results, ifAny(b, steps, lens, s))
	}
	return append(results, rows[1:]...)
}

// eachStep appends a loop over the time steps of one direction. next appends step `at`, given the states before it.
// It returns the states after the step. It also returns `rows`, the step's row of each other result of the loop.
// eachStep returns the final states, and then the other results, in which the rows of all steps are stacked.
func (op Steps) eachStep(b *ir.Builder, steps dim.Dim, states []*ir.Value, next func(c calculus, at *ir.Value, states []*ir.Value) (after, rows []*ir.Value)) []*ir.Value {
	backward := 0
	if op.Reverse {
		backward = 1
	}
	var types, scans []ir.Type
	for _, s := range states {
		types = append(types, s.Type)
	}
	body := b.Block(func(b *ir.Builder) {
		carried, condition := bodyParams(b, types)
		at := place(b, carried[0], steps, backward)
		after, rows := next(calculus{b}, at, carried[1:])
		for _, v := range rows {
			scans = append(scans, v.Type)
		}
		b.Return(slices.Concat([]*ir.Value{condition}, after, rows)...)
	})
	out := slices.Clone(b.NodeBlocks(Loop{Counted: true, Trips: steps, Scans: scans}, []*ir.Block{body}, states...))
	if op.Reverse {
		for i, v := range out[len(states):] {
			out[len(states)+i] = reverse(b, v, 0)
		}
	}
	return out
}

// withinLengths returns a bool for each sequence, as bool[N,1]: whether step `at` is before the end of the sequence.
// lens holds the lengths of the sequences.
func withinLengths(b *ir.Builder, at, lens *ir.Value) *ir.Value {
	return b.Node(Less{}, ConvertTo(b, at, ir.I32), ReshapeTo(b, lens, lens.Type.Shape[0], dim.Const(1)))
}

// ifAny returns x, [N,H], with zeros for sequences without steps.
func ifAny(b *ir.Builder, steps dim.Dim, lens, x *ir.Value) *ir.Value {
	taken := ReshapeTo(b, b.Dims(steps)) // the number of steps of each sequence
	if lens != nil {
		taken = ReshapeTo(b, lens, lens.Type.Shape[0], dim.Const(1))
	}
	c := calculus{b}
	return c.where(c.positive(taken), x)
}

func state(b *ir.Builder, v, x *ir.Value, hidden dim.Dim) *ir.Value {
	if v != nil {
		return v
	}
	return fill(b, ir.Scalar(x.Type.DType, 0), x.Type.Shape[1], hidden)
}

// gatesOf returns n gates, [N,hidden], that are side by side in x, [N,n·hidden].
func gatesOf(b *ir.Builder, x *ir.Value, hidden dim.Dim, n int) []*ir.Value {
	parts := make([]*ir.Value, n)
	for i := range parts {
		parts[i] = sliceAxis(b, x, 1, hidden.Mul(dim.Const(i)), hidden)
	}
	return parts
}

// Next appends h, [N,H], after a step. gates is the operand of the activation function: the projected x plus the
// product of h and the recurrent weights.
func (op RNNSteps) Next(b *ir.Builder, gates *ir.Value) *ir.Value {
	return op.gateNode(calculus{b}, 0, gates)
}

// Compose replaces the node by loops over the time steps: one [Loop] for each direction.
func (op RNN) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	return op.build(b, n, 1, 1, PlainProducts.Project, func(s Steps, x, r, _, lens *ir.Value, more []*ir.Value) []*ir.Value {
		hidden, weights := r.Type.Shape[1], TransposeBy(b, r, 1, 0)
		return s.loop(b, x, lens, []*ir.Value{state(b, OperandOf(more, 0), x, hidden)}, func(c calculus, x *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
			return []*ir.Value{RNNSteps{s}.Next(c.Builder, c.add(x, c.Node(MatMul{}, states[0], weights)))}, nil
		})
	})
}

// Next appends h and c of [LSTM] after a step. gates are the operands of the activation functions of i, o, f and the
// candidate, in this order: the projected x plus the product of h and the recurrent weights. cell is c before the
// step. peepholes are Pi, Po and Pf, or nil.
func (op LSTMSteps) Next(b *ir.Builder, gates []*ir.Value, cell *ir.Value, peepholes []*ir.Value) (h, c *ir.Value) {
	s, in, out, forget := calculus{b}, gates[0], gates[1], gates[2]
	if len(peepholes) > 0 {
		in, forget = s.add(in, s.mul(cell, peepholes[0])), s.add(forget, s.mul(cell, peepholes[2]))
	}
	in, added := op.gateNode(s, 0, in), op.gateNode(s, 1, gates[3])
	if op.InputForget {
		forget = s.from(1, in)
	} else {
		forget = op.gateNode(s, 0, forget)
	}
	c = s.add(s.mul(forget, cell), s.mul(in, added))
	if len(peepholes) > 0 {
		out = s.add(out, s.mul(c, peepholes[1]))
	}
	return s.mul(op.gateNode(s, 0, out), op.activateNode(s, 2, c)), c
}

// Compose replaces the node by loops over the time steps: one [Loop] for each direction.
func (op LSTM) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	return op.build(b, n, 3, 4, PlainProducts.Project, func(s Steps, x, r, _, lens *ir.Value, more []*ir.Value) []*ir.Value {
		hidden, weights := r.Type.Shape[1], TransposeBy(b, r, 1, 0)
		first := []*ir.Value{state(b, OperandOf(more, 0), x, hidden), state(b, OperandOf(more, 1), x, hidden)}
		return s.loop(b, x, lens, first, func(c calculus, x *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
			gates := gatesOf(c.Builder, c.add(x, c.Node(MatMul{}, states[0], weights)), hidden, 4)
			var peepholes []*ir.Value
			for i := range 3 {
				if p := OperandOf(more, 2); p != nil {
					peepholes = append(peepholes, sliceAxis(c.Builder, p, 0, hidden.Mul(dim.Const(i)), hidden))
				}
			}
			h, cell := LSTMSteps{s, op.InputForget}.Next(c.Builder, gates, states[1], peepholes)
			return []*ir.Value{h, cell}, nil
		})
	})
}

// Gate appends the value of the gate z or r. x is the operand of its activation function: the projected x plus the
// product of h and the recurrent weights.
func (op GRUSteps) Gate(b *ir.Builder, x *ir.Value) *ir.Value { return op.gateNode(calculus{b}, 0, x) }

// Next appends h after a step. z is the update gate, and h the state before the step. candidate is the operand of g
// in [GRU]: the projected x plus the product of r⊙h and the recurrent weights or, with LinearBeforeReset, the
// projected x plus r⊙(h·Rhᵀ + Ch).
func (op GRUSteps) Next(b *ir.Builder, z, candidate, h *ir.Value) *ir.Value {
	c := calculus{b}
	n := op.gateNode(c, 1, candidate)
	return c.add(c.mul(c.from(1, z), n), c.mul(z, h))
}

// Compose replaces the node by loops over the time steps: one [Loop] for each direction.
func (op GRU) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	return op.build(b, n, 2, op.separate(), PlainProducts.Project, func(s Steps, x, r, bias, lens *ir.Value, more []*ir.Value) []*ir.Value {
		hidden := r.Type.Shape[1]
		two := hidden.Mul(dim.Const(2))
		gated := TransposeBy(b, sliceAxis(b, r, 0, dim.Dim{}, two), 1, 0)
		weights := TransposeBy(b, sliceAxis(b, r, 0, two, hidden), 1, 0)
		steps := GRUSteps{s, op.LinearBeforeReset}
		return s.loop(b, x, lens, []*ir.Value{state(b, OperandOf(more, 0), x, hidden)}, func(c calculus, x *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
			h, parts := states[0], gatesOf(c.Builder, x, hidden, 3)
			both := gatesOf(c.Builder, c.Node(MatMul{}, h, gated), hidden, 2)
			z, reset := steps.Gate(c.Builder, c.add(parts[0], both[0])), steps.Gate(c.Builder, c.add(parts[1], both[1]))
			var part *ir.Value
			if op.LinearBeforeReset {
				part = c.Node(MatMul{}, h, weights)
				if bias != nil {
					part = c.add(part, sliceAxis(c.Builder, bias, 0, two, hidden))
				}
				part = c.mul(reset, part)
			} else {
				part = c.Node(MatMul{}, c.mul(reset, h), weights)
			}
			return []*ir.Value{steps.Next(c.Builder, z, c.add(parts[2], part), h)}, nil
		})
	})
}
