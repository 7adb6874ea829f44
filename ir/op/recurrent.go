package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Recurrent is the common part of [LSTM], [GRU] and [RNN]. There are S steps, N sequences, I inputs, H hidden
// elements, D directions and G gates. The operands are
//
//	x    [S,N,I]
//	w    [D,G·H,I]
//	r    [D,G·H,H]
//	b    [D,2·G·H], the biases of w, followed by the biases of r; optional
//	lens i32[N], the length of each sequence; optional, default S
//	h    [D,N,H], the initial hidden state; optional, default zero
//
// All floats have one type. The results are y [S,D,N,H] and h [D,N,H]. y holds the hidden state after each step,
// and zeros after the end of a sequence. h holds the final hidden states. The final state of a sequence without
// steps is zero.
type Recurrent struct {
	Direction string // "forward", "reverse" or "bidirectional"
	// Activations are the names of the functions of a cell, for the first direction and then the
	// second; see [activations]. Alphas and Betas are the parameters of each function.
	Activations   []string
	Alphas, Betas []float64
	Clip          float64 // clamps the operands of the gates' functions to [−Clip, Clip]; 0 means no clamping
}

// Steps is the common part of the operators that run the time steps of a recurrent layer in one direction. The
// steps run from last to first if Reverse is set. The operand x has already been multiplied by w, and b has been
// added. The comments call it the projected x. The other attributes are the attributes of [Recurrent] for this
// direction.
type Steps struct {
	Reverse       bool
	Activations   []string
	Alphas, Betas []float64
	Clip          float64
}

// Indices of the operands of all recurrent layers.
const (
	recurrentX = iota
	recurrentW
	recurrentR
	recurrentB
	recurrentLens
	recurrentH
)

type activation struct {
	f           func(x, alpha, beta float64) float64
	params      int // number of the parameters alpha and beta that f uses
	alpha, beta float64
}

// activations maps the names of activation functions, in lower case, to the functions.
var activations = map[string]activation{
	"affine":      {func(x, alpha, beta float64) float64 { return float64(alpha*x) + beta }, 2, 1, 0},
	"elu":         {func(x, alpha, _ float64) float64 { return elu(1, alpha, 1)(x) }, 1, 1, 0},
	"hardsigmoid": {func(x, alpha, beta float64) float64 { return hardSigmoid(alpha, beta, x) }, 2, 0.2, 0.5},
	"leakyrelu": {func(x, alpha, _ float64) float64 {
		if x < 0 {
			return alpha * x
		}
		return x
	}, 1, 0.01, 0},
	"relu":       {func(x, _, _ float64) float64 { return max(x, 0) }, 0, 0, 0},
	"scaledtanh": {func(x, alpha, beta float64) float64 { return alpha * portable.Tanh(beta*x) }, 2, 1, 1},
	"sigmoid":    {func(x, _, _ float64) float64 { return logistic(x) }, 0, 0, 0},
	"softplus":   {func(x, _, _ float64) float64 { return softplus(x) }, 0, 0, 0},
	"softsign":   {func(x, _, _ float64) float64 { return softsign(x) }, 0, 0, 0},
	"tanh":       {func(x, _, _ float64) float64 { return portable.Tanh(x) }, 0, 0, 0},
	"thresholdedrelu": {func(x, alpha, _ float64) float64 {
		if x < alpha {
			return 0
		}
		return x
	}, 1, 1, 0},
}

// directions returns the number of directions, 1 or 2. It returns 0 if Direction is unknown.
func (op Recurrent) directions() int {
	return map[string]int{"forward": 1, "reverse": 1, "bidirectional": 2}[op.Direction]
}

func (op Recurrent) steps(i, functions int) Steps {
	from, to := i*functions, (i+1)*functions
	return Steps{
		Reverse:     op.Direction == "reverse" || i == 1,
		Activations: op.Activations[from:to], Alphas: op.Alphas[from:to], Betas: op.Betas[from:to],
		Clip: op.Clip,
	}
}

// isUsual reports whether n can be trained with a backward pass over all steps. n must be f32 or f64, without
// clamping, and its activations must be `functions` in each direction. The states before the steps must also be the
// rows of y, shifted by one step. They are not if a reverse direction has both initial states and lengths of
// sequences.
func (op Recurrent) isUsual(n *ir.Node, functions []string) bool {
	d := n.Arg(recurrentX).Type.DType
	if d != ir.F32 && d != ir.F64 || op.Clip != 0 || !slices.Equal(op.Activations, slices.Repeat(functions, op.directions())) {
		return false
	}
	return op.Direction == "forward" || n.Arg(recurrentLens) == nil || n.Arg(recurrentH) == nil
}

func (op Steps) check(functions int) error {
	if len(op.Activations) != functions || len(op.Alphas) != functions || len(op.Betas) != functions {
		return fmt.Errorf("%d activations, %d alphas, %d betas: %d of each expected", len(op.Activations), len(op.Alphas), len(op.Betas), functions)
	}
	for _, name := range op.Activations {
		if _, ok := activations[name]; !ok {
			return fmt.Errorf("unknown activation %q", name)
		}
	}
	if !(op.Clip >= 0) {
		return fmt.Errorf("clip is %v", op.Clip)
	}
	return nil
}

