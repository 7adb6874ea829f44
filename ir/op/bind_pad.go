package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BindPad binds the padding of a tensor of shape Shape (ONNX Pad). The first operand lists the pads before the
// axes, and then the pads after them. The optional second operand lists the axes. Negative pads remove elements.
// BindPad binds four numbers for each axis: the index of the first kept element, the number of kept elements, the
// number of elements inserted before them, and the extent of the result.
type BindPad struct {
	Bound
	Shape []dim.Dim
}

// Infer checks the types of the lists. There are no results.
func (op BindPad) Infer(in []ir.Type) ([]ir.Type, error) {
	if len(in) > 2 {
		return nil, fmt.Errorf("%d operands, 1 or 2 expected", len(in))
	}
	return op.infer(in, 4*len(op.Shape))
}

// BindValues returns the four numbers that [BindPad] lists, for each axis in turn. It returns an error if an axis
// is out of range or repeated, if there are not two pads for each axis, or if a pad exceeds 2³¹−1. It also returns
// an error if the pads of an axis remove more elements than it has.
func (op BindPad) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := dim.Ints(op.Shape)
	pads, axes := intsOf(in[0]), AllAxes(len(shape))
	if list := intsOf(arg(in, 1)); list != nil {
		axes = make([]int, len(list))
		for i, a := range list {
			axes[i] = int(a)
		}
	}
	axes, err := axesFromFront(axes, len(shape))
	if err != nil {
		return nil, err
	}
	if len(pads) != 2*len(axes) {
		return nil, fmt.Errorf("%d pads for %d axes", len(pads), len(axes))
	}
	values := make([]int64, 4*len(shape))
	for i, d := range shape {
		values[4*i+1], values[4*i+3] = int64(d), int64(d)
	}
	for i, a := range axes {
		before, after, d := pads[i], pads[len(axes)+i], int64(shape[a])
		left := d + min(max(before, -d-1), 0) + min(max(after, -d-1), 0)
		if left < 0 || max(before, after) > math.MaxInt32 {
			return nil, fmt.Errorf("pads %d and %d of an axis of %d", before, after, d)
		}
		copy(values[4*a:], []int64{max(-before, 0), left, max(before, 0), d + before + after})
	}
	return op.each(func(i int) (int64, error) { return values[i], nil })
}

// PadIndex returns the indices, a vector of i64, by which [Pad] extends one axis. Element i of the result of Pad is
// a copy of element index[i] of the operand. Mode is a mode of Pad other than "constant". The operand has Extent
// elements along the axis. Pad inserts Before elements in front and After elements at the end.
type PadIndex struct {
	Mode                  string
	Extent, Before, After dim.Dim
}

// Infer returns i64[Before + Extent + After].
func (op PadIndex) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 0, 0); err != nil {
		return nil, err
	}
	if padSources[op.Mode] == nil {
		return nil, fmt.Errorf("mode %q", op.Mode)
	}
	return []ir.Type{ir.TensorOf(ir.I64, op.Before.Add(op.Extent).Add(op.After))}, nil
}

// Eval returns, for each element of the result of [Pad], the index of the element that it copies. It returns an
// error if Extent is 0 but elements are inserted.
func (op PadIndex) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	n, ok := dim.Ints([]dim.Dim{op.Before, op.Extent, op.After})
	if _, err := ir.CheckedLen(n); err != nil || !ok {
		return nil, fmt.Errorf("%s elements before, %s after %s", op.Before, op.After, op.Extent)
	}
	y := ir.NewTensor(ir.I64, n[0]+n[1]+n[2])
	if n[1] == 0 && y.Len() > 0 {
		return nil, fmt.Errorf("mode %s of no elements", op.Mode)
	}
	for i := range y.Len() {
		y.SetInt(i, int64(padSources[op.Mode](i-n[0], n[1])))
	}
	return []*ir.Tensor{y}, nil
}
