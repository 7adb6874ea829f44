package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// DeformColumns unfolds the windows of a [DeformConv] over x, [N,C,spatial…], to
// [N,C·cells,places]: each is a column. The other operands move the cells, and, if
// there is a third, multiply them.
type DeformColumns struct {
	Window
	Offsets int // groups of channels, divides C
}

// maxDeformAxes bounds the spatial axes.
const maxDeformAxes = 8

// Infer gives each place a column.
func (op DeformColumns) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 3); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	x, spatial := in[0], in[0].Rank()-2
	if err := op.check(spatial); err != nil {
		return nil, err
	}
	if spatial > maxDeformAxes {
		return nil, fmt.Errorf("%d spatial axes", spatial)
	}
	if c, ok := x.Shape[1].Int(); op.Offsets < 1 || ok && c%op.Offsets != 0 {
		return nil, fmt.Errorf("%d groups of offsets for %s channels", op.Offsets, x.Shape[1])
	}
	out, err := op.shape(x.Shape[2:])
	if err != nil {
		return nil, err
	}
	cells := ir.Const(1)
	for _, k := range op.Kernel {
		cells = cells.Mul(ir.Const(k))
	}
	moved := cells.Mul(ir.Const(op.Offsets))
	for i, t := range in[1:] {
		if t.IsZero() {
			continue
		}
		channels := moved
		if i == 0 {
			channels = moved.Mul(ir.Const(spatial))
		}
		want := append([]ir.Dim{x.Shape[0], channels}, out...)
		if t.Rank() != len(want) {
			return nil, fmt.Errorf("operand %d is %s, rank %d expected", 1+i, t, len(want))
		}
		for k, d := range want {
			if err := same(t.Shape[k], d, fmt.Sprintf("axis %d of operand %d", k, 1+i)); err != nil {
				return nil, err
			}
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, x.Shape[0], x.Shape[1].Mul(cells), ir.Product(out...))}, nil
}

// Flops counts a product and a sum for each element that a place lies between.
func (DeformColumns) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Const(2 << min(in[0].Rank()-2, maxDeformAxes)))
}

// Eval interpolates in float64.
func (op DeformColumns) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, offsets := in[0], in[1]
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	spatial, cells, places := len(op.Kernel), lenOf(op.Kernel), shape[2]
	pads, _ := ir.Ints(op.pads(ir.Dims(x.Shape[2:]...)))
	channels, plane := x.Shape[1], lenOf(x.Shape[2:])
	for i := range y.Len() {
		batch, c, cell, place := i/places/cells/channels, i/places/cells%channels, i/places%cells, i%places
		moved := (batch*op.Offsets+c/(channels/op.Offsets))*cells + cell
		taps := []gridTap{{weight: 1}}
		at, k := coordinates(place, offsets.Shape[2:]), coordinates(cell, op.Kernel)
		for axis, d := range x.Shape[2:] {
			p := float64(at[axis]*op.stride(axis)+k[axis]*op.dilation(axis)-pads[axis]) + offsets.Float((moved*spatial+axis)*places+place)
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

// coordinates returns the coordinates of element i of a shape.
func coordinates(i int, shape []int) []int {
	at := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}

// Compose interpolates between the elements that the cells of each window lie between.
func (op DeformColumns) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	c, x, offsets, y := calculus{b}, n.Arg(0), n.Arg(1), n.Results[0].Type
	axes, out := x.Type.Shape[2:], offsets.Type.Shape[2:]
	groups, cells, count := ir.Const(op.Offsets), ir.Const(lenOf(op.Kernel)), ir.Product(out...)
	pads := op.pads(axes)
	offsets = reshape(b, offsets, y.Shape[0], groups, cells, ir.Const(len(axes)), count)
	taps := make([][]tap, len(axes))
	for axis, d := range axes {
		shift := ir.NewTensor(x.Type.DType, lenOf(op.Kernel), 1)
		for i := range shift.Len() {
			shift.SetFloat(i, float64(coordinates(i, op.Kernel)[axis]*op.dilation(axis)))
		}
		at := times(b, reshape(b, places(b, x.Type.DType, axis, out...), count), float64(op.stride(axis)))
		at = c.add(c.sub(at, c.extent(x, pads[axis])), b.Const(shift))
		moved := reshape(b, sliceAxis(b, offsets, 3, ir.Const(axis), ir.Const(1)), y.Shape[0], groups, cells, count)
		taps[axis] = c.linearTaps(reshape(b, c.add(moved, at), y.Shape[0], groups, cells.Mul(count)), d)
	}
	perGroup := x.Type.Shape[1].FloorDiv(groups)
	v := c.total(c.corners(reshape(b, x, append([]ir.Dim{y.Shape[0], groups, perGroup}, axes...)...), taps))
	if factors := n.Arg(2); factors != nil {
		v = c.mul(v, reshape(b, factors, y.Shape[0], groups, ir.Const(1), cells.Mul(count)))
	}
	return []*ir.Value{reshape(b, v, y.Shape...)}
}

// Lower computes narrow floats in f32.
func (op DeformColumns) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Call is cpu.DeformColumns.
func (op DeformColumns) Call(n *ir.Node) (ir.Call, error) {
	x, offsets := n.Arg(0).Type.Shape, n.Arg(1).Type.Shape
	spatial := len(op.Kernel)
	return ir.Call{Kernel: "DeformColumns", Args: []any{
		ir.Out(0), ir.In(0), ir.In(1), ir.In(2), x[0], x[1], op.Offsets, x[2:], offsets[2:],
		op.Kernel, op.strides(spatial), op.dilations(spatial), op.pads(x[2:])[:spatial],
	}}, nil
}
