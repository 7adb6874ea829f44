package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// DeformColumns extracts the windows of a [DeformConv] over x, [N,C,spatial…], as columns
// [N,C·cells,windows]. The second operand holds the offsets of the cells. The optional third
// operand holds the factors by which the cells are multiplied.
type DeformColumns struct {
	Window
	Offsets int // groups of channels, divides C
}

const maxDeformAxes = 8

// Infer returns [N,C·cells,windows].
func (op DeformColumns) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	x, spatial := in[0], in[0].Rank()-2
	if err := op.Check(spatial); err != nil {
		return nil, err
	}
	if spatial > maxDeformAxes {
		return nil, fmt.Errorf("%d spatial axes", spatial)
	}
	if c, ok := x.Shape[1].Int(); op.Offsets < 1 || ok && c%op.Offsets != 0 {
		return nil, fmt.Errorf("%d groups of offsets for %s channels", op.Offsets, x.Shape[1])
	}
	out, err := op.Places(x.Shape[2:])
	if err != nil {
		return nil, err
	}
	cells := dim.Const(1)
	for _, k := range op.Kernel {
		cells = cells.Mul(dim.Const(k))
	}
	moved := cells.Mul(dim.Const(op.Offsets))
	for i, t := range in[1:] {
		if t.IsZero() {
			continue
		}
		channels := moved
		if i == 0 {
			channels = moved.Mul(dim.Const(spatial))
		}
		want := append([]dim.Dim{x.Shape[0], channels}, out...)
		if t.Rank() != len(want) {
			return nil, fmt.Errorf("operand %d is %s, rank %d expected", 1+i, t, len(want))
		}
		for k, d := range want {
			if err := Same(t.Shape[k], d, fmt.Sprintf("axis %d of operand %d", k, 1+i)); err != nil {
				return nil, err
			}
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, x.Shape[0], x.Shape[1].Mul(cells), dim.Product(out...))}, nil
}

// Flops counts a product and a sum for each element that the interpolation of a cell reads.
func (DeformColumns) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(2 << min(in[0].Rank()-2, maxDeformAxes)))
}

// Eval returns the columns, [N,C·cells,windows], interpolated in float64.
func (op DeformColumns) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, offsets := in[0], in[1]
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	spatial, cells, places := len(op.Kernel), LenOf(op.Kernel), shape[2]
	pads, _ := dim.Ints(op.Padding(dim.Consts(x.Shape[2:]...)))
	channels, plane := x.Shape[1], LenOf(x.Shape[2:])
	for i := range y.Len() {
		batch, c, cell, place := i/places/cells/channels, i/places/cells%channels, i/places%cells, i%places
		moved := (batch*op.Offsets+c/(channels/op.Offsets))*cells + cell
		taps := []gridTap{{weight: 1}}
		at, k := coordinates(place, offsets.Shape[2:]), coordinates(cell, op.Kernel)
		for axis, d := range x.Shape[2:] {
			p := float64(at[axis]*op.Stride(axis)+k[axis]*op.Dilation(axis)-pads[axis]) + offsets.Float((moved*spatial+axis)*places+place)
			p = inside(p, -2, float64(d)+1)
			var next []gridTap
			for _, first := range []float64{math.Floor(p), math.Floor(p) + 1} {
				if first < 0 || first >= float64(d) {
					continue
				}
				for _, t := range taps {
					next = append(next, gridTap{t.at*d + int(first), t.weight * (1 - math.Abs(p-first))})
				}
			}
			taps = next
		}
		sum := 0.0
		for _, t := range taps {
			sum += float64(t.weight * x.Float((batch*channels+c)*plane+t.at))
		}
		if len(in) > 2 && in[2] != nil {
			sum *= in[2].Float(moved*places + place)
		}
		y.SetFloat(i, sum)
	}
	return []*ir.Tensor{y}, nil
}

// coordinates returns the coordinates of element i in a tensor of the given shape. i is a row-major index.
func coordinates(i int, shape []int) []int {
	at := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}

// Compose interpolates between the elements around each cell of each window.
func (op DeformColumns) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	c, x, offsets, y := calculus{b}, n.Arg(0), n.Arg(1), n.Results[0].Type
	axes, out := x.Type.Shape[2:], offsets.Type.Shape[2:]
	groups, cells, count := dim.Const(op.Offsets), dim.Const(LenOf(op.Kernel)), dim.Product(out...)
	pads := op.Padding(axes)
	offsets = ReshapeTo(b, offsets, y.Shape[0], groups, cells, dim.Const(len(axes)), count)
	taps := make([][]tap, len(axes))
	for axis, d := range axes {
		shift := ir.NewTensor(x.Type.DType, LenOf(op.Kernel), 1)
		for i := range shift.Len() {
			shift.SetFloat(i, float64(coordinates(i, op.Kernel)[axis]*op.Dilation(axis)))
		}
		at := times(b, ReshapeTo(b, places(b, x.Type.DType, axis, out...), count), float64(op.Stride(axis)))
		at = c.add(c.sub(at, c.extent(x, pads[axis])), b.Const(shift))
		moved := ReshapeTo(b, sliceAxis(b, offsets, 3, dim.Const(axis), dim.Const(1)), y.Shape[0], groups, cells, count)
		taps[axis] = c.linearTaps(ReshapeTo(b, c.add(moved, at), y.Shape[0], groups, cells.Mul(count)), d)
	}
	perGroup := x.Type.Shape[1].FloorDiv(groups)
	v := c.total(c.corners(ReshapeTo(b, x, append([]dim.Dim{y.Shape[0], groups, perGroup}, axes...)...), taps))
	if factors := n.Arg(2); factors != nil {
		v = c.mul(v, ReshapeTo(b, factors, y.Shape[0], groups, dim.Const(1), cells.Mul(count)))
	}
	return []*ir.Value{ReshapeTo(b, v, y.Shape...)}
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (op DeformColumns) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }
