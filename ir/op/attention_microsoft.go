package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// headed holds the operands of an attention of com.microsoft, split into heads: queries [B,H,S,D], keys [B,G,T,D]
// and values [B,G,T,E]. Keys and values include the past keys and values.
type headed struct {
	q, k, v *ir.Value
	past    dim.Dim   // number of past keys
	mask    *ir.Value // sum of the masks so far, added to the scores; nil if there is none
	cached  bool      // masks may have fewer keys than the cache
}

// remember puts past keys and values, [B,G,P,D], before the keys and values of x. It does nothing if both are nil.
// It panics, as [ir.Fail] does, if only one is nil or if the past keys are not of rank 4.
func (x *headed) remember(b *ir.Builder, keys, values *ir.Value) {
	if keys == nil && values == nil {
		return
	}
	if keys == nil || values == nil || keys.Type.Rank() != 4 {
		ir.Fail("past keys or values are missing, or not of rank 4")
	}
	x.past = keys.Type.Shape[2]
	x.k, x.v = b.Node(Concat{Axis: 2}, keys, x.k), b.Node(Concat{Axis: 2}, values, x.v)
}

// overwrite stores the keys and values of x in the caches `keys` and `values`. The keys of batch element i begin at
// position starts[i] of the cache. The caches then replace the keys and values of x. overwrite panics, as [ir.Fail]
// does, if a cache is nil or not of rank 4.
func (x *headed) overwrite(b *ir.Builder, keys, values, starts *ir.Value) {
	for _, part := range []struct {
		to    **ir.Value
		cache *ir.Value
	}{{&x.k, keys}, {&x.v, values}} {
		if part.cache == nil || part.cache.Type.Rank() != 4 {
			ir.Fail("past keys or values are missing, or not of rank 4")
		}
		*part.to = scatterRows(b, part.cache, *part.to, 2, starts, false)
	}
	x.cached = true
}

// shape returns the shape of the scores, [B,H,S,T].
func (x *headed) shape() []dim.Dim {
	q := x.q.Type.Shape
	return []dim.Dim{q[0], q[1], q[2], x.k.Type.Shape[2]}
}

// agree makes the extent of an axis of mask equal to the extent of axis scoreAxis of the scores, [B,H,S,T]. It
// returns the mask. label names the extents in errors.
func (x *headed) agree(b *ir.Builder, mask *ir.Value, axis, scoreAxis int, label string) *ir.Value {
	values := []*ir.Value{mask, x.q, x.k, x.v}
	agree(b, mask.Type.Shape[axis], x.shape()[scoreAxis], label, values)
	x.q, x.k, x.v = values[1], values[2], values[3]
	return values[0]
}

// add adds a float mask, which broadcasts to the scores, to x.mask. A nil mask changes nothing. add panics, as
// [ir.Fail] does, unless the rank of the mask is from 1 to 4.
func (x *headed) add(b *ir.Builder, mask *ir.Value) {
	if mask == nil {
		return
	}
	rank := mask.Type.Rank()
	if rank < 1 || rank > 4 {
		ir.Fail("the attention bias is %s", mask.Type)
	}
	if x.cached {
		mask = padKeys(b, mask, x.shape()[3])
	}
	for i := range rank {
		if d := mask.Type.Shape[i]; !d.Equal(dim.Const(1)) {
			mask = x.agree(b, mask, i, 4-rank+i, fmt.Sprintf("axis %d of the attention bias", i))
		}
	}
	if x.mask == nil {
		x.mask = mask
		return
	}
	x.mask = b.Node(Add{}, x.mask, mask)
}

// exclude excludes keys by an integer mask. It adds mask_filter_value to the scores of excluded keys. The mask has
// one of these forms:
//   - [B,T] or [B,S,T]: a key is excluded if its element of the mask is not positive
//   - [B]: the number of keys of each batch element
//   - [2·B]: the numbers of [B], followed by the index of the first key of each batch element
//
// A nil mask excludes no key. exclude returns an error if the mask has another rank.
func (x *headed) exclude(c ir.Importer, mask *ir.Value) error {
	out := c.Float("mask_filter_value", -10000)
	if mask == nil {
		return nil
	}
	b, one, d := c.Builder(), dim.Const(1), x.q.Type.DType
	var kept *ir.Value
	switch shape := mask.Type.Shape; len(shape) {
	case 1:
		pair := shape[0].Equal(x.shape()[0].Mul(dim.Const(2)))
		if !pair {
			mask = x.agree(b, mask, 0, 0, "the mask and the batch")
		}
		batch, keys := x.shape()[0], positions(b, x.shape()[3])
		mask = ConvertTo(b, mask, ir.I64)
		kept = b.Node(Less{}, keys, perBatch(b, sliceAxis(b, mask, 0, dim.Const(0), batch)))
		if pair {
			first := perBatch(b, sliceAxis(b, mask, 0, batch, batch))
			kept = b.Node(And{}, kept, b.Node(GreaterOrEqual{}, keys, first))
		}
	case 2:
		kept = ReshapeTo(b, b.Node(Greater{}, mask, b.Scalar(mask.Type.DType, 0)), shape[0], one, one, shape[1])
	case 3:
		kept = ReshapeTo(b, b.Node(Greater{}, mask, b.Scalar(mask.Type.DType, 0)), shape[0], one, shape[1], shape[2])
	default:
		return fmt.Errorf("the mask is %s, rank 1 to 3 expected", mask.Type)
	}
	x.add(b, b.Node(Where{}, kept, b.Scalar(d, 0), b.Scalar(d, out)))
	return nil
}

