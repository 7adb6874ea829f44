package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// AttentionTraining is the training form of an [Attention] without sinks and a Softcap. It has the operands of the
// Attention. Its first result is the result of the Attention. Its second result, [B,H,S], is log Σ exp(score) for
// each query. It is f32 if the operands are narrower, and ∞ for a query without keys.
type AttentionTraining Attention

// Train replaces the node by an [AttentionTraining]. It returns nil if the Attention has sinks or a Softcap, or if
// Precision requires another type for the softmax.
func (op Attention) Train(b *ir.Builder, n *ir.Node, _ ir.Training) []*ir.Value {
	d := n.Arg(0).Type.DType
	if op.Softcap != 0 || n.Arg(6) != nil || op.Precision != ir.Invalid && op.Precision != wide(d) {
		return nil
	}
	op.Precision = ir.Invalid
	return b.Nodes(AttentionTraining(op), n.Args...)[:1]
}

// Infer returns [B,H,S,E] and [B,H,S].
func (op AttentionTraining) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 6); err != nil {
		return nil, err
	}
	if op.Softcap != 0 || op.Precision != ir.Invalid {
		return nil, errTraining
	}
	out, err := Attention(op).Infer(in)
	if err != nil {
		return nil, err
	}
	y := out[0]
	return append(out, ir.TensorOf(wide(y.DType), y.Shape[:3]...)), nil
}

var errTraining = fmt.Errorf("attention with a softcap or a precision has no training form")

// Eval computes the results of each query in float64.
func (op AttentionTraining) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[1].Static()
	sums := ir.NewTensor(out[1].DType, shape...)
	for i := range sums.Len() {
		sums.SetFloat(i, math.Inf(1))
	}
	err = Attention(op).eachQuery(in, func(q attending, scores []float64) {
		top := math.Inf(-1)
		for _, s := range scores {
			top = max(top, s)
		}
		sums.SetFloat(q.row, top+portable.Log(exponentials(scores)))
	})
	if err != nil {
		return nil, err
	}
	y, err := Attention(op).Eval(in)
	return append(y, sums), err
}

// Flops is as in [Attention].
func (op AttentionTraining) Flops(in, out []ir.Type) dim.Dim { return Attention(op).Flops(in, out) }

// Lower replaces the node by an [Attention], and the sums by operators on all scores.
func (op AttentionTraining) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	y := b.Node(Attention(op), n.Args...)
	return []*ir.Value{y, op.sums(b, n)}
}

// sums appends the second result.
func (op AttentionTraining) sums(b *ir.Builder, n *ir.Node) *ir.Value {
	args := append([]*ir.Value{}, n.Args...)
	_, scores := Attention(op).build(b, args, maskedScores)
	_, shares := Attention(op).build(b, args, softmaxScores)
	greatest := func(x *ir.Value) *ir.Value { return b.Node(Reduce{Kind: ReduceMax, Axes: []int{3}}, x) }
	c := calculus{b}
	// The greatest share is exp(top)/Σ exp(score), or 0 without keys.
	share := greatest(shares)
	sum := c.sub(greatest(scores), b.Node(Log{}, share))
	return b.Node(Where{}, b.Node(Equal{}, share, c.num(share, 0)), c.num(share, math.Inf(1)), sum)
}

// Grad appends operators that compute the scores of all queries and keys if the gradient of the mask is wanted, or if
// dy[1] is not nil. Otherwise it appends an [AttentionGradient], which returns the gradients of queries, keys and
// values.
func (op AttentionTraining) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	if dy[1] == nil && (len(want) < 4 || !want[3]) {
		args := []*ir.Value{n.Arg(0), n.Arg(1), n.Arg(2), dy[0], n.Results[0], n.Results[1], n.Arg(3), n.Arg(4), n.Arg(5)}
		return b.Nodes(AttentionGradient(op), args...)
	}
	if dy[0] == nil {
		dy[0] = Full(b, n.Results[0].Type, 0)
	}
	return Attention(op).gradients(b, n.Args, dy[0], dy[1])
}

// AttentionGradient computes the gradients of the queries, keys and values of an [AttentionTraining]. Its operands
// are the queries Q, the keys K, the values V, the gradient dY of the first result, the two results Y and L, the
// mask, the lengths and the starts. Q, K, V and the last three are the operands of the AttentionTraining. With P =
// exp(score − L), and D = Σ dY·Y over the elements of a query's result, AttentionGradient returns
//
//	dQ = Scale·dS·K    dK = Scale·dSᵀ·Q    dV = Pᵀ·dY    with dS = P ∘ (dY·Vᵀ − D)
type AttentionGradient Attention

// forward returns the operands of the [AttentionTraining].
func (AttentionGradient) forward(n *ir.Node) []*ir.Value {
	return []*ir.Value{n.Arg(0), n.Arg(1), n.Arg(2), n.Arg(6), n.Arg(7), n.Arg(8)}
}

