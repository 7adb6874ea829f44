package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GRUGrad is the backward pass of a [GRUTrace]: the layer that also returns the values of its gates. The operands of
// GRUGrad are, in this order:
//   - the gates, [S,N,3·H], and the fourth result of the GRUTrace, [S,N,H]
//   - h before each step, [S,N,H]
//   - the recurrent weights of z and r, [2·H,H], and of the candidate, [H,H]
//   - the lengths of the sequences, i32[N]
//   - the gradients of y, [S,N,H], and of the final h, [N,H]
//
// The operands after the weights are optional, and a missing gradient is zero. The results are, in this order:
//
//   - the gradient of the first operand of the GRUTrace, the projected inputs, [S,N,3·H]
//   - the gradient of the fourth result of the GRUTrace, [S,N,H]
//   - the gradient of h before the first step, [N,H]
type GRUGrad struct{ Reverse, LinearBeforeReset bool }

// Infer returns the types of the gradients.
func (op GRUGrad) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 5, 8); err != nil {
		return nil, err
	}
	gates, y := in[0], in[1]
	if y.Rank() != 3 || y.DType != ir.F32 && y.DType != ir.F64 {
		return nil, fmt.Errorf("kept products %s, floats of rank 3 expected", y)
	}
	hidden := y.Shape[2]
	state := ir.TensorOf(y.DType, y.Shape[1], hidden)
	want := []ir.Type{
		ir.TensorOf(y.DType, y.Shape[0], y.Shape[1], hidden.Mul(dim.Const(3))), y, y, backWeights(in[3], hidden, 2), backWeights(in[4], hidden, 1),
		ir.TensorOf(ir.I32, y.Shape[1]), y, state,
	}
	return []ir.Type{gates, y, state}, sameTypes(in, want)
}

// Eval returns the gradients, computed in float64.
func (op GRUGrad) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := in[1]
	steps, batch, hidden := y.Shape[0], y.Shape[1], y.Shape[2]
	run := recurrence{steps: steps, batch: batch, hidden: hidden, lens: OperandOf(in, 5)}
	if err := run.check(); err != nil {
		return nil, err
	}
	gates, kept, before := NumbersOf(in[0]), NumbersOf(y), NumbersOf(in[2])
	gated, weights := recurrentMatrix(in[3], 2*hidden, hidden), recurrentMatrix(in[4], hidden, hidden)
	dy, dh := initialState(OperandOf(in, 6), 0, y.Len()), initialState(OperandOf(in, 7), 0, batch*hidden)
	dx, dk := make([]float64, len(gates)), make([]float64, len(kept))
	for n := range batch {
		d := dh[n*hidden:][:hidden]
		length := run.length(n)
		if length == 0 {
			clear(d)
		}
		for i := range length {
			t := length - 1 - i
			if op.Reverse {
				t = i
			}
			at := t*batch + n
			g, grad := gates[at*3*hidden:], dx[at*3*hidden:][:3*hidden]
			k, h, dk := kept[at*hidden:], before[at*hidden:], dk[at*hidden:][:hidden]
			for j := range hidden {
				z, next, dh := g[j], g[2*hidden+j], d[j]+dy[at*hidden+j]
				grad[j] = dh * (h[j] - next) * z * (1 - z)
				grad[2*hidden+j] = dh * (1 - z) * (1 - float64(next*next))
				d[j] = dh * z
			}
			if op.LinearBeforeReset {
				for j := range hidden {
					r := g[hidden+j]
					dk[j] = grad[2*hidden+j] * r
					grad[hidden+j] = dk[j] * k[j] * (1 - r)
				}
				multiply(d, dk, weights, hidden)
			} else {
				multiply(dk, grad[2*hidden:], weights, hidden)
				for j := range hidden {
					r := g[hidden+j]
					grad[hidden+j] = dk[j] * h[j] * r * (1 - r)
					d[j] += float64(dk[j] * r)
				}
			}
			multiply(d, grad[:2*hidden], gated, hidden)
		}
	}
	return []*ir.Tensor{roundedTensor(y.DType, dx, in[0].Shape...), roundedTensor(y.DType, dk, y.Shape...), roundedTensor(y.DType, dh, batch, hidden)}, nil
}

// Flops counts a multiplication and an addition for each recurrent weight, in each step of each sequence.
func (GRUGrad) Flops(in, _ []ir.Type) dim.Dim {
	hidden := in[1].Shape[2]
	return in[0].Elems().Mul(hidden).Mul(dim.Const(2))
}

// Overwrites returns the index of the operand with the gates. The first result may reuse the memory of this operand.
func (GRUGrad) Overwrites() []int { return []int{0} }

// IsWhole marks the operator as [Whole], because its lowering is a loop.
func (GRUGrad) IsWhole() {}

// Lower replaces the node by a [Loop] over the steps, from the last to the first.
func (op GRUGrad) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	gates, kept, before, gated, weights, lens := n.Arg(0), n.Arg(1), n.Arg(2), n.Arg(3), n.Arg(4), n.Arg(5)
	hidden, steps := kept.Type.Shape[2], kept.Type.Shape[0]
	last := ifAny(b, steps, lens, state(b, n.Arg(7), kept, hidden))
	back := Steps{Reverse: !op.Reverse}
	out := back.eachStep(b, steps, []*ir.Value{last}, func(c calculus, at *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
		row := func(v *ir.Value) *ir.Value { return c.Node(Gather{}, v, at) }
		parts := gatesOf(c.Builder, row(gates), hidden, 3)
		z, reset, next, h := parts[0], parts[1], parts[2], row(before)
		dh := states[0]
		if v := n.Arg(6); v != nil {
			dh = c.add(dh, row(v))
		}
		slope := func(gate *ir.Value) *ir.Value { return c.mul(gate, c.from(1, gate)) }
		dz := c.mul(c.mul(dh, c.sub(h, next)), slope(z))
		dn := c.mul(c.mul(dh, c.from(1, z)), c.from(1, c.square(next)))
		previous := c.mul(dh, z)
		var dk, dr *ir.Value
		if op.LinearBeforeReset {
			dk = c.mul(dn, reset)
			dr = c.mul(c.mul(dk, row(kept)), c.from(1, reset))
			previous = c.add(previous, c.Node(MatMul{}, dk, weights))
		} else {
			dk = c.Node(MatMul{}, dn, weights)
			dr = c.mul(c.mul(dk, h), slope(reset))
			previous = c.add(previous, c.mul(dk, reset))
		}
		previous = c.add(previous, c.Node(MatMul{}, c.Node(Concat{Axis: 1}, dz, dr), gated))
		after, rows = []*ir.Value{previous}, []*ir.Value{c.Node(Concat{Axis: 1}, dz, dr, dn), dk}
		if lens != nil {
			within := withinLengths(c.Builder, at, lens)
			after[0] = c.Node(Where{}, within, after[0], states[0])
			for i, v := range rows {
				rows[i] = c.where(within, v)
			}
		}
		return after, rows
	})
	return []*ir.Value{out[1], out[2], out[0]}
}
