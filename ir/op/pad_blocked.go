package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PadBlocked puts cells of the value Fill before the first and after the last of
// each spatial axis of x, channel-blocked f32[N,⌈C/16⌉,spatial…,16], as Pads says: all
// befores, then all afters; nil is none.
type PadBlocked struct {
	Pads []ir.Dim
	Fill float32
}

// Infer adds the padding to the extents.
func (op PadBlocked) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := spatialEnd(x, true)
	if err != nil {
		return nil, err
	}
	if end > 2+maxSpatial {
		return nil, fmt.Errorf("%s has more than %d spatial axes", x, maxSpatial)
	}
	spatial, err := padded(x.Shape[2:end], op.Pads)
	if err != nil {
		return nil, err
	}
	shape := append(append(x.Shape[:2:2], spatial...), x.Shape[end:]...)
	return []ir.Type{ir.TensorOf(ir.F32, shape...)}, nil
}

// Eval copies the elements.
func (op PadBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	pads, ok := ir.Ints(op.Pads)
	if !ok {
		return nil, fmt.Errorf("pads %v have no value", op.Pads)
	}
	y := ir.NewTensor(ir.F32, shape...)
	for i := range y.Len() {
		y.SetFloat(i, float64(op.Fill))
	}
	walk := newIndex(x.Shape, x.Shape)
	for i := range x.Len() {
		j := 0
		for k, at := range walk.at {
			if k >= 2 && k-2 < len(pads)/2 {
				at += pads[k-2]
			}
			j = j*shape[k] + at
		}
		y.Copy(j, x, i)
		walk.Next()
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.PadBlocked.
func (op PadBlocked) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type
	end, err := spatialEnd(x, true)
	if err != nil {
		return ir.Call{}, err
	}
	h, w := plane(x.Shape[2:end])
	return ir.Call{Kernel: "PadBlocked", Args: []any{
		ir.Out(0), ir.In(0), x.Shape[0], x.Shape[1], h, w, planePads(op.Pads), ir.Number{DType: ir.F32, Float: float64(op.Fill)},
	}}, nil
}

// padded returns spatial extents with padding.
func padded(spatial, pads []ir.Dim) ([]ir.Dim, error) {
	if pads == nil {
		return spatial, nil
	}
	if len(pads) != 2*len(spatial) {
		return nil, fmt.Errorf("%d pads for %d spatial axes", len(pads), len(spatial))
	}
	out := make([]ir.Dim, len(spatial))
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

// IsMemoryBound marks the operator.
func (PadBlocked) IsMemoryBound() {}
