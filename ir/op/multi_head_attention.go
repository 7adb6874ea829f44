package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// multiHead holds the indices of all operands after the queries, keys and values, for MultiHeadAttention or
// DecoderMaskedMultiHeadAttention of com.microsoft. Operand `scores` is added to the scores. Operand `used` is the
// number of keys in use, and operand `beams` the beam width.
type multiHead struct{ bias, mask, scores, pastKeys, pastValues, used, beams int }

var (
	multiHeadAttention    = multiHead{bias: 3, mask: 4, scores: 5, pastKeys: 6, pastValues: 7, used: 8, beams: 9}
	maskedDecodeAttention = multiHead{bias: 10, mask: 3, scores: 4, pastKeys: 5, pastValues: 6, used: 7, beams: 9}
)

// load reads queries [B,S,H·D], keys [B,T,H·D] and values [B,T,H·E]. One operand may hold keys and values,
// [B,T,H,2,D], or all three, [B,T,H,3,D] or [B,T,3·H·D]. Keys and values may also be [B,H,T,D]. load adds the bias
// to queries, and to keys and values unless they are [B,H,T,D].
func (m multiHead) load(c ir.Importer, heads int) (x headed, err error) {
	b, q, k, v := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	parts := []*ir.Value{q, k, v} // as [B,S,H,D]
	split := func(from *ir.Value, first, count int) error {
		if n, ok := from.Type.Shape[3].Int(); !ok || n != count {
			return fmt.Errorf("%s does not hold %d tensors", from.Type, count)
		}
		for i := range count {
			s := from.Type.Shape
			parts[first+i] = ReshapeTo(b, sliceAxis(b, from, 3, dim.Const(i), dim.Const(1)), s[0], s[1], s[2], s[4])
		}
		return nil
	}
	ready := k != nil && k.Type.Rank() == 4
	switch {
	case k == nil && q.Type.Rank() == 5:
		err = split(q, 0, 3)
	case k == nil && q.Type.Rank() == 3:
		third := divide(q.Type.Shape[2], dim.Const(3))
		for i := range parts {
			parts[i] = sliceAxis(b, q, 2, third.Mul(dim.Const(i)), third)
		}
	case k == nil:
		err = fmt.Errorf("keys are missing beside %s", q.Type)
	case v == nil && k.Type.Rank() == 5:
		err = split(k, 1, 2)
	case v == nil:
		err = fmt.Errorf("values are missing beside %s", k.Type)
	}
	if err != nil {
		return x, err
	}
	from := dim.Const(0)
	for i, p := range parts {
		if i > 0 && ready {
			continue
		}
		if p.Type.Rank() == 3 {
			p = headsOf(b, p, heads)
		}
		if p.Type.Rank() != 4 {
			return x, fmt.Errorf("operand %d is %s", i, p.Type)
		}
		if bias := c.Arg(m.bias); bias != nil {
			s := p.Type.Shape
			own := s[2].Mul(s[3])
			p = b.Node(Add{}, p, ReshapeTo(b, sliceAxis(b, bias, 0, from, own), s[2], s[3]))
			from = from.Add(own)
		}
		parts[i] = TransposeBy(b, p, 0, 2, 1, 3)
	}
	return headed{q: parts[0], k: parts[1], v: parts[2]}, nil
}

// read imports MultiHeadAttention or DecoderMaskedMultiHeadAttention. If the number of keys in use is an operand,
// past and present are one cache, which has room for more keys.
func (m multiHead) read(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	if c.Arg(m.beams) != nil {
		return nil, fmt.Errorf("a cache of several beams is not supported")
	}
	c.Int("past_present_share_buffer", 0)
	c.Int("output_qk", 0)
	x, err := m.load(c, c.Int("num_heads", 0))
	if err != nil {
		return nil, err
	}
	var lengths, starts *ir.Value
	if used := c.Arg(m.used); used != nil && c.Arg(m.pastKeys) != nil {
		starts = ConvertTo(b, ReshapeTo(b, used, dim.Const(1)), ir.I64)
		starts = ExpandTo(b, starts, x.q.Type.Shape[0])
		lengths = b.Node(Add{}, starts, b.Dims(x.k.Type.Shape[2]))
		x.overwrite(b, c.Arg(m.pastKeys), c.Arg(m.pastValues), starts)
	} else {
		x.remember(b, c.Arg(m.pastKeys), c.Arg(m.pastValues))
	}
	if err := x.exclude(c, c.Arg(m.mask)); err != nil {
		return nil, err
	}
	x.add(b, c.Arg(m.scores))
	op, err := x.op(c)
	if err != nil {
		return nil, err
	}
	args := []*ir.Value{x.q, x.k, x.v, x.mask, lengths, starts}
	var y, seen *ir.Value
	if c.Wants(3) {
		y, seen = op.build(b, args, maskedScores)
	} else {
		y = b.Node(op, args...)
	}
	out := []*ir.Value{joinHeads(b, y), x.k, x.v, seen}
	return out[:min(len(out), max(c.NumResults(), 1))], nil
}
