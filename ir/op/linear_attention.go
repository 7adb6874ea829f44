package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// LinearAttention is attention without a softmax (ONNX LinearAttention, from opset 27). Queries are [B,T,H,D], keys
// [B,T,G,D], values [B,T,G,E] and states [B,G,D,E], all of one float type. Query head h uses the state of head
// h·G/H. G divides H, which is constant. The results are [B,T,H,E] and the final states. Each step computes, with
// query, key and value as rows,
//
//	state  = keep·state + keyᵀ·value
//	result = query·state
//
// Two optional operands follow: keep, [B,T,G,D], which multiplies the rows of the state, and rate, [B,T,G]. With a
// rate, rate·(value − key·keep·state) replaces value.
type LinearAttention struct{}

// Infer returns [B,T,H,E] and [B,G,D,E].
func (LinearAttention) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 4, 6); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	for i, t := range in {
		if rank := [...]int{4, 4, 4, 4, 4, 3}[i]; !t.IsZero() && t.Rank() != rank {
			return nil, fmt.Errorf("operand %d is %s, rank %d expected", i, t, rank)
		}
	}
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	want := [][]dim.Dim{
		{q[0], q[1], q[2], q[3]}, {q[0], q[1], k[2], q[3]}, {q[0], q[1], k[2], v[3]},
		{q[0], k[2], q[3], v[3]}, {q[0], q[1], k[2], q[3]}, {q[0], q[1], k[2]},
	}
	for i, t := range in {
		for axis, d := range t.Shape {
			if err := Same(d, want[i][axis], fmt.Sprintf("axis %d of operand %d", axis, i)); err != nil {
				return nil, err
			}
		}
	}
	heads, isConst := q[2].Int()
	if _, ok := q[2].DivExact(k[2]); !ok || !isConst || heads < 1 {
		return nil, fmt.Errorf("%s heads of queries share %s of keys", q[2], k[2])
	}
	d := in[0].DType
	return []ir.Type{ir.TensorOf(d, q[0], q[1], q[2], v[3]), ir.TensorOf(d, q[0], k[2], q[3], v[3])}, nil
}

// Eval returns the attention, [B,T,H,E], and the final states, [B,G,D,E], computed in float64.
func (op LinearAttention) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	in = append(in[:len(in):len(in)], make([]*ir.Tensor, 6-len(in))...)
	q, k, v, past, keep, rate := in[0], in[1], in[2], in[3], in[4], in[5]
	shape, _ := out[0].Static()
	y, last := ir.NewTensor(q.DType, shape...), ir.NewTensor(q.DType, past.Shape...)
	steps, heads, shared, depth, width := q.Shape[1], q.Shape[2], k.Shape[2], q.Shape[3], v.Shape[3]
	state := make([]float64, depth*width)
	times := func(row *ir.Tensor, i, e int) (sum float64) { // element e of row i times the state
		for d := range depth {
			sum += float64(row.Float(i*depth+d) * state[d*width+e])
		}
		return sum
	}
	for unit := range q.Shape[0] * shared {
		for i := range state {
			state[i] = past.Float(unit*len(state) + i)
		}
		for step := range steps {
			token := unit/shared*steps + step
			at := token*shared + unit%shared
			for i := range state {
				if keep != nil {
					state[i] *= keep.Float(at*depth + i/width)
				}
			}
			added := make([]float64, width)
			for e := range added {
				added[e] = v.Float(at*width + e)
				if rate != nil {
					added[e] = rate.Float(at) * (added[e] - times(k, at, e))
				}
			}
			for i := range state {
				state[i] += float64(k.Float(at*depth+i/width) * added[i%width])
			}
			for h := token * heads; h < (token+1)*heads; h++ {
				if h%heads*shared/heads == unit%shared {
					for e := range width {
						y.SetFloat(h*width+e, times(q, h, e))
					}
				}
			}
		}
		for i, s := range state {
			last.SetFloat(unit*len(state)+i, s)
		}
	}
	return []*ir.Tensor{y, last}, nil
}

// Flops counts a multiplication and an addition for each product of two elements, in each step.
func (LinearAttention) Flops(in, _ []ir.Type) dim.Dim {
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	return dim.Product(dim.Const(2), q[0], q[1], q[3], v[3], q[2].Add(k[2].Mul(dim.Const(2))))
}

