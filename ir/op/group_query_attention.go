package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importGroupQueryAttention imports GroupQueryAttention of com.microsoft: attention with a key-value cache,
// [B,G,P,D]. It is causal unless the attribute causal is 0. After the call, each batch element uses seqlens_k + 1
// positions of the cache. The keys and values of this call are at the end of these positions. In the first call of a
// sequence, the prompt, they fill all of these positions.
func importGroupQueryAttention(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	g := groupQuery{Importer: c, b: b, heads: c.Int("num_heads", 0), shared: c.Int("kv_num_heads", 0)}
	if err := g.supported(); err != nil {
		return nil, err
	}
	q, k, v, err := g.load()
	if err != nil {
		return nil, err
	}
	total, err := boundDims(c, 6, "total_sequence_length")
	if err != nil {
		return nil, err
	}
	if len(total) != 1 {
		return nil, fmt.Errorf("total_sequence_length has %d elements", len(total))
	}
	g.count = q.Type.Shape[1]
	g.first(q.Type.Shape[0], total[0])
	if c.Int("do_rotary", 0) != 0 {
		r := rotary{Interleaved: c.Int("rotary_interleaved", 0) != 0}
		cos, sin := g.angles(7), g.angles(8)
		r.Width = cos.Type.Shape[3].Mul(dim.Const(2))
		q, k = r.apply(b, q, cos, sin), r.apply(b, k, cos, sin)
	} else {
		c.Int("rotary_interleaved", 0)
	}
	q, k, v = TransposeBy(b, q, 0, 2, 1, 3), TransposeBy(b, k, 0, 2, 1, 3), TransposeBy(b, v, 0, 2, 1, 3)
	k, v = g.cache(k, c.Arg(3), total[0]), g.cache(v, c.Arg(4), total[0])

	op := Attention{Softcap: c.Float("softcap", 0), Before: -1, After: 0}
	if op.Scale, err = attentionScale(c.Float("scale", 0), q.Type.Shape[3]); err != nil {
		return nil, err
	}
	if window := c.Int("local_window_size", -1); window > 0 {
		op.Before = windowSide(window - 1)
	}
	if c.Int("causal", 1) == 0 {
		op.After = -1
	}
	args := []*ir.Value{q, k, v, nil, nil, g.starts, c.Arg(11)}
	if c.Int("causal", 1) == 0 {
		args[4] = g.lengths
	}
	if bias := c.Arg(10); bias != nil {
		args[3] = padKeys(b, bias, k.Type.Shape[2])
	}
	if c.Int("smooth_softmax", 0) == 1 && args[6] == nil {
		args[6] = ExpandTo(b, b.Scalar(q.Type.DType, 0), dim.Const(g.heads))
	}
	stage, ok := map[int]int{0: noScores, 1: maskedScores, 2: softmaxScores}[c.Int("qk_output", 0)]
	if !ok {
		return nil, fmt.Errorf("qk_output %d", c.Int("qk_output", 0))
	}
	var y, seen *ir.Value
	if c.Wants(3) {
		y, seen = op.build(b, args, stage)
	} else {
		y = b.Node(op, args...)
	}
	out := []*ir.Value{joinHeads(b, y), k, v, seen}
	return out[:min(len(out), max(c.NumResults(), 1))], nil
}

// groupQuery is the state of the import of a GroupQueryAttention. heads is the number of heads of queries, and
// shared the number of heads of keys and values.
type groupQuery struct {
	ir.Importer
	b             *ir.Builder
	heads, shared int
	count         dim.Dim   // number of new keys
	spare         dim.Dim   // total length minus the number of new keys
	starts        *ir.Value // i64[B], number of keys in use before the new ones
	lengths       *ir.Value // i64[B], number of keys in use with the new ones
}

// supported returns an error if the number of query heads is not a multiple of the number of key
// heads, or if the cache is quantised or rolling.
func (g *groupQuery) supported() error {
	for _, name := range []string{"k_quant_type", "v_quant_type"} {
		if t := g.Text(name, "NONE"); t != "NONE" {
			return fmt.Errorf("%s %s is not supported", name, t)
		}
	}
	g.Int("kv_cache_bit_width", 0)
	if g.Int("sliding_window_cache", 0) != 0 {
		return fmt.Errorf("sliding_window_cache is not supported")
	}
	if g.heads < 1 || g.shared < 1 || g.heads%g.shared != 0 {
		return fmt.Errorf("%d heads of queries share %d of keys", g.heads, g.shared)
	}
	return nil
}

