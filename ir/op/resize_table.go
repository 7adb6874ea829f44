package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ResizeTable tells, for each of Out places along an axis of extent In that
// [Resize] samples, which Taps elements it reads (i32) and with which weights
// (f32); in mode nearest there is one element and there are no weights.
type ResizeTable struct {
	Mode, Coordinates, Rounding string

	In, Out           ir.Dim
	Taps              int
	Scale, Start, End float64
	CubicA            float64

	ExcludeOutside, AntiAlias bool
}

// Infer gives the tables' types.
func (op ResizeTable) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 0, 0); err != nil {
		return nil, err
	}
	n := op.Out.Mul(ir.Const(op.Taps))
	types := []ir.Type{ir.TensorOf(ir.I32, n), ir.TensorOf(ir.F32, n)}
	if op.Mode == "nearest" {
		types = types[:1]
	}
	return types, nil
}

func (op ResizeTable) axis(in, out int) resizeAxis {
	a := resizeAxis{
		mode: op.Mode, coordinates: op.Coordinates, rounding: op.Rounding, in: in, out: out,
		scale: op.Scale, start: op.Start, end: op.End, cubicA: op.CubicA, exclude: op.ExcludeOutside, antiAlias: op.AntiAlias,
	}
	a.length = float64(a.scale * float64(in))
	if a.scale == 0 {
		a.scale, a.length = float64(out)/float64(in), float64(out)
	}
	return a
}

// Eval makes the tables.
func (op ResizeTable) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	in, ok := op.In.Int()
	out, okOut := op.Out.Int()
	if _, err := ir.CheckedLen([]int{in, out, op.Taps}); err != nil || !ok || !okOut {
		return nil, fmt.Errorf("from %s to %s elements", op.In, op.Out)
	}
	a := op.axis(in, out)
	index := ir.NewTensor(ir.I32, out*op.Taps)
	if op.Mode == "nearest" {
		for i := range out {
			index.SetInt(i, int64(a.nearest(i)))
		}
		return []*ir.Tensor{index}, nil
	}
	if a.width() != op.Taps {
		return nil, fmt.Errorf("%d taps, %d expected", op.Taps, a.width())
	}
	weights := ir.NewTensor(ir.F32, out*op.Taps)
	for i := range out {
		elements, w := a.taps(i)
		for t := range w {
			index.SetInt(i*op.Taps+t, int64(elements[t]))
			weights.SetFloat(i*op.Taps+t, w[t])
		}
	}
	return []*ir.Tensor{index, weights}, nil
}

// Call is cpu.ResizeTable or, for one element without weights,
// cpu.ResizeNearestTable.
func (op ResizeTable) Call(*ir.Node) (ir.Call, error) {
	spec := ir.Struct{Type: "ResizeSpec", Fields: []ir.Field{
		{Name: "Mode", Value: op.Mode}, {Name: "Coordinates", Value: op.Coordinates}, {Name: "Rounding", Value: op.Rounding},
		{Name: "Scale", Value: op.Scale}, {Name: "Start", Value: op.Start}, {Name: "End", Value: op.End},
		{Name: "CubicA", Value: op.CubicA}, {Name: "ExcludeOutside", Value: op.ExcludeOutside},
	}}
	if op.Mode == "nearest" {
		return ir.Call{Kernel: "ResizeNearestTable", Args: []any{ir.Out(0), op.In, op.Out, spec}}, nil
	}
	return ir.Call{Kernel: "ResizeTable", Args: []any{ir.Out(0), ir.Out(1), op.In, op.Out, op.Taps, spec}}, nil
}