// Compose replaces the node by a [Loop] over the T steps.
func (op LinearAttention) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	q, k, v, past := n.Arg(0), n.Arg(1), n.Arg(2), n.Arg(3)
	batch, steps, heads, shared := q.Type.Shape[0], q.Type.Shape[1], q.Type.Shape[2], k.Type.Shape[2]
	depth, width, one := q.Type.Shape[3], v.Type.Shape[3], dim.Const(1)
	result := ir.TensorOf(q.Type.DType, batch, heads, width)
	body := b.Block(func(b *ir.Builder) {
		c := calculus{b}
		carried, condition := bodyParams(b, []ir.Type{past.Type})
		row := func(x *ir.Value, shape ...dim.Dim) *ir.Value {
			return ReshapeTo(b, b.Node(Gather{Axis: 1}, x, carried[0]), append([]dim.Dim{batch, shared}, shape...)...)
		}
		state, added := carried[1], row(v, one, width)
		if keep := n.Arg(4); keep != nil {
			state = c.mul(state, row(keep, depth, one))
		}
		if rate := n.Arg(5); rate != nil {
			added = c.mul(row(rate, one, one), c.sub(added, b.Node(MatMul{}, row(k, one, depth), state)))
		}
		state = c.add(state, c.mul(row(k, depth, one), added))
		perHead, _ := heads.DivExact(shared)
		y := b.Node(MatMul{}, row(q, perHead, depth), state)
		b.Return(condition, state, ReshapeTo(b, y, result.Shape...))
	})
	out := b.NodeBlocks(Loop{Counted: true, Trips: steps, Scans: []ir.Type{result}}, []*ir.Block{body}, past)
	return []*ir.Value{TransposeBy(b, out[1], 1, 0, 2, 3), out[0]}
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (LinearAttention) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// linearRules says for each update rule of LinearAttention whether it has a decay, and whether it has a rate.
var linearRules = map[string]struct{ decay, rate bool }{
	"linear":      {false, false},
	"gated":       {true, false},
	"delta":       {false, true},
	"gated_delta": {true, true},
}

// importLinearAttention imports LinearAttention. In ONNX, the last axis of queries, keys and values holds all
// heads, and decay is the logarithm of keep in [LinearAttention]. The attention is computed in the element type of
// the values or of the states, whichever is wider.
func importLinearAttention(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	rule, ok := linearRules[c.Text("update_rule", "gated_delta")]
	if !ok {
		return nil, fmt.Errorf("update_rule %q", c.Text("update_rule", "gated_delta"))
	}
	c.Int("chunk_size", 64) // affects the algorithm, not the result
	heads, shared := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	d := c.Arg(0).Type.DType
	inner, kept := wide(d), d
	if past := c.Arg(3); past != nil {
		kept = past.Type.DType
		if w := wide(kept); w.Bits() > inner.Bits() {
			inner = w
		}
	}
	q := headsOf(b, ConvertTo(b, c.Arg(0), inner), heads)
	k := headsOf(b, ConvertTo(b, c.Arg(1), inner), shared)
	v := headsOf(b, ConvertTo(b, c.Arg(2), inner), shared)
	scale, err := attentionScale(c.Float("scale", 0), q.Type.Shape[3])
	if err != nil {
		return nil, err
	}
	s := q.Type.Shape
	state := []dim.Dim{s[0], dim.Const(shared), s[3], v.Type.Shape[3]}
	args := []*ir.Value{times(b, q, scale), k, v, nil, nil, nil}
	if past := c.Arg(3); past != nil {
		args[3] = ConvertTo(b, past, inner)
	} else {
		args[3] = ExpandTo(b, b.Scalar(inner, 0), state...)
	}
	perHead := []dim.Dim{s[0], s[1], dim.Const(shared)}
	for i, want := range []bool{rule.decay, rule.rate} {
		x := c.Arg(4 + i)
		if x == nil && want {
			return nil, fmt.Errorf("update_rule %s without operand %d", c.Text("update_rule", "gated_delta"), 4+i)
		}
		if !want {
			continue
		}
		x = ConvertTo(b, x, inner)
		if i == 0 {
			x = b.Node(Exp{}, headsOf(b, x, shared))
			args[4] = ExpandTo(b, x, append(perHead[:3:3], s[3])...)
		} else {
			args[5] = ExpandTo(b, x, perHead...)
		}
	}
	out := b.Nodes(LinearAttention{}, args...)
	y := ConvertTo(b, out[0], d)
	all := []*ir.Value{ReshapeTo(b, y, s[0], s[1], s[2].Mul(v.Type.Shape[3])), ConvertTo(b, out[1], kept)}
	return all[:max(c.NumResults(), 1)], nil
}
