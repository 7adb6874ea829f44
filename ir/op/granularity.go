package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Granularity says which elements of a tensor have the same scale and zero point. If the scale has one element, it
// holds for the whole tensor. If it has rank 1, it has one element for each index of Axis. With Block, the scale
// has the rank of the tensor. Each of its elements then holds for Block adjacent elements along Axis.
type Granularity struct {
	Axis  int // axis of x along which the scale varies; never negative
	Block int // number of elements that share a scale, or 0 without blocks
}

func (g Granularity) check(x, scale, zero ir.Type) error {
	if g.Block < 0 {
		return fmt.Errorf("blocks of %d", g.Block)
	}
	if !zero.IsZero() {
		if zero.Rank() != scale.Rank() && !(HasOneElement(zero) && HasOneElement(scale)) {
			return fmt.Errorf("zero point %s for scale %s", zero, scale)
		}
		for i, d := range zero.Shape {
			if zero.Rank() == scale.Rank() {
				if err := Same(d, scale.Shape[i], "zero point and scale"); err != nil {
					return err
				}
			}
		}
	}
	if HasOneElement(scale) {
		return nil
	}
	if g.Axis < 0 || g.Axis >= x.Rank() {
		return fmt.Errorf("axis %d out of range for rank %d", g.Axis, x.Rank())
	}
	if g.Block == 0 {
		if scale.Rank() != 1 {
			return fmt.Errorf("scale %s for %s without blocks", scale, x)
		}
		return Same(scale.Shape[0], x.Shape[g.Axis], "scale and axis")
	}
	if scale.Rank() != x.Rank() {
		return fmt.Errorf("scale %s for blocks of %s", scale, x)
	}
	for i, d := range x.Shape {
		if i == g.Axis {
			d = d.CeilDiv(dim.Const(g.Block))
		}
		if err := Same(scale.Shape[i], d, fmt.Sprintf("axis %d of the scale", i)); err != nil {
			return err
		}
	}
	return nil
}

// HasOneElement reports whether t has exactly one element, whatever the values of its symbols are.
func HasOneElement(t ir.Type) bool { return t.Elems().Equal(dim.Const(1)) }

// index returns the index of the element of scale that holds for element i of x.
func (g Granularity) index(i int, x, scale *ir.Tensor) int {
	if scale.Len() == 1 {
		return 0
	}
	n, inner := x.Shape[g.Axis], LenOf(x.Shape[g.Axis+1:])
	at := i / inner % n
	if g.Block == 0 {
		return at
	}
	blocks := scale.Shape[g.Axis]
	return (i/inner/n*blocks+at/g.Block)*inner + i%inner
}

// spread appends v, a scale or a zero point, reshaped or repeated so that it broadcasts to x.
func (g Granularity) spread(b *ir.Builder, v *ir.Value, x ir.Type) *ir.Value {
	switch {
	case HasOneElement(v.Type):
		return ReshapeTo(b, v)
	case g.Block == 0:
		shape := []dim.Dim{v.Type.Shape[0]}
		for range x.Shape[g.Axis+1:] {
			shape = append(shape, dim.Const(1))
		}
		return ReshapeTo(b, v, shape...)
	}
	at, one, size := g.Axis+1, dim.Const(1), dim.Const(g.Block)
	parts := v.Type.Shape
	with := func(d dim.Dim) []dim.Dim {
		return append(append(parts[:at:at], d), parts[at:]...)
	}
	v = ExpandTo(b, ReshapeTo(b, v, with(one)...), with(size)...)
	whole := append([]dim.Dim{}, parts...)
	whole[g.Axis] = parts[g.Axis].Mul(size)
	return sliceAxis(b, ReshapeTo(b, v, whole...), g.Axis, dim.Const(0), x.Shape[g.Axis])
}

// QuantRange returns the least and the greatest integer of a type of at most 32
// bits.
func QuantRange(d ir.DType) (lo, hi int64) {
	lo, top := intRange(d)
	return lo, int64(top)
}

func importGranularity(c ir.Importer, x, scale ir.Type) (g Granularity, err error) {
	axis := 1
	if c.Opset() >= 13 || c.Has("axis") {
		axis = c.Int("axis", 1)
	}
	if c.Opset() >= 21 || c.Has("block_size") {
		g.Block = c.Int("block_size", 0)
	}
	if HasOneElement(scale) {
		return Granularity{}, nil
	}
	if x.Rank() == 1 && axis == 1 {
		axis = 0
	}
	g.Axis, err = fromFront(axis, x.Rank())
	return g, err
}
