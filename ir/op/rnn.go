package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// RNN is a layer of simple recurrent cells (ONNX RNN): h' = f(x·Wᵀ + h·Rᵀ + B). h is the state before a step and h'
// the state after it, f is the activation function, W and R are weights, and B is the sum of the two biases.
type RNN struct{ Recurrent }

// RNNSteps runs the time steps of one direction of an [RNN]. Its operands are the product of x with the weights,
// plus biases, [S,N,H]; the transposed recurrent weights, [H,H]; the lengths of the sequences, i32[N]; and the
// initial h, [N,H]. Its results are y, the h of each step, [S,N,H], and the final h, [N,H].
type RNNSteps struct{ Steps }

// Infer returns the types of y, [S,D,N,H], and h, [D,N,H].
func (op RNN) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, 1, 1, 1) }

// Infer returns the types of y, [S,N,H], and h, [N,H].
func (op RNNSteps) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, 1, []int{1}, 1) }

// Eval returns y, [S,D,N,H], and h, [D,N,H], computed in float64.
func (op RNN) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	hidden := in[recurrentR].Shape[2]
	return op.eval(in, 1, 1, 1, 1, func(_ int, s Steps, r, _ []float64) cell { return RNNSteps{s}.cell(r, hidden) })
}

// Eval returns y, [S,N,H], and h, [N,H], computed in float64.
func (op RNNSteps) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	hidden := in[0].Shape[2]
	return op.eval(in, 3, 1, hidden, op.cell(recurrentMatrix(in[1], hidden, hidden), hidden))
}

func (op RNNSteps) cell(r []float64, hidden int) cell {
	return func(_ int, x []float64, states [][]float64) {
		gates := append([]float64{}, x...)
		multiply(gates, states[0], r, hidden)
		op.gate(0, gates)
		copy(states[0], gates)
	}
}

// Flops counts a multiplication and an addition for each element of w and r, in each step of each sequence.
func (RNN) Flops(in, _ []ir.Type) dim.Dim { return recurrentFlops(in) }

// Lower replaces the node by an [RNNSteps] for each direction. It multiplies x by the weights in one product for
// all steps.
func (op RNN) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return op.LowerWith(b, n, PlainProducts) }

// LowerWith is [RNN.Lower] with the matrix products that p builds.
func (op RNN) LowerWith(b *ir.Builder, n *ir.Node, p RecurrentProducts) []*ir.Value {
	return op.lower(b, n, p, 1, 1, func(s Steps, x, r, _, lens *ir.Value, more []*ir.Value) []*ir.Value {
		return b.Nodes(RNNSteps{s}, append([]*ir.Value{x, p.Weights(b, r), lens}, more...)...)
	})
}

func importRNN(c ir.Importer) ([]*ir.Value, error) {
	return importRecurrent(c, []string{"tanh"}, func(r Recurrent) ir.Op { return RNN{r} })
}

// IsStatistic returns false: no operand is a running statistic.
func (RNN) IsStatistic(int) bool { return false }
