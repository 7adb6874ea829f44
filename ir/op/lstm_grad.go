package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// LSTMGrad is the backward pass of an [LSTMTrace]: the layer that also returns the values of its gates. The operands
// of LSTMGrad are, in this order:
//   - the gates, [S,N,4·H], and c after each step, [S,N,H], both results of the LSTMTrace
//   - the recurrent weights, [4·H,H]
//   - the lengths of the sequences, i32[N]
//   - c before the first step, [N,H]
//   - the gradients of y, [S,N,H], and of the final h and c, [N,H]
//
// The operands after the weights are optional, and a missing gradient is zero. The results are, in this order:
//
//   - the gradient of the first operand of the LSTMTrace, the projected inputs, [S,N,4·H]
//   - the gradients of h and of c before the first step, [N,H]
type LSTMGrad struct{ Reverse bool }

// Infer returns the types of the gradients of the projected inputs, and of h and c before the first step.
func (op LSTMGrad) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 8); err != nil {
		return nil, err
	}
	gates, y := in[0], in[1]
	if y.Rank() != 3 || y.DType != ir.F32 && y.DType != ir.F64 {
		return nil, fmt.Errorf("cell states %s, floats of rank 3 expected", y)
	}
	hidden := y.Shape[2]
	state := ir.TensorOf(y.DType, y.Shape[1], hidden)
	want := []ir.Type{
		ir.TensorOf(y.DType, y.Shape[0], y.Shape[1], hidden.Mul(dim.Const(4))), y, backWeights(in[2], hidden, 4),
		ir.TensorOf(ir.I32, y.Shape[1]), state, y, state, state,
	}
	return []ir.Type{gates, state, state}, sameTypes(in, want)
}

// backWeights returns the type of the recurrent weights that [LSTMGrad] and [GRUGrad] read, if the [LSTMTrace] or
// [GRUTrace] reads weights of type r. It is [gates·H,H] if r is a matrix. If r has rank 3, the weights are stored in
// panels of adjacent columns, [panels,rows,width], and the result has panels of the same width.
func backWeights(r ir.Type, hidden dim.Dim, gates int) ir.Type {
	rows := hidden.Mul(dim.Const(gates))
	if r.Rank() == 3 {
		return ir.TensorOf(r.DType, hidden.CeilDiv(r.Shape[2]), rows, r.Shape[2])
	}
	return ir.TensorOf(r.DType, rows, hidden)
}

// Eval returns the gradients, computed in float64.
func (op LSTMGrad) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	c := in[1]
	steps, batch, hidden := c.Shape[0], c.Shape[1], c.Shape[2]
	run := recurrence{steps: steps, batch: batch, hidden: hidden, lens: OperandOf(in, 3)}
	if err := run.check(); err != nil {
		return nil, err
	}
	gates, cells, first := NumbersOf(in[0]), NumbersOf(c), initialState(OperandOf(in, 4), 0, batch*hidden)
	r := recurrentMatrix(in[2], 4*hidden, hidden)
	dy := initialState(OperandOf(in, 5), 0, c.Len())
	dh, dc := initialState(OperandOf(in, 6), 0, batch*hidden), initialState(OperandOf(in, 7), 0, batch*hidden)
	dx := make([]float64, len(gates))
	for n := range batch {
		h, d := dh[n*hidden:][:hidden], dc[n*hidden:][:hidden]
		length := run.length(n)
		if length == 0 {
			clear(h)
			clear(d)
		}
		for i := range length {
			t, previous := length-1-i, length-2-i // the step and the one before it
			if op.Reverse {
				t, previous = i, i+1
			}
			at := t*batch + n
			prior := first[n*hidden:]
			if i < length-1 {
				prior = cells[(previous*batch+n)*hidden:]
			}
			g, grad := gates[at*4*hidden:], dx[at*4*hidden:][:4*hidden]
			for j := range hidden {
				in, out, forget, next := g[j], g[hidden+j], g[2*hidden+j], g[3*hidden+j]
				s := activations["tanh"].f(cells[at*hidden+j], 0, 0)
				dh := h[j] + dy[at*hidden+j]
				grad[hidden+j] = dh * s * out * (1 - out)
				dc := d[j] + float64(dh*out*(1-float64(s*s)))
				grad[j] = dc * next * in * (1 - in)
				grad[2*hidden+j] = dc * prior[j] * forget * (1 - forget)
				grad[3*hidden+j] = dc * in * (1 - float64(next*next))
				d[j] = dc * forget
			}
			clear(h)
			multiply(h, grad, r, hidden)
		}
	}
	return []*ir.Tensor{roundedTensor(c.DType, dx, in[0].Shape...), roundedTensor(c.DType, dh, batch, hidden), roundedTensor(c.DType, dc, batch, hidden)}, nil
}

