package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importMatMulNBits imports MatMulNBits. It multiplies a by the transpose of a matrix [N,K] of 2, 4 or 8-bit
// integers, and adds a bias. Each block of adjacent elements along K has a scale and a zero point.
func importMatMulNBits(c ir.Importer) ([]*ir.Value, error) {
	b, a, w, scales := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	k, n, width, size := c.Int("K", 0), c.Int("N", 0), c.Int("bits", 4), c.Int("block_size", 0)
	c.Int("accuracy_level", 0)
	if k < 1 || n < 1 || size < 1 || width != 2 && width != 4 && width != 8 {
		return nil, fmt.Errorf("%d by %d elements of %d bits in blocks of %d", n, k, width, size)
	}
	packed, ok := w.Type.Elems().DivExact(dim.Const(n))
	if !ok || w.Type.DType != ir.U8 {
		return nil, fmt.Errorf("weights %s for %d columns", w.Type, n)
	}
	blocks := dim.Const(k).CeilDiv(dim.Const(size))
	columns, depth := dim.Const(n), dim.Const(k)
	q := unpackBits(b, ReshapeTo(b, w, columns, packed), width)
	if err := atLeast(q.Type.Shape[1], depth); err != nil {
		return nil, err
	}
	q = sliceAxis(b, q, 1, dim.Const(0), depth)
	scales = ReshapeTo(b, scales, columns, blocks)
	zero := c.Arg(3)
	switch {
	case zero == nil:
		zero = ExpandTo(b, b.Const(byteScalar(1<<(width-1))), columns, blocks)
	case zero.Type.DType.IsFloat():
		zero = ReshapeTo(b, zero, columns, blocks)
	default:
		row, ok := zero.Type.Elems().DivExact(columns)
		if !ok || zero.Type.DType != ir.U8 {
			return nil, fmt.Errorf("zero points %s for %d columns", zero.Type, n)
		}
		zero = unpackBits(b, ReshapeTo(b, zero, columns, row), width)
		if err := atLeast(zero.Type.Shape[1], blocks); err != nil {
			return nil, err
		}
		zero = sliceAxis(b, zero, 1, dim.Const(0), blocks)
	}
	if groups := c.Arg(4); groups != nil { // the block of each index along K
		if !groups.Type.Elems().Equal(depth) {
			return nil, fmt.Errorf("g_idx %s for %d indices", groups.Type, k)
		}
		groups, size = ReshapeTo(b, groups, depth), 1
		scales, zero = b.Node(Gather{Axis: 1}, scales, groups), b.Node(Gather{Axis: 1}, zero, groups)
	}
	f := dequantizedBlocks(b, q, scales, zero, Granularity{Axis: 1, Block: size}, a.Type.DType)
	y := b.Node(MatMul{}, a, TransposeBy(b, f, 1, 0))
	if bias := c.Arg(5); bias != nil {
		y = b.Node(Add{}, y, bias)
	}
	return []*ir.Value{y}, nil
}

func atLeast(have, want dim.Dim) error {
	if lo, _ := have.Sub(want).Bounds(); lo < 0 {
		return fmt.Errorf("%s elements where %s are needed", have, want)
	}
	return nil
}

func byteScalar(v int64) *ir.Tensor {
	t := ir.NewTensor(ir.U8)
	t.SetInt(0, v)
	return t
}

// unpackBits appends the integers of 2, 4 or 8 bits that the bytes of x hold, as u8, along the last axis. The first
// integer of a byte is in its lowest bits.
func unpackBits(b *ir.Builder, x *ir.Value, bits int) *ir.Value {
	if bits == 8 {
		return x
	}
	rank := x.Type.Rank()
	if rank == 0 {
		ir.Fail("%s has no axis that bytes are packed along", x.Type)
	}
	shape := append(x.Type.Shape[:rank:rank], dim.Const(1))
	var parts []*ir.Value
	for shift := 0; shift < 8; shift += bits {
		part := x
		if shift > 0 {
			part = b.Node(BitShift{}, part, b.Const(byteScalar(int64(shift))))
		}
		if shift+bits < 8 {
			part = b.Node(BitwiseAnd{}, part, b.Const(byteScalar(1<<bits-1)))
		}
		parts = append(parts, ReshapeTo(b, part, shape...))
	}
	joined := b.Node(Concat{Axis: rank}, parts...)
	last := x.Type.Shape[rank-1].Mul(dim.Const(8 / bits))
	return ReshapeTo(b, joined, append(x.Type.Shape[:rank-1:rank-1], last)...)
}

// dequantizedBlocks appends (q − zero)·scale of type d. zero is of floats, or has q's type. g says which elements
// have the same scale and zero point.
func dequantizedBlocks(b *ir.Builder, q, scale, zero *ir.Value, g Granularity, d ir.DType) *ir.Value {
	if zero == nil || zero.Type.DType == q.Type.DType {
		return b.Node(DequantizeLinear{Granularity: g, To: d}, q, scale, zero)
	}
	if err := g.check(q.Type, scale.Type, zero.Type); err != nil {
		ir.FailWith(err)
	}
	wide := func(v *ir.Value) *ir.Value { return g.spread(b, ConvertTo(b, v, ir.F32), q.Type) }
	y := b.Node(Sub{}, ConvertTo(b, q, ir.F32), wide(zero))
	return ConvertTo(b, b.Node(Mul{}, y, wide(scale)), d)
}

func importGatherBlockQuantized(c ir.Importer) ([]*ir.Value, error) {
	b, q, scales, zero := c.Builder(), c.Arg(0), c.Arg(2), c.Arg(3)
	width := c.Int("bits", 4)
	packed := q.Type.DType == ir.U8 && width < 8
	if packed {
		if width != 2 && width != 4 {
			return nil, fmt.Errorf("elements of %d bits", width)
		}
		if q = unpackBits(b, q, width); zero != nil {
			zero = unpackBits(b, zero, width)
		}
	}
	rank := q.Type.Rank()
	axis, err := fromFront(c.Int("gather_axis", 0), rank)
	if err != nil {
		return nil, err
	}
	along, err := fromFront(c.Int("quantize_axis", 1), rank)
	if err != nil {
		return nil, err
	}
	if zero == nil && q.Type.DType == ir.U8 {
		zero = ExpandTo(b, b.Const(byteScalar(1<<(width-1))), scales.Type.Shape...)
	}
	if zero != nil && zero.Type.Rank() == rank && scales.Type.Rank() == rank {
		if err := atLeast(zero.Type.Shape[rank-1], scales.Type.Shape[rank-1]); err != nil {
			return nil, err
		}
		zero = sliceAxis(b, zero, rank-1, dim.Const(0), scales.Type.Shape[rank-1])
	}
	g := Granularity{Axis: along, Block: c.Int("block_size", 128)}
	f := dequantizedBlocks(b, q, scales, zero, g, scales.Type.DType)
	return []*ir.Value{b.Node(Gather{Axis: axis}, f, c.Arg(1))}, nil
}
