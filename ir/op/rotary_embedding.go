package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// rotary rotates vectors by angles that depend on their positions (https://arxiv.org/abs/2104.09864). The first
// Width elements of a vector form pairs (x, y). Each pair is rotated to (x·cos − y·sin, x·sin + y·cos). A pair is
// elements 2i and 2i+1 if Interleaved, and elements i and Width/2 + i otherwise.
type rotary struct {
	Width       dim.Dim
	Interleaved bool
}

// apply returns x, […,D], with the first Width elements of each vector rotated. cos and sin broadcast to
// […,Width/2]. apply panics, as [ir.Fail] does, if Width is odd or exceeds D.
func (r rotary) apply(b *ir.Builder, x, cos, sin *ir.Value) *ir.Value {
	last := x.Type.Rank() - 1
	half, ok := r.Width.DivExact(dim.Const(2))
	kept := x.Type.Shape[last].Sub(r.Width)
	if _, most := kept.Bounds(); !ok || most < 0 {
		ir.Fail("%s of %s elements do not make pairs", r.Width, x.Type.Shape[last])
	}
	angles := []*ir.Value{cos, sin}
	for i := range angles {
		t := angles[i].Type
		agree(b, t.Shape[t.Rank()-1], half, "angles and pairs", angles)
	}
	cos, sin = angles[0], angles[1]
	turned := sliceAxis(b, x, last, dim.Const(0), r.Width)
	shape := turned.Type.Shape
	axis, pairs := last, append(shape[:last:last], dim.Const(2), half)
	if r.Interleaved {
		axis, pairs = last+1, append(shape[:last:last], half, dim.Const(2))
	}
	split := ReshapeTo(b, turned, pairs...)
	part := func(i int) *ir.Value {
		return ReshapeTo(b, sliceAxis(b, split, axis, dim.Const(i), dim.Const(1)), append(shape[:last:last], half)...)
	}
	re, im := part(0), part(1)
	mul := func(x, y *ir.Value) *ir.Value { return b.Node(Mul{}, x, y) }
	parts := []*ir.Value{
		b.Node(Sub{}, mul(re, cos), mul(im, sin)),
		b.Node(Add{}, mul(re, sin), mul(im, cos)),
	}
	one := append(pairs[:axis:axis], dim.Const(1))
	one = append(one, pairs[axis+1:]...)
	for i, p := range parts {
		parts[i] = ReshapeTo(b, p, one...)
	}
	turned = ReshapeTo(b, b.Node(Concat{Axis: axis}, parts...), shape...)
	if kept.Equal(dim.Const(0)) {
		return turned
	}
	return b.Node(Concat{Axis: last}, turned, sliceAxis(b, x, last, r.Width, kept))
}

// importRotaryEmbedding imports RotaryEmbedding (from opset 23) for vectors [B,H,S,D] or [B,S,H·D]. The cosines and
// sines are [B,S,Width/2]. If the operand with positions, [B,S], is present, the cosines and sines are tables
// instead, and the positions select rows of these tables.
func importRotaryEmbedding(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	heads := c.Int("num_heads", 0)
	packed := x.Type.Rank() == 3
	if packed {
		x = headsOf(b, x, heads)
	} else if x.Type.Rank() == 4 {
		x = TransposeBy(b, x, 0, 2, 1, 3)
	} else {
		return nil, fmt.Errorf("%s, rank 3 or 4 expected", x.Type)
	}
	r := rotary{Width: x.Type.Shape[3], Interleaved: c.Int("interleaved", 0) != 0}
	if n := c.Int("rotary_embedding_dim", 0); n != 0 {
		r.Width = dim.Const(n)
	}
	cos, sin := c.Arg(1), c.Arg(2)
	if at := c.Arg(3); at != nil {
		cos, sin = angleRows(b, cos, at), angleRows(b, sin, at)
	}
	y := r.apply(b, x, perToken(b, cos, x.Type.DType), perToken(b, sin, x.Type.DType))
	if packed {
		return []*ir.Value{ReshapeTo(b, y, c.Arg(0).Type.Shape...)}, nil
	}
	return []*ir.Value{TransposeBy(b, y, 0, 2, 1, 3)}, nil
}

