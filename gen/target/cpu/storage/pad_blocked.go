package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// PadBlocked pads the spatial axes of x, channel-blocked f32[N,⌈C/16⌉,spatial…,16], with the value
// Fill. Pads lists the cells to insert before each axis, then the cells to insert after each axis.
// A nil Pads means no padding.
type PadBlocked struct {
	Pads []dim.Dim
	Fill float32
}

// Infer returns the type of x with the padding added to the spatial extents.
func (o PadBlocked) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := op.SpatialEnd(x, true)
	if err != nil {
		return nil, err
	}
	if end > 2+op.MaxSpatial {
		return nil, fmt.Errorf("%s has more than %d spatial axes", x, op.MaxSpatial)
	}
	spatial, err := padded(x.Shape[2:end], o.Pads)
	if err != nil {
		return nil, err
	}
	shape := append(append(x.Shape[:2:2], spatial...), x.Shape[end:]...)
	return []ir.Type{ir.TensorOf(ir.F32, shape...)}, nil
}

// Eval copies x and adds the padding.
func (o PadBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	pads, ok := dim.Ints(o.Pads)
	if !ok {
		return nil, fmt.Errorf("pads %v have no value", o.Pads)
	}
	y := ir.NewTensor(ir.F32, shape...)
	for i := range y.Len() {
		y.SetFloat(i, float64(o.Fill))
	}
	for i := range x.Len() {
		j := 0
		for k, at := range placeOf(i, x.Shape) {
			if k >= 2 && k-2 < len(pads)/2 {
				at += pads[k-2]
			}
			j = j*shape[k] + at
		}
		y.Copy(j, x, i)
	}
	return []*ir.Tensor{y}, nil
}

// padded returns spatial extents with padding added. Nil pads mean no padding. padded returns an
// error if there are not two pads for each axis, or if a constant pad is negative.
func padded(spatial, pads []dim.Dim) ([]dim.Dim, error) {
	if pads == nil {
		return spatial, nil
	}
	if len(pads) != 2*len(spatial) {
		return nil, fmt.Errorf("%d pads for %d spatial axes", len(pads), len(spatial))
	}
	out := make([]dim.Dim, len(spatial))
	for i, d := range spatial {
		out[i] = d.Add(pads[i]).Add(pads[len(spatial)+i])
	}
	for _, p := range pads {
		if n, ok := p.Int(); ok && n < 0 {
			return nil, fmt.Errorf("negative pad %d", n)
		}
	}
	return out, nil
}

// IsMemoryBound marks the operator as an [op.MemoryBound]: memory bandwidth limits its speed.
func (PadBlocked) IsMemoryBound() {}
