package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Recurrent is what [LSTM], [GRU] and [RNN] have in common. With S steps, N
// sequences, I inputs, H hidden elements, D directions and G gates they take
//
//	x    [S,N,I]
//	w    [D,G·H,I]
//	r    [D,G·H,H]
//	b    [D,2·G·H], the biases of w and after them those of r; or absent
//	lens i32[N], the length of each sequence; or absent: S each
//	h    [D,N,H], the hidden state before the first step; or absent: zeros
//
// floats of one type, and give y [S,D,N,H], the hidden states after each step,
// zero beyond the end of a sequence, and h [D,N,H], that after the last one, zero
// for a sequence without steps.
type Recurrent struct {
	Direction string // "forward", "reverse" or "bidirectional"
	// Activations are the functions of a cell, the second direction's after the
	// first's: see [activations]. Each has an element of Alphas and of Betas.
	Activations   []string
	Alphas, Betas []float64
	Clip          float64 // limits the operands of the gates' functions to −Clip…Clip; 0 for no limit
}

// Steps is what the lowered forms of recurrent layers have in common: one
// direction, the operand x projected by w and b.
type Steps struct {
	Reverse       bool
	Activations   []string
	Alphas, Betas []float64
	Clip          float64
}

// The operands that all recurrent layers have.
const (
	recurrentX = iota
	recurrentW
	recurrentR
	recurrentB
	recurrentLens
	recurrentH
)

// activation is a function of recurrent layers, alpha and beta being what they
// are unless they are given.
type activation struct {
	f           func(x, alpha, beta float64) float64
	params      int // how many of alpha and beta it has
	alpha, beta float64
}

// activations are the functions of recurrent layers, by their names in small
// letters.
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

// directions returns the number of directions, 0 for an unknown one.
func (op Recurrent) directions() int {
	return map[string]int{"forward": 1, "reverse": 1, "bidirectional": 2}[op.Direction]
}

// steps returns direction i of so many functions.
func (op Recurrent) steps(i, functions int) Steps {
	from, to := i*functions, (i+1)*functions
	return Steps{
		Reverse:     op.Direction == "reverse" || i == 1,
		Activations: op.Activations[from:to], Alphas: op.Alphas[from:to], Betas: op.Betas[from:to],
		Clip: op.Clip,
	}
}

// check checks that there are so many known functions with a parameter of each
// kind, and the limit.
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