// load returns queries, keys and values, [B,S,heads,D]. If the operands of keys and values are absent, the first
// operand holds the heads of queries, keys and values, in this order. Queries and keys are normalised if the node
// has weights for this.
func (g *groupQuery) load() (q, k, v *ir.Value, err error) {
	q, k, v = g.Arg(0), g.Arg(1), g.Arg(2)
	switch {
	case k == nil && v == nil:
		all := headsOf(g.b, q, g.heads+2*g.shared)
		part := func(from, count int) *ir.Value { return sliceAxis(g.b, all, 2, dim.Const(from), dim.Const(count)) }
		q, k, v = part(0, g.heads), part(g.heads, g.shared), part(g.heads+g.shared, g.shared)
	case k == nil || v == nil:
		return nil, nil, nil, fmt.Errorf("keys without values, or values without keys")
	default:
		q, k, v = headsOf(g.b, q, g.heads), headsOf(g.b, k, g.shared), headsOf(g.b, v, g.shared)
	}
	norm := RMSNormalization{Axis: 3, Epsilon: g.Float("qk_norm_epsilon", float64(float32(1e-6)))}
	if w := g.Arg(14); w != nil {
		q = g.b.Node(norm, q, w)
	}
	if w := g.Arg(15); w != nil {
		k = g.b.Node(norm, k, w)
	}
	return q, k, v, nil
}

// first sets spare, starts and lengths, which say how much of the cache is in use. batch is the number of sequences.
// total is the length of the longest sequence, with its new keys.
func (g *groupQuery) first(batch, total dim.Dim) {
	b := g.b
	g.spare = total.Sub(g.count)
	g.lengths = shifted(b, ReshapeTo(b, ConvertTo(b, g.Arg(5), ir.I64), batch), 1)
	g.starts = g.choose(ExpandTo(b, b.Scalar(ir.I64, 0), batch), b.Node(Sub{}, g.lengths, b.Dims(g.count)))
}

// choose returns `prompt` if the cache holds no elements of previous calls, and `later` otherwise.
func (g *groupQuery) choose(prompt, later *ir.Value) *ir.Value {
	if lo, hi := g.spare.Bounds(); lo > 0 {
		return later
	} else if lo == 0 && hi == 0 {
		return prompt
	}
	return g.b.Node(Where{}, g.b.Node(Equal{}, g.b.Dims(g.spare), g.b.Dims(dim.Const(0))), prompt, later)
}

// angles returns the cosines or sines at the new positions, [B,S,1,N]. Operand number `operand` of the node is the
// table of cosines or sines. The node may give positions. In a prompt, angles uses only the first of them, and the
// positions of the other tokens follow it.
func (g *groupQuery) angles(operand int) *ir.Value {
	b, table, given, one := g.b, g.Arg(operand), g.Arg(9), dim.Const(1)
	if table == nil || table.Type.Rank() != 2 {
		ir.Fail("operand %d is not a table of angles", operand)
	}
	row := ReshapeTo(b, positions(b, g.count), one, g.count)
	first := ReshapeTo(b, g.starts, g.starts.Type.Shape[0], one)
	at := b.Node(Add{}, first, row)
	if given != nil {
		if given.Type.Rank() != 2 {
			ir.Fail("the positions are %s, rank 2 expected", given.Type)
		}
		given = ConvertTo(b, given, ir.I64)
		origin := sliceAxis(b, sliceAxis(b, given, 0, dim.Const(0), one), 1, dim.Const(0), one)
		at = g.choose(b.Node(Add{}, at, origin), given)
	}
	return perToken(b, angleRows(b, table, at), g.Arg(0).Type.DType)
}

// cache returns the keys or values in use of the cache `past`, followed by the new ones, `fresh`: [B,G,S,D]. cache
// pads them with zeros to the extent of `past` or to `total`, whichever is larger. A nil past is empty.
func (g *groupQuery) cache(fresh, past *ir.Value, total dim.Dim) *ir.Value {
	b := g.b
	s := fresh.Type.Shape
	if past == nil && total.Equal(g.count) {
		return fresh
	}
	var extent dim.Dim
	if past == nil {
		extent = total
		past = ExpandTo(b, b.Scalar(fresh.Type.DType, 0), s[0], s[1], extent, s[3])
	} else {
		if past.Type.Rank() != 4 || past.Type.DType != fresh.Type.DType {
			ir.Fail("the cache is %s for %s", past.Type, fresh.Type)
		}
		extent = past.Type.Shape[2].Max(total)
		pad := Pad{Mode: "constant", Before: make([]dim.Dim, 4), After: make([]dim.Dim, 4)}
		pad.After[2] = extent.Sub(past.Type.Shape[2])
		if !pad.After[2].Equal(dim.Const(0)) {
			past = b.Node(pad, past)
		}
		keys := ReshapeTo(b, positions(b, extent), extent, dim.Const(1))
		used := b.Node(Less{}, keys, perBatch(b, g.starts))
		past = b.Node(Where{}, used, past, b.Scalar(fresh.Type.DType, 0))
	}
	return scatterRows(b, past, fresh, 2, g.starts, false)
}
