package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// LSTMTrace is [LSTMSteps] with the default functions, and with two more results for the backward pass. Its operands
// are the operands of LSTMSteps without p. Its results are, in this order:
//
//   - y, [S,N,H]
//   - the final h and the final c, [N,H]
//   - the values of i, o, f and a2 of [LSTM] in all steps, [S,N,4·H]
//   - c after each step, [S,N,H]
//
// The last two results are zero after the end of a sequence.
type LSTMTrace struct{ Reverse bool }

// usualLSTM are the names of the default functions.
var usualLSTM = []string{"sigmoid", "tanh", "tanh"}

func (op LSTMTrace) steps() LSTMSteps { return LSTMSteps{Steps: usualSteps(op.Reverse, usualLSTM)} }

// usualSteps returns the attributes of one direction of a layer with the given functions. The functions must not
// have parameters.
func usualSteps(reverse bool, functions []string) Steps {
	none := make([]float64, len(functions))
	return Steps{Reverse: reverse, Activations: functions, Alphas: none, Betas: none}
}

// Infer returns the types of y, the final h and c, the gates, and c after each step.
func (op LSTMTrace) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 5); err != nil {
		return nil, err
	}
	out, err := op.steps().Infer(in)
	if err != nil {
		return nil, err
	}
	return append(out, in[0], out[0]), nil
}

// Eval returns the results, computed in float64.
func (op LSTMTrace) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	hidden := x.Shape[2] / 4
	steps := op.steps()
	r := recurrentMatrix(in[1], hidden, 4*hidden)
	next := steps.cell(r, make([]float64, 3*hidden), hidden)
	gates, cells := make([]float64, x.Len()), make([]float64, x.Len()/4)
	out, err := steps.eval(in, 3, 2, hidden, func(at int, x []float64, states [][]float64) {
		g := gates[at*4*hidden:][:4*hidden]
		copy(g, x)
		multiply(g, states[0], r, 4*hidden)
		steps.gate(0, g[:3*hidden])
		steps.gate(1, g[3*hidden:])
		next(at, x, states)
		copy(cells[at*hidden:], states[1])
	})
	if err != nil {
		return nil, err
	}
	return append(out, roundedTensor(x.DType, gates, x.Shape...), roundedTensor(x.DType, cells, out[0].Shape...)), nil
}

// IsWhole marks the operator as [Whole], because its lowering is a loop.
func (LSTMTrace) IsWhole() {}

// Lower replaces the node by a [Loop] over the steps.
func (op LSTMTrace) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, weights, lens := n.Arg(0), n.Arg(1), n.Arg(2)
	hidden := n.Results[0].Type.Shape[2]
	steps := op.steps()
	first := []*ir.Value{state(b, n.Arg(3), x, hidden), state(b, n.Arg(4), x, hidden)}
	return steps.loop(b, x, lens, first, func(c calculus, x *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
		parts := gatesOf(c.Builder, c.add(x, c.Node(MatMul{}, states[0], weights)), hidden, 4)
		for i := range parts {
			parts[i] = steps.gateNode(c, i/3, parts[i])
		}
		cell := c.add(c.mul(parts[2], states[1]), c.mul(parts[0], parts[3]))
		h := c.mul(parts[1], steps.activateNode(c, 2, cell))
		return []*ir.Value{h, cell}, []*ir.Value{c.Node(Concat{Axis: 1}, parts...), cell}
	})
}

// Grad builds the gradients by an [LSTMGrad]. It computes the gradient of the weights as one matrix product over
// all steps. It does not use the gradients of the last two results, which only the backward pass reads.
func (op LSTMTrace) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	y, gates, cells := n.Results[0], n.Results[3], n.Results[4]
	out := b.Nodes(LSTMGrad(op), gates, cells, TransposeBy(b, n.Arg(1), 1, 0), n.Arg(2), n.Arg(4), dy[0], dy[1], dy[2])
	grads := []*ir.Value{out[0], nil, nil, out[1], out[2]}
	if want[1] {
		grads[1] = overSteps(b, before(b, y, n.Arg(3), op.Reverse), out[0])
	}
	return grads[:len(n.Args)]
}

// before returns the hidden state before each step, [S,N,H], in the order of y. y holds the states after each step,
// so the result is y shifted by one step: row t is row t−1 of y, or row t+1 if reverse is set and the steps run from
// last to first. The state before the step that runs first is `initial`; nil means zero.
func before(b *ir.Builder, y, initial *ir.Value, reverse bool) *ir.Value {
	s := y.Type.Shape
	one := dim.Const(1)
	first := ReshapeTo(b, state(b, initial, y, s[2]), one, s[1], s[2])
	both := []*ir.Value{first, y}
	if reverse {
		both = []*ir.Value{y, first}
	}
	rows := b.Node(Concat{}, both...)
	if reverse {
		return sliceAxis(b, rows, 0, one, s[0])
	}
	return sliceAxis(b, rows, 0, dim.Dim{}, s[0])
}

// overSteps returns the sum of xᵀ·g over all steps and sequences, [K,M]. x is [S,N,K] and g is [S,N,M]; each
// product is of one row of x and one of g.
func overSteps(b *ir.Builder, x, g *ir.Value) *ir.Value {
	matrix := func(v *ir.Value) *ir.Value {
		s := v.Type.Shape
		return ReshapeTo(b, v, s[0].Mul(s[1]), s[2])
	}
	return b.Node(MatMul{}, TransposeBy(b, matrix(x), 1, 0), matrix(g))
}