// infer checks the operands and attributes of a layer with so many gates and
// functions. Its initial states are followed by vectors of so many times H
// elements for each direction. It gives y and the states.
func (op Recurrent) infer(in []ir.Type, gates, functions, states int, vectors ...int) ([]ir.Type, error) {
	if err := tensors(in, 3, recurrentH+states+len(vectors)); err != nil {
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
	directions, hidden := ir.Const(d), r.Shape[2]
	rows := hidden.Mul(ir.Const(gates))
	want := []ir.Type{
		x,
		ir.TensorOf(x.DType, directions, rows, x.Shape[2]),
		ir.TensorOf(x.DType, directions, rows, hidden),
		ir.TensorOf(x.DType, directions, rows.Mul(ir.Const(2))),
		ir.TensorOf(ir.I32, x.Shape[1]),
	}
	out := []ir.Type{ir.TensorOf(x.DType, x.Shape[0], directions, x.Shape[1], hidden)}
	for range states {
		out = append(out, ir.TensorOf(x.DType, directions, x.Shape[1], hidden))
	}
	want = append(want, out[1:]...)
	for _, v := range vectors {
		want = append(want, ir.TensorOf(x.DType, directions, hidden.Mul(ir.Const(v))))
	}
	return out, sameTypes(in, want)
}

// sameTypes checks that the operands that are there have these types.
func sameTypes(in, want []ir.Type) error {
	for i, t := range in {
		if t.IsZero() {
			continue
		}
		if t.DType != want[i].DType || t.Rank() != want[i].Rank() {
			return fmt.Errorf("operand %d is %s, %s expected", i, t, want[i])
		}
		for k, d := range t.Shape {
			if err := same(d, want[i].Shape[k], fmt.Sprintf("axis %d of operand %d", k, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// infer checks the operands and attributes of one direction of a layer with so
// many functions: the projected x, [S,N,G·H], recurrent weights as
// [recurrentWeights] makes them, each of so many gates, lens, states, and vectors
// of so many times H elements. It gives y, [S,N,H], and the states, [N,H].
func (op Steps) infer(in []ir.Type, functions int, weights []int, states int, vectors ...int) ([]ir.Type, error) {
	if err := tensors(in, 1+len(weights), 2+len(weights)+states+len(vectors)); err != nil {
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
		want = append(want, weightsType(x.DType, hidden, g))
	}
	want[0] = ir.TensorOf(x.DType, x.Shape[0], x.Shape[1], hidden.Mul(ir.Const(gates)))
	out := []ir.Type{ir.TensorOf(x.DType, x.Shape[0], x.Shape[1], hidden)}
	for range states {
		out = append(out, ir.TensorOf(x.DType, x.Shape[1], hidden))
	}
	want = append(want, ir.TensorOf(ir.I32, x.Shape[1]))
	want = append(want, out[1:]...)
	for _, v := range vectors {
		want = append(want, ir.TensorOf(x.DType, hidden.Mul(ir.Const(v))))
	}
	return out, sameTypes(in, want)
}

// weightsType is the type of the recurrent weights of so many gates: panels in
// f32, the matrix [H,gates·H] in f64.
func weightsType(d ir.DType, hidden ir.Dim, gates int) ir.Type {
	width := hidden.Mul(ir.Const(gates))
	if d == ir.F32 {
		return ir.TensorOf(d, width.CeilDiv(ir.Const(block)), hidden, ir.Const(block))
	}
	return ir.TensorOf(d, hidden, width)
}

// recurrentWeights appends the weights that one direction of a layer takes, made
// of rows of r, [gates·H,H].
func recurrentWeights(b *ir.Builder, r *ir.Value) *ir.Value {
	if r.Type.DType == ir.F32 {
		return b.Node(PackPanels{Trans: true}, r)
	}
	return transpose(b, r, 1, 0)
}

// recurrentFlops counts two operations for each weight and step.
func recurrentFlops(in []ir.Type) ir.Dim {
	weights := in[recurrentW].Elems().Add(in[recurrentR].Elems())
	return weights.Mul(in[0].Shape[0]).Mul(in[0].Shape[1]).Mul(ir.Const(2))
}

// directed builds the results of one direction of a layer of the projected x, the
// recurrent weights, [gates·H,H], the biases of these, nil where there are none, lens,
// and what else the layer has for the direction.
type directed func(s Steps, x, r, bias, lens *ir.Value, more []*ir.Value) []*ir.Value

// lower computes each direction of n by the node that direction builds, and puts the
// results together.
func (op Recurrent) lower(b *ir.Builder, n *ir.Node, functions, separate int, direction directed) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.build(b, n, functions, separate, project, direction)
}

// build is lower with a function that projects x.
func (op Recurrent) build(b *ir.Builder, n *ir.Node, functions, separate int, project func(b *ir.Builder, x, w, bias *ir.Value) *ir.Value, direction directed) []*ir.Value {
	x, hidden := n.Arg(recurrentX), n.Arg(recurrentR).Type.Shape[2]
	var parts [][]*ir.Value // of each result
	for i := range op.directions() {
		part := func(v *ir.Value) *ir.Value {
			if v == nil {
				return nil
			}
			one := sliceAxis(b, v, 0, ir.Const(i), ir.Const(1))
			return reshape(b, one, v.Type.Shape[1:]...)
		}
		w, r, biases := part(n.Arg(recurrentW)), part(n.Arg(recurrentR)), part(n.Arg(recurrentB))
		width := w.Type.Shape[0]
		var bias, recurrent *ir.Value
		if biases != nil {
			bias, recurrent = sliceAxis(b, biases, 0, ir.Dim{}, width), sliceAxis(b, biases, 0, width, width)
			added := hidden.Mul(ir.Const(separate))
			sum := b.Node(Add{}, sliceAxis(b, bias, 0, ir.Dim{}, added), sliceAxis(b, recurrent, 0, ir.Dim{}, added))
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
			shape[len(shape)-3] = ir.Const(1)
			parts[k] = append(parts[k], reshape(b, y, shape...))
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

// project appends x, [S,N,I], times the transpose of w, [width,I], plus a bias,
// unless it is nil.
func project(b *ir.Builder, x, w, bias *ir.Value) *ir.Value {
	if x.Type.DType == ir.F32 {
		return matMulPanels(b, x, b.Node(PackPanels{Trans: true}, w), w.Type.Shape[0], x.Type.Shape[:1:1], bias)
	}
	return projectPlainly(b, x, w, bias)
}

// projectPlainly is project by a product of matrices.
func projectPlainly(b *ir.Builder, x, w, bias *ir.Value) *ir.Value {
	y := b.Node(MatMul{}, x, transpose(b, w, 1, 0))
	if bias != nil {
		y = b.Node(Add{}, y, bias)
	}
	return y
}

// callSteps is the call of a kernel that runs one direction of a layer: its results,
// so many operands, scratch, extents and attributes, in this order.
func (op Steps) callSteps(n *ir.Node, kernel string, operands int, scratch []ir.Dim, more ...any) ir.Call {
	x := n.Arg(0).Type
	args := []any{ir.Context{}}
	for i := range n.Results {
		args = append(args, ir.Out(i))
	}
	for i := range operands {
		args = append(args, ir.In(i))
	}
	for _, s := range scratch {
		args = append(args, ir.Scratch{DType: x.DType, Len: s})
	}
	args = append(args, x.Shape[0], x.Shape[1], n.Results[0].Type.Shape[2], op.Reverse)
	args = append(args, more...)
	args = append(args, op.Clip)
	for i, name := range op.Activations {
		args = append(args, name, op.Alphas[i], op.Betas[i])
	}
	return ir.Call{Kernel: kernel, Args: args}
}
