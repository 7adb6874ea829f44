package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GRU is a layer of gated recurrent units (ONNX GRU). f and g are its activation functions. h is the hidden state
// before a step and h' the state after it. W and R hold the weights of the gates z and r and of the candidate n, in
// this order: Wz, Wr, Wh and Rz, Rr, Rh. B and C are the biases that belong to W and R:
//
//	z = f(x·Wzᵀ + h·Rzᵀ + Bz + Cz)
//	r = f(x·Wrᵀ + h·Rrᵀ + Br + Cr)
//	n = g(x·Whᵀ + (r⊙h)·Rhᵀ + Bh + Ch)
//	h' = (1 − z)⊙n + z⊙h
//
// With LinearBeforeReset, n = g(x·Whᵀ + r⊙(h·Rhᵀ + Ch) + Bh).
type GRU struct {
	Recurrent
	LinearBeforeReset bool
}

// GRUSteps runs the time steps of one direction of a [GRU]. Its operands are, in this order:
//   - the products of x with the weights W, plus biases, [S,N,3·H]
//   - the transposed recurrent weights of z and r, [H,2·H]
//   - the transposed recurrent weights of the candidate, [H,H]
//   - the lengths of the sequences, i32[N]
//   - the initial h, [N,H]
//   - with LinearBeforeReset, the bias Ch, [H]
//
// Its results are y, the h of each step, [S,N,H], and the final h, [N,H].
type GRUSteps struct {
	Steps
	LinearBeforeReset bool
}

// Infer returns the types of y, [S,D,N,H], and h, [D,N,H].
func (op GRU) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, 3, 2, 1) }

// Infer returns the types of y, [S,N,H], and h, [N,H].
func (op GRUSteps) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, 2, []int{2, 1}, 1, 1)
}

// separate returns the number of gates whose two biases can be added together before the time steps: 2 with
// LinearBeforeReset, and otherwise all 3.
func (op GRU) separate() int {
	if op.LinearBeforeReset {
		return 2
	}
	return 3
}

// Eval returns y, [S,D,N,H], and h, [D,N,H], computed in float64.
func (op GRU) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	hidden := in[recurrentR].Shape[2]
	return op.eval(in, 3, 2, 1, op.separate(), func(_ int, s Steps, r, bias []float64) cell {
		matrices := [2][]float64{}
		for i, v := range r {
			k := min(i%(3*hidden)/hidden, 2) / 2
			matrices[k] = append(matrices[k], v)
		}
		return GRUSteps{s, op.LinearBeforeReset}.cell(matrices[0], matrices[1], bias[2*hidden:], hidden)
	})
}

// Eval returns y, [S,N,H], and h, [N,H], computed in float64.
func (op GRUSteps) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	hidden := in[0].Shape[2] / 3
	next := op.cell(recurrentMatrix(in[1], hidden, 2*hidden), recurrentMatrix(in[2], hidden, hidden), initialState(OperandOf(in, 5), 0, hidden), hidden)
	return op.eval(in, 4, 1, hidden, next)
}

// cell returns the function that computes one time step of one sequence. gated holds the recurrent weights Rz and Rr
// of [GRU] side by side, r holds Rh, and bias is Ch, which is used only with LinearBeforeReset. hidden is the number
// of elements of the state h.
func (op GRUSteps) cell(gated, r, bias []float64, hidden int) cell {
	return func(_ int, x []float64, states [][]float64) {
		h := states[0]
		gates := make([]float64, 3*hidden)
		copy(gates, x)
		multiply(gates[:2*hidden], h, gated, 2*hidden)
		z, reset, n := gates[:hidden], gates[hidden:2*hidden], gates[2*hidden:]
		op.gate(0, z)
		op.gate(0, reset)
		if op.LinearBeforeReset {
			linear := append([]float64{}, bias...)
			multiply(linear, h, r, hidden)
			for j, v := range linear {
				n[j] += float64(reset[j] * v)
			}
		} else {
			kept := make([]float64, hidden)
			for j, v := range h {
				kept[j] = reset[j] * v
			}
			multiply(n, kept, r, hidden)
		}
		op.gate(1, n)
		for j, v := range h {
			h[j] = float64((1-z[j])*n[j]) + float64(z[j]*v)
		}
	}
}

// Flops counts a multiplication and an addition for each element of w and r, in each step of each sequence.
func (GRU) Flops(in, _ []ir.Type) dim.Dim { return recurrentFlops(in) }

// Lower replaces the node by a [GRUSteps] for each direction. It multiplies x by the weights in one product for all
// steps.
func (op GRU) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return op.LowerWith(b, n, PlainProducts) }

// LowerWith is [GRU.Lower] with the matrix products that p builds.
func (op GRU) LowerWith(b *ir.Builder, n *ir.Node, p RecurrentProducts) []*ir.Value {
	return op.lower(b, n, p, 2, op.separate(), func(s Steps, x, r, bias, lens *ir.Value, more []*ir.Value) []*ir.Value {
		hidden := r.Type.Shape[1]
		two := hidden.Mul(dim.Const(2))
		args := []*ir.Value{
			x, p.Weights(b, sliceAxis(b, r, 0, dim.Dim{}, two)), p.Weights(b, sliceAxis(b, r, 0, two, hidden)), lens, nil, nil,
		}
		if len(more) > 0 {
			args[4] = more[0]
		}
		if op.LinearBeforeReset && bias != nil {
			args[5] = sliceAxis(b, bias, 0, two, hidden)
		}
		return b.Nodes(GRUSteps{s, op.LinearBeforeReset}, args...)
	})
}

// Train replaces the node by a [GRUTrace] for each direction. A GRUTrace also returns the gates of all steps, which
// the backward pass reads. Train returns nil if the GRU has clamping, or functions other than the default ones.
func (op GRU) Train(b *ir.Builder, n *ir.Node, _ ir.Training) []*ir.Value {
	if !op.isUsual(n, usualGRU) {
		return nil
	}
	return op.build(b, n, 2, op.separate(), PlainProducts.Project, func(s Steps, x, r, bias, lens *ir.Value, more []*ir.Value) []*ir.Value {
		hidden := r.Type.Shape[1]
		two := hidden.Mul(dim.Const(2))
		transposed := func(start, rows dim.Dim) *ir.Value { return TransposeBy(b, sliceAxis(b, r, 0, start, rows), 1, 0) }
		args := []*ir.Value{x, transposed(dim.Dim{}, two), transposed(two, hidden), lens, OperandOf(more, 0), nil}
		if op.LinearBeforeReset && bias != nil {
			args[5] = sliceAxis(b, bias, 0, two, hidden)
		}
		return b.Nodes(GRUTrace{s.Reverse, op.LinearBeforeReset}, args...)[:2]
	})
}

func importGRU(c ir.Importer) ([]*ir.Value, error) {
	linear := c.Opset() >= 3 && c.Int("linear_before_reset", 0) != 0
	return importRecurrent(c, []string{"sigmoid", "tanh"}, func(r Recurrent) ir.Op { return GRU{r, linear} })
}

// IsStatistic returns false: no operand is a running statistic.
func (GRU) IsStatistic(int) bool { return false }
