package call

import (
	"slices"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var recurrent = []entry{computes(gruGrad), computes(gruSteps), computes(gruTrace), computes(lstmGrad), computes(lstmSteps), computes(lstmTrace), computes(rnnSteps)}

type steps struct {
	steps, batch, hidden dim.Dim
	projected            dim.Dim // elements of the projected operand of one step
	functions            []function
}

type function struct {
	name        string
	alpha, beta kernel.Number
}

func stepsOf(o op.Steps, n node) steps {
	x := n.shape(0)
	s := steps{steps: x[0], batch: x[1], hidden: n.Results[0].Type.Shape[2], projected: x[1].Mul(x[2])}
	for i, name := range o.Activations {
		s.functions = append(s.functions, function{name, kernel.F64(o.Alphas[i]), kernel.F64(o.Betas[i])})
	}
	return s
}

func (n node) scratch(elems dim.Dim) kernel.Scratch {
	return kernel.Scratch{DType: n.Arg(0).Type.DType, Len: elems}
}

func rnnSteps(o op.RNNSteps, n node) kernel.Call {
	s := stepsOf(o.Steps, n)
	f := s.functions[0]
	return kernel.RNN(n.out(0), n.out(1), n.in(0), n.in(1), n.in(2), n.in(3), n.scratch(s.projected),
		s.steps, s.batch, s.hidden, o.Reverse, kernel.F64(o.Clip), f.name, f.alpha, f.beta)
}

func gruSteps(o op.GRUSteps, n node) kernel.Call {
	s := stepsOf(o.Steps, n)
	f, g := s.functions[0], s.functions[1]
	return kernel.GRU(n.out(0), n.out(1), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5),
		n.scratch(s.projected), n.scratch(n.Results[1].Type.Elems()),
		s.steps, s.batch, s.hidden, o.Reverse, o.LinearBeforeReset, kernel.F64(o.Clip),
		f.name, f.alpha, f.beta, g.name, g.alpha, g.beta)
}

func lstmSteps(o op.LSTMSteps, n node) kernel.Call {
	s := stepsOf(o.Steps, n)
	f, g, e := s.functions[0], s.functions[1], s.functions[2]
	return kernel.LSTM(n.out(0), n.out(1), n.out(2), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5),
		n.scratch(s.projected),
		s.steps, s.batch, s.hidden, o.Reverse, o.InputForget, kernel.F64(o.Clip),
		f.name, f.alpha, f.beta, g.name, g.alpha, g.beta, e.name, e.alpha, e.beta)
}

// packed reports whether the f32 weights among the operands with these indices are packed into panels. An f32 matrix
// is not packed. Weights of other types need no packing, because their kernels take matrices.
func (n node) packed(weights ...int) bool {
	return !slices.ContainsFunc(weights, func(i int) bool {
		t := n.Args[i].Type
		return t.DType == ir.F32 && t.Rank() == 2
	})
}

func gruTrace(o op.GRUTrace, n node) kernel.Call {
	if !n.packed(1, 2) {
		return none("the weights are not packed")
	}
	y := n.Results[0].Type.Shape
	return kernel.GRUTrace(n.out(0), n.out(1), n.out(2), n.out(3), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5), y[0], y[1], y[2], o.Reverse, o.LinearBeforeReset)
}

func gruGrad(o op.GRUGrad, n node) kernel.Call {
	if !n.packed(3, 4) {
		return none("the weights are not packed")
	}
	y := n.shape(1)
	return kernel.GRUGrad(n.out(0), n.out(1), n.out(2), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5), n.in(6), n.in(7), y[0], y[1], y[2], o.Reverse, o.LinearBeforeReset)
}

func lstmTrace(o op.LSTMTrace, n node) kernel.Call {
	if !n.packed(1) {
		return none("the weights are not packed")
	}
	y := n.Results[0].Type.Shape
	return kernel.LSTMTrace(n.out(0), n.out(1), n.out(2), n.out(3), n.out(4), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), y[0], y[1], y[2], o.Reverse)
}

func lstmGrad(o op.LSTMGrad, n node) kernel.Call {
	if !n.packed(2) {
		return none("the weights are not packed")
	}
	y := n.shape(1)
	return kernel.LSTMGrad(n.out(0), n.out(1), n.out(2), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5), n.in(6), n.in(7), y[0], y[1], y[2], o.Reverse)
}
