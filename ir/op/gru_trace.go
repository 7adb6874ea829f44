package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GRUTrace is [GRUSteps] with the default functions, and with two more results for the backward pass. Its operands
// are the operands of GRUSteps. Its results are, in this order, with z, r, n, Rh and Ch as in [GRU]:
//   - y, [S,N,H]
//   - the final h, [N,H]
//   - the values of z, r and n in all steps, [S,N,3·H]
//   - for all steps, [S,N,H]: r⊙h or, with LinearBeforeReset, h·Rhᵀ + Ch, where h is the state before the step
//
// The last two results are zero after the end of a sequence.
type GRUTrace struct{ Reverse, LinearBeforeReset bool }

// usualGRU are the names of the default functions.
var usualGRU = []string{"sigmoid", "tanh"}

func (op GRUTrace) steps() GRUSteps {
	return GRUSteps{usualSteps(op.Reverse, usualGRU), op.LinearBeforeReset}
}

// Infer returns the types of the four results.
func (op GRUTrace) Infer(in []ir.Type) ([]ir.Type, error) {
	out, err := op.steps().Infer(in)
	if err != nil {
		return nil, err
	}
	return append(out, in[0], out[0]), nil
}

// Eval returns the results, computed in float64.
func (op GRUTrace) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	hidden := x.Shape[2] / 3
	steps := op.steps()
	gated, r := recurrentMatrix(in[1], hidden, 2*hidden), recurrentMatrix(in[2], hidden, hidden)
	bias := initialState(OperandOf(in, 5), 0, hidden)
	next := steps.cell(gated, r, bias, hidden)
	gates, kept := make([]float64, x.Len()), make([]float64, x.Len()/3)
	out, err := steps.eval(in, 4, 1, hidden, func(at int, x []float64, states [][]float64) {
		g, k := gates[at*3*hidden:][:3*hidden], kept[at*hidden:][:hidden]
		copy(g, x)
		multiply(g[:2*hidden], states[0], gated, 2*hidden)
		steps.gate(0, g[:2*hidden])
		reset, n := g[hidden:2*hidden], g[2*hidden:]
		if op.LinearBeforeReset {
			copy(k, bias)
			multiply(k, states[0], r, hidden)
			for j, v := range k {
				n[j] += float64(reset[j] * v)
			}
		} else {
			for j, v := range states[0] {
				k[j] = reset[j] * v
			}
			multiply(n, k, r, hidden)
		}
		steps.gate(1, n)
		next(at, x, states)
	})
	if err != nil {
		return nil, err
	}
	return append(out, roundedTensor(x.DType, gates, x.Shape...), roundedTensor(x.DType, kept, out[0].Shape...)), nil
}

// IsWhole marks the operator as [Whole], because its lowering is a loop.
func (GRUTrace) IsWhole() {}

// Lower replaces the node by a [Loop] over the steps.
func (op GRUTrace) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, gated, weights, bias := n.Arg(0), n.Arg(1), n.Arg(2), n.Arg(5)
	hidden := n.Results[0].Type.Shape[2]
	steps := op.steps()
	first := []*ir.Value{state(b, n.Arg(4), x, hidden)}
	return steps.loop(b, x, n.Arg(3), first, func(c calculus, x *ir.Value, states []*ir.Value) (after, rows []*ir.Value) {
		h, parts := states[0], gatesOf(c.Builder, x, hidden, 3)
		both := gatesOf(c.Builder, c.Node(MatMul{}, h, gated), hidden, 2)
		z, reset := steps.Gate(c.Builder, c.add(parts[0], both[0])), steps.Gate(c.Builder, c.add(parts[1], both[1]))
		var kept, part *ir.Value
		if op.LinearBeforeReset {
			kept = c.Node(MatMul{}, h, weights)
			if bias != nil {
				kept = c.add(kept, bias)
			}
			part = c.mul(reset, kept)
		} else {
			kept = c.mul(reset, h)
			part = c.Node(MatMul{}, kept, weights)
		}
		candidate := steps.gateNode(c, 1, c.add(parts[2], part))
		h = c.add(c.mul(c.from(1, z), candidate), c.mul(z, h))
		return []*ir.Value{h}, []*ir.Value{c.Node(Concat{Axis: 1}, z, reset, candidate), kept}
	})
}

// Grad builds the gradients by a [GRUGrad]. It computes the gradients of the weights as matrix products over all
// steps. It does not use the gradients of the last two results, which only the backward pass reads.
func (op GRUTrace) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	y, gates, kept := n.Results[0], n.Results[2], n.Results[3]
	hidden := y.Type.Shape[2]
	two := hidden.Mul(dim.Const(2))
	h := before(b, y, n.Arg(4), op.Reverse)
	out := b.Nodes(GRUGrad(op), gates, kept, h, TransposeBy(b, n.Arg(1), 1, 0), TransposeBy(b, n.Arg(2), 1, 0), n.Arg(3), dy[0], dy[1])
	grads := []*ir.Value{out[0], nil, nil, nil, out[2], nil}[:len(n.Args)]
	if want[1] {
		grads[1] = overSteps(b, h, sliceAxis(b, out[0], 2, dim.Dim{}, two))
	}
	switch {
	case want[2] && op.LinearBeforeReset:
		grads[2] = overSteps(b, h, out[1])
	case want[2]:
		grads[2] = overSteps(b, kept, sliceAxis(b, out[0], 2, two, hidden))
	}
	if len(want) > 5 && want[5] {
		grads[5] = calculus{b}.sum(out[1], false, 0, 1)
	}
	return grads
}
