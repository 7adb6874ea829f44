package op

import (
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importAttention imports Attention (from opset 23). The last axis of queries, keys and values of rank 3 holds all
// heads, one after the other. Past keys precede the present keys, and past values the present values. The second
// result holds all keys, and the third all values.
func importAttention(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	q, k, v := c.Arg(0), c.Arg(1), ConvertTo(c.Builder(), c.Arg(2), c.Arg(0).Type.DType)
	packed := q.Type.Rank() == 3
	queryHeads, keyHeads := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	if packed {
		q, k, v = splitHeads(b, q, queryHeads), splitHeads(b, k, keyHeads), splitHeads(b, v, keyHeads)
	}
	for _, x := range []*ir.Value{q, k, v} {
		if x.Type.Rank() != 4 {
			return nil, fmt.Errorf("%s where queries, keys and values have rank 3 or 4", x.Type)
		}
	}
	op, stage, err := attentionAttrs(c, q.Type.Shape[3])
	if err != nil {
		return nil, err
	}
	if (c.Arg(4) == nil) != (c.Arg(5) == nil) {
		return nil, fmt.Errorf("past keys without past values, or past values without keys")
	}
	if past := c.Arg(4); past != nil {
		op.Past = past.Type.Shape[min(2, past.Type.Rank()-1)]
		k = b.Node(Concat{Axis: 2}, past, k)
		v = b.Node(Concat{Axis: 2}, ConvertTo(b, c.Arg(5), v.Type.DType), v)
	}
	var lengths, starts *ir.Value
	if c.Opset() >= 24 && c.Arg(6) != nil {
		lengths = ConvertTo(b, c.Arg(6), ir.I64)
		if c.Arg(4) == nil && (op.Before >= 0 || op.After >= 0) {
			starts = b.Node(Sub{}, lengths, b.Dims(q.Type.Shape[2]))
		}
	}
	mask := attentionMask(c, q.Type.DType, k.Type.Shape[2])
	args := []*ir.Value{q, k, v, mask, lengths, starts}
	var y, seen *ir.Value
	if c.Wants(3) {
		y, seen = op.build(b, args, stage)
	} else {
		y = b.Node(op, args...)
	}
	if packed {
		y = joinHeads(b, y)
	}
	out := []*ir.Value{y, k, ConvertTo(b, v, c.Arg(2).Type.DType), seen}
	return out[:min(len(out), max(c.NumResults(), 1))], nil
}

// attentionAttrs reads the attributes that affect scores, for keys with `depth` elements. ONNX can return the
// scores at several stages of the attention. stage is the requested one, such as rawScores.
func attentionAttrs(c ir.Importer, depth dim.Dim) (op Attention, stage int, err error) {
	op = Attention{Before: -1, After: -1}
	if op.Scale = c.Float("scale", 0); !c.Has("scale") {
		if op.Scale, err = attentionScale(0, depth); err != nil {
			return op, 0, err
		}
	}
	op.Softcap = c.Float("softcap", 0)
	if c.Opset() >= 25 {
		op.Before, op.After = windowSide(c.Int("left_window_size", -1)), windowSide(c.Int("right_window_size", -1))
	}
	if c.Int("is_causal", 0) != 0 {
		op.After = 0
	}
	if c.Has("softmax_precision") {
		precision, ok := stashTypes[c.Int("softmax_precision", 1)]
		if !ok {
			return op, 0, fmt.Errorf("softmax_precision %d is not a float", c.Int("softmax_precision", 1))
		}
		if precision != c.Arg(0).Type.DType {
			op.Precision = precision
		}
	}
	stage = c.Int("qk_matmul_output_mode", rawScores)
	if stage < rawScores || stage > softmaxScores {
		return op, 0, fmt.Errorf("qk_matmul_output_mode %d, 0 to 3 expected", stage)
	}
	return op, stage, nil
}

// attentionScale returns scale, or 1/√depth if scale is 0. It returns an error if scale is 0 and depth is not
// constant.
func attentionScale(scale float64, depth dim.Dim) (float64, error) {
	if scale != 0 {
		return scale, nil
	}
	n, ok := depth.Int()
	if !ok {
		return 0, fmt.Errorf("the scale depends on %s, which is not known before the model runs", depth)
	}
	return 1 / math.Sqrt(float64(max(n, 1))), nil
}

// windowSide returns the field Before or After of an [Attention] for a window of n keys on that side. It returns
// −1, which means all keys, if n is negative or above 2³¹−1.
func windowSide(n int) int {
	if n > math.MaxInt32 {
		return -1
	}
	return max(n, -1)
}

// attentionMask returns operand 3 as the mask of an [Attention] with the given number of keys. It returns nil if
// the operand is absent. It converts a mask of numbers to type d. A mask may have fewer keys from opset 24 on; it
// then excludes the keys at the end.
func attentionMask(c ir.Importer, d ir.DType, keys dim.Dim) *ir.Value {
	b, mask := c.Builder(), c.Arg(3)
	if mask == nil {
		return nil
	}
	if mask.Type.DType != ir.Bool {
		mask = ConvertTo(b, mask, d)
	}
	rank := mask.Type.Rank()
	if rank == 0 {
		return ReshapeTo(b, mask, dim.Const(1))
	}
	missing := keys.Sub(mask.Type.Shape[rank-1])
	if n, ok := missing.Int(); c.Opset() < 24 || ok && n <= 0 {
		return mask
	}
	checkMissing(b, missing)
	pad := Pad{Mode: "constant", Before: make([]dim.Dim, rank), After: make([]dim.Dim, rank)}
	pad.After[rank-1] = missing
	out := b.Scalar(ir.F32, 0)
	if mask.Type.DType != ir.Bool {
		out = b.Scalar(ir.F32, math.Inf(-1))
	}
	return b.Node(pad, mask, ConvertTo(b, out, mask.Type.DType))
}

// checkMissing appends a check that `missing` is not negative. missing is the number of keys minus the number of
// keys in a mask. checkMissing appends nothing if missing is a constant, or if it can prove that missing is not
// negative.
func checkMissing(b *ir.Builder, missing dim.Dim) {
	if !missing.IsConst() && !missing.NonNegative() {
		b.Nodes(ir.CheckDim{A: missing, B: missing.Max(dim.Const(0)), What: "keys that the mask is short of"})
	}
}

// splitHeads reshapes and transposes [B,S,heads·D] to [B,heads,S,D]. It panics as [headsOf] does.
func splitHeads(b *ir.Builder, x *ir.Value, heads int) *ir.Value {
	return TransposeBy(b, headsOf(b, x, heads), 0, 2, 1, 3)
}

// headsOf reshapes [B,S,heads·D] to [B,S,heads,D]. It panics, as [ir.Fail] does, if the rank of x
// is not 3, heads is not positive, or the last extent is a constant but not a multiple of heads.
func headsOf(b *ir.Builder, x *ir.Value, heads int) *ir.Value {
	if x.Type.Rank() != 3 {
		ir.Fail("%s where heads lie in the last of three axes", x.Type)
	}
	s := x.Type.Shape
	if n, ok := s[2].Int(); heads < 1 || ok && n%heads != 0 {
		ir.Fail("%d heads of %s elements", heads, s[2])
	}
	return ReshapeTo(b, x, s[0], s[1], dim.Const(heads), divide(s[2], dim.Const(heads)))
}

// joinHeads transposes and reshapes [B,heads,S,D] to [B,S,heads·D].
func joinHeads(b *ir.Builder, x *ir.Value) *ir.Value {
	s := x.Type.Shape
	return ReshapeTo(b, TransposeBy(b, x, 0, 2, 1, 3), s[0], s[2], s[1].Mul(s[3]))
}

// agree makes two extents equal, x and y. They occur in the types of values, which agree updates as
// [ir.Builder.Equate] does. label names the extents in errors.
func agree(b *ir.Builder, x, y dim.Dim, label string, values []*ir.Value) {
	if err := Same(x, y, label); err != nil {
		equate(b, err, values)
	}
}

// equate makes two extents equal. err must be an [ir.Unproven], which names the extents. equate updates values, as
// [ir.Builder.Equate] does. It panics as ir.FailWith(err) does if err is another error, or if the extents cannot be
// made equal.
func equate(b *ir.Builder, err error, values []*ir.Value) {
	var u *ir.Unproven
	if !errors.As(err, &u) || !b.Equate(u.A, u.B, values) {
		ir.FailWith(err)
	}
}
