package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Granularity says which elements of a tensor share a scale and a zero point. A
// scale of one element is for all; one of rank 1 has an element for each index of
// Axis; with Block the scale has the tensor's shape, but along Axis an element for
// each run of Block indices.
type Granularity struct {
	Axis  int // counted from the front
	Block int // 0 for none
}

// check reports what is wrong with a scale, and with a zero point that may be
// absent, for x.
func (g Granularity) check(x, scale, zero ir.Type) error {
	if g.Block < 0 {
		return fmt.Errorf("blocks of %d", g.Block)
	}
	if !zero.IsZero() {
		if zero.Rank() != scale.Rank() && !(isOne(zero) && isOne(scale)) {
			return fmt.Errorf("zero point %s for scale %s", zero, scale)
		}
		for i, d := range zero.Shape {
			if zero.Rank() == scale.Rank() {
				if err := same(d, scale.Shape[i], "zero point and scale"); err != nil {
					return err
				}
			}
		}
	}
	if isOne(scale) {
		return nil
	}
	if g.Axis < 0 || g.Axis >= x.Rank() {
		return fmt.Errorf("axis %d out of range for rank %d", g.Axis, x.Rank())
	}
	if g.Block == 0 {
		if scale.Rank() != 1 {
			return fmt.Errorf("scale %s for %s without blocks", scale, x)
		}
		return same(scale.Shape[0], x.Shape[g.Axis], "scale and axis")
	}
	if scale.Rank() != x.Rank() {
		return fmt.Errorf("scale %s for blocks of %s", scale, x)
	}
	for i, d := range x.Shape {
		if i == g.Axis {
			d = d.CeilDiv(ir.Const(g.Block))
		}
		if err := same(scale.Shape[i], d, fmt.Sprintf("axis %d of the scale", i)); err != nil {
			return err
		}
	}
	return nil
}

// isOne reports whether t has one element for sure.
func isOne(t ir.Type) bool { return t.Elems().Equal(ir.Const(1)) }

// callScaled returns the call of a kernel with the operands, the extents before, along and
// after the axis, the length of a block, and more.
func (g Granularity) callScaled(kernel string, x, scale ir.Type, more ...any) (ir.Call, error) {
	args := []any{ir.Out(0), ir.In(0), ir.In(1), ir.In(2)}
	if isOne(scale) {
		args = append(args, ir.Const(1), ir.Const(1), x.Elems(), 0)
	} else {
		args = append(args, ir.Product(x.Shape[:g.Axis]...), x.Shape[g.Axis], ir.Product(x.Shape[g.Axis+1:]...), g.Block)
	}
	return ir.Call{Kernel: kernel, Args: append(args, more...)}, nil
}

// index returns the number of the scale of element i.
func (g Granularity) index(i int, x, scale *ir.Tensor) int {
	if scale.Len() == 1 {
		return 0
	}
	n, inner := x.Shape[g.Axis], lenOf(x.Shape[g.Axis+1:])
	at := i / inner % n
	if g.Block == 0 {
		return at
	}
	blocks := scale.Shape[g.Axis]
	return (i/inner/n*blocks+at/g.Block)*inner + i%inner
}

// spread appends what repeats a scale or zero point v to a shape that broadcasts
// to x.
func (g Granularity) spread(b *ir.Builder, v *ir.Value, x ir.Type) *ir.Value {
	switch {
	case isOne(v.Type):
		return reshape(b, v)
	case g.Block == 0:
		shape := []ir.Dim{v.Type.Shape[0]}
		for range x.Shape[g.Axis+1:] {
			shape = append(shape, ir.Const(1))
		}
		return reshape(b, v, shape...)
	}
	at, one, size := g.Axis+1, ir.Const(1), ir.Const(g.Block)
	parts := v.Type.Shape
	with := func(d ir.Dim) []ir.Dim {
		return append(append(parts[:at:at], d), parts[at:]...)
	}
	v = expand(b, reshape(b, v, with(one)...), with(size)...)
	whole := append([]ir.Dim{}, parts...)
	whole[g.Axis] = parts[g.Axis].Mul(size)
	return sliceAxis(b, reshape(b, v, whole...), g.Axis, ir.Const(0), x.Shape[g.Axis])
}

// quantRange returns the least and the greatest integer of a type of at most 32
// bits.
func quantRange(d ir.DType) (lo, hi int64) {
	lo, top := intRange(d)
	return lo, int64(top)
}

// importGranularity reads the axis and the blocks, which came with opset 13 and 21.
func importGranularity(c ir.Importer, x, scale ir.Type) (g Granularity, err error) {
	axis := 1
	if c.Opset() >= 13 || c.Has("axis") {
		axis = c.Int("axis", 1)
	}
	if c.Opset() >= 21 || c.Has("block_size") {
		g.Block = c.Int("block_size", 0)
	}
	if isOne(scale) {
		return Granularity{}, nil
	}
	if x.Rank() == 1 && axis == 1 {
		axis = 0
	}
	g.Axis, err = fromFront(axis, x.Rank())
	return g, err
}