// infer checks the operands and attributes of a layer. gates, functions and states are the numbers of its gates, of
// the functions of one direction, and of its states. Other operands follow the initial states: operand i of them
// has vectors[i]·H elements for each direction. infer returns the types of y and of the states.
func (op Recurrent) infer(in []ir.Type, gates, functions, states int, vectors ...int) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, recurrentH+states+len(vectors)); err != nil {
		return nil, err
	}
	if err := checkDomain(in[:1], floats{}); err != nil {
		return nil, err
	}
	d := op.directions()
	if d == 0 {
		return nil, fmt.Errorf("unknown direction %q", op.Direction)
	}
	all := Steps{Activations: op.Activations, Alphas: op.Alphas, Betas: op.Betas, Clip: op.Clip}
	if err := all.check(d * functions); err != nil {
		return nil, err
	}
	x, r := in[recurrentX], in[recurrentR]
	if x.Rank() != 3 || r.Rank() != 3 {
		return nil, fmt.Errorf("x %s and r %s, rank 3 expected", x, r)
	}
	directions, hidden := dim.Const(d), r.Shape[2]
	rows := hidden.Mul(dim.Const(gates))
	want := []ir.Type{
		x,
		ir.TensorOf(x.DType, directions, rows, x.Shape[2]),
		ir.TensorOf(x.DType, directions, rows, hidden),
		ir.TensorOf(x.DType, directions, rows.Mul(dim.Const(2))),
		ir.TensorOf(ir.I32, x.Shape[1]),
	}
	out := []ir.Type{ir.TensorOf(x.DType, x.Shape[0], directions, x.Shape[1], hidden)}
	for range states {
		out = append(out, ir.TensorOf(x.DType, directions, x.Shape[1], hidden))
	}
	want = append(want, out[1:]...)
	for _, v := range vectors {
		want = append(want, ir.TensorOf(x.DType, directions, hidden.Mul(dim.Const(v))))
	}
	return out, sameTypes(in, want)
}