// Infer returns the types of the queries, keys and values.
func (op AttentionGradient) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 6, 9); err != nil {
		return nil, err
	}
	out, err := AttentionTraining(op).Infer(append(in[:3:3], in[6:]...))
	if err != nil {
		return nil, err
	}
	for i, t := range []ir.Type{out[0], out[0], out[1]} {
		got := in[3+i]
		if got.DType != t.DType || got.Rank() != t.Rank() {
			return nil, fmt.Errorf("operand %d is %s, %s expected", 3+i, got, t)
		}
		for k, d := range t.Shape {
			if err := Same(got.Shape[k], d, fmt.Sprintf("axis %d of operand %d", k, 3+i)); err != nil {
				return nil, err
			}
		}
	}
	return []ir.Type{in[0], in[1], in[2]}, nil
}

// Eval computes the terms of each query in float64.
func (op AttentionGradient) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	q, k, v, dy, y, sums := in[0], in[1], in[2], in[3], in[4], in[5]
	gradients := [3][]float64{make([]float64, q.Len()), make([]float64, k.Len()), make([]float64, v.Len())}
	err := Attention(op).eachQuery(append(in[:3:3], in[6:]...), func(at attending, scores []float64) {
		mean := dotRows(dy, at.row, y, at.row, at.width)
		for j, score := range scores {
			p := portable.Exp(score - sums.Float(at.row))
			ds := float64(op.Scale * p * (dotRows(dy, at.row, v, at.first+j, at.width) - mean))
			for e := range at.depth {
				from, to := at.row*at.depth+e, (at.first+j)*at.depth+e
				gradients[0][from] += float64(ds * k.Float(to))
				gradients[1][to] += float64(ds * q.Float(from))
			}
			for e := range at.width {
				gradients[2][(at.first+j)*at.width+e] += float64(p * dy.Float(at.row*at.width+e))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]*ir.Tensor, 3)
	for i, g := range gradients {
		out[i] = ir.NewTensor(in[i].DType, in[i].Shape...)
		for k, x := range g {
			out[i].SetFloat(k, x)
		}
	}
	return out, nil
}

// Flops counts the multiplications and additions of five matrix products: Q·Kᵀ, dY·Vᵀ, and one for each of the
// gradients dQ, dK and dV.
func (op AttentionGradient) Flops(in, _ []ir.Type) dim.Dim {
	x, err := Attention(op).extents(in[:3])
	if err != nil {
		return dim.Dim{}
	}
	widths := x.depth.Mul(dim.Const(3)).Add(x.width.Mul(dim.Const(2)))
	return dim.Product(dim.Const(2), x.batch, x.heads, x.queries, x.keys, widths)
}

// Lower computes the gradients with operators on all scores.
func (op AttentionGradient) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return Attention(op).gradients(b, op.forward(n), n.Arg(3), nil)[:3]
}

// gradients appends the gradients of the operands of an [AttentionTraining]. The gradients of the lengths, of the
// starts, and of a mask that is absent or of bools are nil. dy and dsums are the gradients of the two results; a nil
// dsums is zero.
func (op Attention) gradients(b *ir.Builder, args []*ir.Value, dy, dsums *ir.Value) []*ir.Value {
	args = append([]*ir.Value{}, args...)
	x := op.unified(b, args)
	c := calculus{b}
	_, p := op.build(b, args, softmaxScores)
	k, v := args[1], args[2]
	q := ReshapeTo(b, times(b, args[0], op.Scale), x.batch, x.shared, x.rows(), x.depth)
	dy = ReshapeTo(b, dy, x.batch, x.shared, x.rows(), x.width)
	byHead := func(v *ir.Value) *ir.Value { return ReshapeTo(b, v, x.batch, x.shared, x.rows(), x.keys) }
	dp := ReshapeTo(b, b.Node(MatMul{}, dy, swapLast(b, v)), x.batch, x.heads, x.queries, x.keys)
	rest := c.sum(c.mul(dp, p), true, 3)
	if dsums != nil {
		rest = c.sub(rest, ReshapeTo(b, dsums, x.batch, x.heads, x.queries, dim.Const(1)))
	}
	ds := c.mul(p, c.sub(dp, rest))
	grads := []*ir.Value{
		times(b, ReshapeTo(b, b.Node(MatMul{}, byHead(ds), k), x.batch, x.heads, x.queries, x.depth), op.Scale),
		b.Node(MatMul{}, swapLast(b, byHead(ds)), q),
		b.Node(MatMul{}, swapLast(b, byHead(p)), dy),
		nil, nil, nil,
	}
	if len(args) > 3 && args[3] != nil && args[3].Type.DType.IsFloat() {
		grads[3] = c.fit(ds, args[3])
	}
	return grads
}
