package storage

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// MaxPoolBytes is the maximum of each window over x, u8[N,⌈C/16⌉,spatial…,16], without padding. Strides, Dilations and
// Kernel have an element for each of the one or two spatial axes.
type MaxPoolBytes struct{ Kernel, Strides, Dilations []int }

func (o MaxPoolBytes) window() op.Window {
	return op.Window{Kernel: o.Kernel, Strides: o.Strides, Dilations: o.Dilations}
}

// Infer returns u8[N,⌈C/16⌉,spatial…,16], where the spatial extents are the numbers of windows.
func (o MaxPoolBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	spatial, err := bytesSpatial(x)
	if err != nil {
		return nil, err
	}
	w := o.window()
	if err := w.Check(len(spatial)); err != nil {
		return nil, err
	}
	if spatial, err = w.Places(spatial); err != nil {
		return nil, err
	}
	return []ir.Type{bytesBlocked(x.Shape[0], x.Shape[1].Mul(dim.Const(block)), spatial, block)}, nil
}

// Eval returns the greatest element of each window.
func (o MaxPoolBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.U8, shape...)
	spatial := x.Shape[2 : len(x.Shape)-1]
	plane, outPlane := op.LenOf(spatial), op.LenOf(shape[2:len(shape)-1])
	err = o.window().Visit(spatial, func(place int, c op.Cells) {
		for i := range op.LenOf(shape[:2]) {
			for lane := range block {
				most := int64(0)
				for _, at := range c.At {
					most = max(most, x.Int((i*plane+at)*block+lane))
				}
				y.SetInt((i*outPlane+place)*block+lane, most)
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// Flops counts a comparison for each cell of a window.
func (o MaxPoolBytes) Flops(_, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(op.LenOf(o.Kernel)))
}