// angleRows appends the rows at the given positions of table, which holds cosines or sines. A position out of range
// is an error at run time.
func angleRows(b *ir.Builder, table, positions *ir.Value) *ir.Value {
	if table.Type.Rank() == 0 {
		ir.Fail("%s has no rows", table.Type)
	}
	return b.Node(Gather{}, table, checked(b, positions, table.Type.Shape[0], "position", "rows"))
}

// perToken appends v, [B,S,N], reshaped to [B,S,1,N], so that it broadcasts to [B,S,H,N]. It converts v to type d.
func perToken(b *ir.Builder, v *ir.Value, d ir.DType) *ir.Value {
	if v.Type.Rank() != 3 {
		ir.Fail("cosines or sines %s, an element of the batch and a position expected before them", v.Type)
	}
	s := v.Type.Shape
	return ReshapeTo(b, ConvertTo(b, v, d), s[0], s[1], dim.Const(1), s[2])
}

func importMicrosoftRotaryEmbedding(c ir.Importer) ([]*ir.Value, error) {
	b, x, at, cos, sin := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3)
	if cos.Type.Rank() != 2 || sin.Type.Rank() != 2 {
		return nil, fmt.Errorf("cosines %s and sines %s, rank 2 expected", cos.Type, sin.Type)
	}
	if c.Int("is_packed_batching", 0) != 0 {
		return nil, fmt.Errorf("is_packed_batching is not supported")
	}
	heads, width := c.Int("num_heads", 0), c.Int("rotary_embedding_dim", 0)
	r := rotary{Width: cos.Type.Shape[1].Mul(dim.Const(2)), Interleaved: c.Int("interleaved", 0) != 0}
	packed := x.Type.Rank() == 3
	switch {
	case packed && width > 0:
		x = headsOf(b, x, heads)
	case packed:
		s := x.Type.Shape
		x = ReshapeTo(b, x, s[0], s[1], divide(s[2], r.Width), r.Width)
	case x.Type.Rank() == 4:
		x = TransposeBy(b, x, 0, 2, 1, 3)
	default:
		return nil, fmt.Errorf("%s, rank 3 or 4 expected", x.Type)
	}
	if at.Type.Rank() != 2 {
		one, s := dim.Const(1), x.Type.Shape
		first := ReshapeTo(b, at, one, one)
		row := b.Node(Add{}, first, ReshapeTo(b, ConvertTo(b, positions(b, s[1]), at.Type.DType), one, s[1]))
		at = ExpandTo(b, row, s[0], s[1])
	}
	c.Float("scale", 1) // has no effect in any implementation
	d := x.Type.DType
	y := r.apply(b, x, perToken(b, angleRows(b, cos, at), d), perToken(b, angleRows(b, sin, at), d))
	if packed {
		return []*ir.Value{ReshapeTo(b, y, c.Arg(0).Type.Shape...)}, nil
	}
	return []*ir.Value{TransposeBy(b, y, 0, 2, 1, 3)}, nil
}

// importGemmaRotaryEmbedding imports GemmaRotaryEmbedding of com.microsoft. The operands are angles, [B,S,D], and
// the queries q, q_rot, k and k_rot, [B,H,S,D]. The results are q·cos + q_rot·sin and k·cos + k_rot·sin, with the
// cosines and sines of the angles.
func importGemmaRotaryEmbedding(c ir.Importer) ([]*ir.Value, error) {
	b, angles := c.Builder(), c.Arg(0)
	s := angles.Type.Shape
	if len(s) != 3 {
		return nil, fmt.Errorf("the angles are %s, rank 3 expected", angles.Type)
	}
	angles = ReshapeTo(b, angles, s[0], dim.Const(1), s[1], s[2])
	d := c.Arg(1).Type.DType
	cos, sin := ConvertTo(b, b.Node(Cos{}, angles), d), ConvertTo(b, b.Node(Sin{}, angles), d)
	turn := func(x, across *ir.Value) *ir.Value {
		return b.Node(Add{}, b.Node(Mul{}, x, cos), b.Node(Mul{}, across, sin))
	}
	return []*ir.Value{turn(c.Arg(1), c.Arg(2)), turn(c.Arg(3), c.Arg(4))}, nil
}