// Flops counts a multiplication and an addition for each recurrent weight, in each step of each sequence.
func (LSTMGrad) Flops(in, _ []ir.Type) dim.Dim {
	hidden := in[1].Shape[2]
	return in[0].Elems().Mul(hidden).Mul(dim.Const(2))
}

// Overwrites returns the index of the operand with the gates. The first result may reuse the memory of this operand.
func (LSTMGrad) Overwrites() []int { return []int{0} }

// IsWhole marks the operator as [Whole], because its lowering is a loop.
func (LSTMGrad) IsWhole() {}

// Lower replaces the node by a [Loop] over the steps, from the last to the first.
func (op LSTMGrad) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	gates, cells, weights, lens := n.Arg(0), n.Arg(1), n.Arg(2), n.Arg(3)
	hidden, steps := cells.Type.Shape[2], cells.Type.Shape[0]
	first := state(b, n.Arg(4), cells, hidden)
	prior := before(b, cells, first, op.Reverse)
	last := []*ir.Value{state(b, n.Arg(6), cells, hidden), state(b, n.Arg(7), cells, hidden)}
	for i, v := range last {
		last[i] = ifAny(b, steps, lens, v)
	}
	back := Steps{Reverse: !op.Reverse}
	out := back.eachStep(b, steps, last, func(c calculus, at *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
		row := func(v *ir.Value) *ir.Value { return c.Node(Gather{}, v, at) }
		parts := gatesOf(c.Builder, row(gates), hidden, 4)
		dh, dc, old := states[0], states[1], row(prior)
		if v := n.Arg(5); v != nil {
			dh = c.add(dh, row(v))
		}
		if op.Reverse && lens != nil { // the row after a sequence's end is not the state before its last step
			following := c.Node(Add{}, at, c.Scalar(ir.I64, 1))
			old = c.Node(Where{}, withinLengths(c.Builder, following, lens), old, first)
		}
		in, out, forget, next := parts[0], parts[1], parts[2], parts[3]
		s := c.Node(Tanh{}, row(cells))
		slope := func(gate *ir.Value) *ir.Value { return c.mul(gate, c.from(1, gate)) }
		dOut := c.mul(c.mul(dh, s), slope(out))
		dc = c.add(dc, c.mul(c.mul(dh, out), c.from(1, c.square(s))))
		grads := c.Node(Concat{Axis: 1},
			c.mul(c.mul(dc, next), slope(in)), dOut, c.mul(c.mul(dc, old), slope(forget)), c.mul(c.mul(dc, in), c.from(1, c.square(next))))
		after = []*ir.Value{c.Node(MatMul{}, grads, weights), c.mul(dc, forget)}
		if lens != nil {
			within := withinLengths(c.Builder, at, lens)
			grads = c.where(within, grads)
			for i, v := range after {
				after[i] = c.Node(Where{}, within, v, states[i])
			}
		}
		return after, []*ir.Value{grads}
	})
	return []*ir.Value{out[2], out[0], out[1]}
}
