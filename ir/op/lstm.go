package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// LSTM is a layer of long short-term memory (ONNX LSTM). a1, a2 and a3 are its activation functions. h and c are the
// hidden state and the cell state before a step, and h' and c' those after it. W, R and B hold the weights and biases
// of the gates i (input), o (output) and f (forget), and of the candidate: the value of a2 below. They are stored in
// the order i, o, f, candidate. A step computes:
//
//	i = a1(x·Wiᵀ + h·Riᵀ + Pi⊙c + Bi)
//	f = a1(x·Wfᵀ + h·Rfᵀ + Pf⊙c + Bf)
//	c' = f⊙c + i⊙a2(x·Wcᵀ + h·Rcᵀ + Bc)
//	o = a1(x·Woᵀ + h·Roᵀ + Po⊙c' + Bo)
//	h' = o⊙a3(c')
//
// Two more operands follow those of [Recurrent]: c [D,N,H], the initial cell state, and p [D,3·H], the peephole
// weights Pi, Po, Pf. Either may be absent and is then zero. There is one more result, the final c [D,N,H]. With
// InputForget, f = 1 − i.
type LSTM struct {
	Recurrent
	InputForget bool
}

// LSTMSteps runs the time steps of one direction of an [LSTM]. Its operands are, in this order:
//   - the products of x with the weights W, plus biases, [S,N,4·H]
//   - the transposed recurrent weights of all gates, [H,4·H]
//   - the lengths of the sequences, i32[N]
//   - the initial h and c, [N,H]
//   - the peephole weights p, [3·H]
//
// Its results are y, the h of each step, [S,N,H], and the final h and c, [N,H]. InputForget is as in [LSTM].
type LSTMSteps struct {
	Steps
	InputForget bool
}

// Infer returns the types of y, [S,D,N,H], and of h and c, [D,N,H].
func (op LSTM) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, 4, 3, 2, 3) }

// Infer returns the types of y, [S,N,H], and of h and c, [N,H].
func (op LSTMSteps) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, 3, []int{4}, 2, 3)
}

// Eval returns y, [S,D,N,H], and h and c, [D,N,H], computed in float64.
func (op LSTM) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	hidden := in[recurrentR].Shape[2]
	return op.eval(in, 4, 3, 2, 4, func(i int, s Steps, r, _ []float64) cell {
		p := initialState(OperandOf(in, recurrentH+2), i*3*hidden, 3*hidden)
		return LSTMSteps{s, op.InputForget}.cell(r, p, hidden)
	})
}

// Eval returns y, [S,N,H], and h and c, [N,H], computed in float64.
func (op LSTMSteps) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	hidden := in[0].Shape[2] / 4
	p := initialState(OperandOf(in, 5), 0, 3*hidden)
	return op.eval(in, 3, 2, hidden, op.cell(recurrentMatrix(in[1], hidden, 4*hidden), p, hidden))
}

func (op LSTMSteps) cell(r, p []float64, hidden int) cell {
	return func(_ int, x []float64, states [][]float64) {
		h, c := states[0], states[1]
		gates := make([]float64, 4*hidden)
		copy(gates, x)
		multiply(gates, h, r, 4*hidden)
		gate := func(k int) []float64 { return gates[k*hidden:][:hidden] }
		peep := func(k, weights int) {
			for j, v := range c {
				gate(k)[j] += float64(v * p[weights*hidden+j])
			}
		}
		i, o, f, g := gate(0), gate(1), gate(2), gate(3)
		peep(0, 0)
		peep(2, 2)
		op.gate(0, i)
		op.gate(0, f)
		op.gate(1, g)
		for j := range c {
			if op.InputForget {
				f[j] = 1 - i[j]
			}
			c[j] = float64(f[j]*c[j]) + float64(i[j]*g[j])
		}
		peep(1, 1)
		op.gate(0, o)
		copy(h, c)
		op.activate(2, h)
		for j := range h {
			h[j] *= o[j]
		}
	}
}

// Flops counts a multiplication and an addition for each element of w and r, in each step of each sequence.
func (LSTM) Flops(in, _ []ir.Type) dim.Dim { return recurrentFlops(in) }

// Lower replaces the node by an [LSTMSteps] for each direction. It multiplies x by the weights in one product for
// all steps.
func (op LSTM) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	return op.LowerWith(b, n, PlainProducts)
}

// LowerWith is [LSTM.Lower] with the matrix products that p builds.
func (op LSTM) LowerWith(b *ir.Builder, n *ir.Node, p RecurrentProducts) []*ir.Value {
	return op.lower(b, n, p, 3, 4, func(s Steps, x, r, _, lens *ir.Value, more []*ir.Value) []*ir.Value {
		args := append([]*ir.Value{x, p.Weights(b, r), lens}, more...)
		return b.Nodes(LSTMSteps{s, op.InputForget}, args...)
	})
}

// Train replaces the node by an [LSTMTrace] for each direction. An LSTMTrace also returns the gates of all steps,
// which the backward pass reads. Train returns nil if the LSTM has clamping, peepholes, InputForget, or functions
// other than the default ones.
func (op LSTM) Train(b *ir.Builder, n *ir.Node, _ ir.Training) []*ir.Value {
	if op.InputForget || n.Arg(recurrentH+2) != nil || !op.isUsual(n, usualLSTM) {
		return nil
	}
	return op.build(b, n, 3, 4, PlainProducts.Project, func(s Steps, x, r, _, lens *ir.Value, more []*ir.Value) []*ir.Value {
		args := []*ir.Value{x, TransposeBy(b, r, 1, 0), lens, OperandOf(more, 0), OperandOf(more, 1)}
		return b.Nodes(LSTMTrace{s.Reverse}, args...)[:3]
	})
}

func importLSTM(c ir.Importer) ([]*ir.Value, error) {
	coupled := c.Int("input_forget", 0) != 0
	return importRecurrent(c, []string{"sigmoid", "tanh", "tanh"}, func(r Recurrent) ir.Op { return LSTM{r, coupled} })
}

// IsStatistic returns false: no operand is a running statistic.
func (LSTM) IsStatistic(int) bool { return false }