func (x *headed) op(c ir.Importer) (Attention, error) {
	op := Attention{Past: x.past, Before: -1, After: -1}
	if c.Int("unidirectional", 0) != 0 {
		op.After = 0
	}
	var err error
	op.Scale, err = attentionScale(c.Float("scale", 0), x.q.Type.Shape[3])
	return op, err
}

// importMicrosoftAttention imports Attention of com.microsoft. It computes queries, keys and values as x, [B,S,N],
// times weights, [N, the sum of the three hidden sizes], plus a bias. `past` and `present` hold keys and values,
// [2,B,H,T,D].
func importMicrosoftAttention(c ir.Importer) ([]*ir.Value, error) {
	b, x, w := c.Builder(), c.Arg(0), c.Arg(1)
	heads := c.Int("num_heads", 0)
	if w.Type.Rank() != 2 || x.Type.Rank() != 3 || heads < 1 {
		return nil, fmt.Errorf("%s times %s for %d heads", x.Type, w.Type, heads)
	}
	for _, name := range []string{"do_rotary", "past_present_share_buffer"} {
		if c.Int(name, 0) != 0 {
			return nil, fmt.Errorf("%s is not supported", name)
		}
	}
	c.Int("rotary_embedding_dim", 0)
	all := b.Node(MatMul{}, x, w)
	if bias := c.Arg(2); bias != nil {
		all = b.Node(Add{}, all, bias)
	}
	total, ok := all.Type.Shape[2].Int()
	sizes := c.Ints("qkv_hidden_sizes", []int{total / 3, total / 3, total / 3})
	if !ok || len(sizes) != 3 || min(sizes[0], sizes[1], sizes[2]) < 0 || sizes[0]+sizes[1]+sizes[2] != total || sizes[0] != sizes[1] {
		return nil, fmt.Errorf("%s elements are split into %v", all.Type.Shape[2], sizes)
	}
	part := func(i, from int) *ir.Value {
		return splitHeads(b, sliceAxis(b, all, 2, dim.Const(from), dim.Const(sizes[i])), heads)
	}
	h := headed{q: part(0, 0), k: part(1, sizes[0]), v: part(2, sizes[0]+sizes[1])}
	if past := c.Arg(4); past != nil {
		if past.Type.Rank() != 5 {
			return nil, fmt.Errorf("the past is %s, rank 5 expected", past.Type)
		}
		h.remember(b, pairOf(b, past, 0), pairOf(b, past, 1))
	}
	if err := h.exclude(c, c.Arg(3)); err != nil {
		return nil, err
	}
	h.add(b, c.Arg(5))
	op, err := h.op(c)
	if err != nil {
		return nil, err
	}
	out := []*ir.Value{joinHeads(b, b.Node(op, h.q, h.k, h.v, h.mask))}
	if c.Wants(1) {
		lead := func(v *ir.Value) *ir.Value {
			return ReshapeTo(b, v, append([]dim.Dim{dim.Const(1)}, v.Type.Shape...)...)
		}
		out = append(out, b.Node(Concat{Axis: 0}, lead(h.k), lead(h.v)))
	}
	return out, nil
}

// pairOf appends the keys (i = 0) or the values (i = 1) of `past`, which holds both.
func pairOf(b *ir.Builder, past *ir.Value, i int) *ir.Value {
	return ReshapeTo(b, sliceAxis(b, past, 0, dim.Const(i), dim.Const(1)), past.Type.Shape[1:]...)
}

// padKeys returns mask, extended to `count` elements along the last axis. The new elements are −∞.
func padKeys(b *ir.Builder, mask *ir.Value, count dim.Dim) *ir.Value {
	last := mask.Type.Rank() - 1
	missing := count.Sub(mask.Type.Shape[last])
	if missing.Equal(dim.Const(0)) {
		return mask
	}
	checkMissing(b, missing)
	pad := Pad{Mode: "constant", Before: make([]dim.Dim, last+1), After: make([]dim.Dim, last+1)}
	pad.After[last] = missing
	return b.Node(pad, mask, b.Scalar(mask.Type.DType, math.Inf(-1)))
}