func sameTypes(in, want []ir.Type) error {
	for i, t := range in {
		if t.IsZero() {
			continue
		}
		if t.DType != want[i].DType || t.Rank() != want[i].Rank() {
			return fmt.Errorf("operand %d is %s, %s expected", i, t, want[i])
		}
		for k, d := range t.Shape {
			if err := Same(d, want[i].Shape[k], fmt.Sprintf("axis %d of operand %d", k, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// infer checks the operands and attributes of one direction of a layer. The operands are, in this order:
//
//   - the projected x, [S,N,G·H]
//   - for each element n of weights, the recurrent weights of n gates
//   - the lengths of the sequences
//   - the states
//   - for each element n of vectors, a vector of n·H elements
//
// infer returns the types of y, [S,N,H], and of the states, [N,H].
func (op Steps) infer(in []ir.Type, functions int, weights []int, states int, vectors ...int) ([]ir.Type, error) {
	if err := CheckTensors(in, 1+len(weights), 2+len(weights)+states+len(vectors)); err != nil {
		return nil, err
	}
	if err := op.check(functions); err != nil {
		return nil, err
	}
	x, r := in[0], in[1]
	if x.Rank() != 3 || x.DType != ir.F32 && x.DType != ir.F64 || r.Rank() < 2 {
		return nil, fmt.Errorf("projected x %s and weights %s", x, r)
	}
	hidden, gates := r.Shape[r.Rank()-2], 0
	want := []ir.Type{x}
	for _, g := range weights {
		gates += g
		want = append(want, weightsLike(r, hidden, g))
	}
	want[0] = ir.TensorOf(x.DType, x.Shape[0], x.Shape[1], hidden.Mul(dim.Const(gates)))
	out := []ir.Type{ir.TensorOf(x.DType, x.Shape[0], x.Shape[1], hidden)}
	for range states {
		out = append(out, ir.TensorOf(x.DType, x.Shape[1], hidden))
	}
	want = append(want, ir.TensorOf(ir.I32, x.Shape[1]))
	want = append(want, out[1:]...)
	for _, v := range vectors {
		want = append(want, ir.TensorOf(x.DType, hidden.Mul(dim.Const(v))))
	}
	return out, sameTypes(in, want)
}

// weightsLike returns the type of the recurrent weights of `gates` gates, stored like r. If r is a matrix, it is
// [H,gates·H]. If r has rank 3, the weights are stored in panels of adjacent columns, [panels,rows,width], and the
// panels are as wide as the panels of r.
func weightsLike(r ir.Type, hidden dim.Dim, gates int) ir.Type {
	width := hidden.Mul(dim.Const(gates))
	if r.Rank() == 3 {
		return ir.TensorOf(r.DType, width.CeilDiv(r.Shape[2]), hidden, r.Shape[2])
	}
	return ir.TensorOf(r.DType, hidden, width)
}

// RecurrentLayer is a layer that is lowered to matrix products, and to an operator that runs the time steps of each
// direction.
type RecurrentLayer interface {
	ir.Lowerer
	// LowerWith is Lower with these products.
	LowerWith(b *ir.Builder, n *ir.Node, p RecurrentProducts) []*ir.Value
}

// RecurrentProducts builds the matrix products of a recurrent layer in the way that a target needs.
type RecurrentProducts struct {
	// Project appends x, [S,N,I], times the transpose of w, [width,I], plus an optional bias.
	Project func(b *ir.Builder, x, w, bias *ir.Value) *ir.Value
	// Weights appends the recurrent weights of one direction as steps read them, built from
	// rows of r, [gates·H,H].
	Weights func(b *ir.Builder, r *ir.Value) *ir.Value
}

// PlainProducts builds ordinary matrix products. It transposes the recurrent weights, and stores them as an ordinary
// matrix.
var PlainProducts = RecurrentProducts{
	Project: func(b *ir.Builder, x, w, bias *ir.Value) *ir.Value {
		y := b.Node(MatMul{}, x, TransposeBy(b, w, 1, 0))
		if bias != nil {
			y = b.Node(Add{}, y, bias)
		}
		return y
	},
	Weights: func(b *ir.Builder, r *ir.Value) *ir.Value { return TransposeBy(b, r, 1, 0) },
}

// recurrentFlops counts a multiplication and an addition for each element of w and r, in each step of each
// sequence.
func recurrentFlops(in []ir.Type) dim.Dim {
	weights := in[recurrentW].Elems().Add(in[recurrentR].Elems())
	return weights.Mul(in[0].Shape[0]).Mul(in[0].Shape[1]).Mul(dim.Const(2))
}

// directed builds the results of one direction of a layer. r are the recurrent weights, [gates·H,H], and bias their
// biases or nil. x is the projected input: the input times w. `lens` are the lengths of the sequences, or nil. `more`
// are the other operands of the direction.
type directed func(s Steps, x, r, bias, lens *ir.Value, more []*ir.Value) []*ir.Value

// lower computes each direction of n with the function `direction`, and combines the results. p builds the matrix
// products. functions is the number of activation functions of one direction. The projected x includes both biases
// of the first `separate` gates, and only the first bias of the other gates. lower computes narrow types in a wider
// type.
func (op Recurrent) lower(b *ir.Builder, n *ir.Node, p RecurrentProducts, functions, separate int, direction directed) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.build(b, n, functions, separate, p.Project, direction)
}

// build is [Recurrent.lower] for element types that kernels compute with. project appends x, [S,N,I], times the
// transpose of w, plus a bias.
func (op Recurrent) build(b *ir.Builder, n *ir.Node, functions, separate int, project func(b *ir.Builder, x, w, bias *ir.Value) *ir.Value, direction directed) []*ir.Value {
	x, hidden := n.Arg(recurrentX), n.Arg(recurrentR).Type.Shape[2]
	var parts [][]*ir.Value // for each result, its slices along the axis of directions
	for i := range op.directions() {
		part := func(v *ir.Value) *ir.Value {
			if v == nil {
				return nil
			}
			one := sliceAxis(b, v, 0, dim.Const(i), dim.Const(1))
			return ReshapeTo(b, one, v.Type.Shape[1:]...)
		}
		w, r, biases := part(n.Arg(recurrentW)), part(n.Arg(recurrentR)), part(n.Arg(recurrentB))
		width := w.Type.Shape[0]
		var bias, recurrent *ir.Value
		if biases != nil {
			bias, recurrent = sliceAxis(b, biases, 0, dim.Dim{}, width), sliceAxis(b, biases, 0, width, width)
			added := hidden.Mul(dim.Const(separate))
			sum := b.Node(Add{}, sliceAxis(b, bias, 0, dim.Dim{}, added), sliceAxis(b, recurrent, 0, dim.Dim{}, added))
			if !added.Equal(width) {
				sum = b.Node(Concat{}, sum, sliceAxis(b, bias, 0, added, width.Sub(added)))
			}
			bias = sum
		}
		var more []*ir.Value
		for k := recurrentH; k < len(n.Args); k++ {
			more = append(more, part(n.Arg(k)))
		}
		projected := project(b, x, w, bias)
		for k, y := range direction(op.steps(i, functions), projected, r, recurrent, n.Arg(recurrentLens), more) {
			if i == 0 {
				parts = append(parts, nil)
			}
			shape := slices.Clone(n.Results[k].Type.Shape)
			shape[len(shape)-3] = dim.Const(1)
			parts[k] = append(parts[k], ReshapeTo(b, y, shape...))
		}
	}
	out := make([]*ir.Value, len(parts))
	for k, p := range parts {
		out[k] = p[0]
		if len(p) > 1 {
			out[k] = b.Node(Concat{Axis: p[0].Type.Rank() - 3}, p...)
		}
	}
	return out
}
