package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// BindPad binds how a tensor of Shape is padded by a list of pads, first those
// before the axes, then those after them, and, unless it is absent, a list of axes
// (ONNX Pad): for each axis the first element that negative pads leave and how many
// they leave, how many elements are put before these, and how many there are with
// those that are put after them.
type BindPad struct {
	Bound
	Shape []ir.Dim
}

// Infer checks the lists.
func (op BindPad) Infer(in []ir.Type) ([]ir.Type, error) {
	if len(in) > 2 {
		return nil, fmt.Errorf("%d operands, 1 or 2 expected", len(in))
	}
	return op.infer(in, 4*len(op.Shape))
}

// BindValues sorts the pads by axis and sign.
func (op BindPad) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := ir.Ints(op.Shape)
	pads, axes := intsOf(in[0]), allAxes(len(shape))
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

// Measure is cpu.PadPlace for each number.
func (op BindPad) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("PadPlace", ir.In(0), ir.In(1), op.Shape)
}

// PadIndex tells, for each place of an axis of Extent that [Pad] puts elements
// before and after, which element stands there: a list of i64.
type PadIndex struct {
	Mode                  string
	Extent, Before, After ir.Dim
}

// Infer adds the extents.
func (op PadIndex) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 0, 0); err != nil {
		return nil, err
	}
	if padSources[op.Mode] == nil {
		return nil, fmt.Errorf("mode %q", op.Mode)
	}
	return []ir.Type{ir.TensorOf(ir.I64, op.Before.Add(op.Extent).Add(op.After))}, nil
}

// Eval finds the elements.
func (op PadIndex) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	n, ok := ir.Ints([]ir.Dim{op.Before, op.Extent, op.After})
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

// Call is cpu.PadIndex.
func (op PadIndex) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "PadIndex", Args: []any{ir.Out(0), op.Extent, op.Before, op.Mode}}, nil
}
