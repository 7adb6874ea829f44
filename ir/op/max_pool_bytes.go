package op

import "github.com/burngen/burngen/ir"

// MaxPoolBytes is the greatest byte of each window without padding over x,
// u8[N,⌈C/16⌉,spatial…,16]. Strides and Dilations have an element for each of the one or
// two spatial axes, as Kernel has.
type MaxPoolBytes struct{ Kernel, Strides, Dilations []int }

// window is the pool's window.
func (op MaxPoolBytes) window() Window {
	return Window{Kernel: op.Kernel, Strides: op.Strides, Dilations: op.Dilations}
}

// Infer computes the spatial extents.
func (op MaxPoolBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	spatial, err := bytesSpatial(x)
	if err != nil {
		return nil, err
	}
	w := op.window()
	if err := w.check(len(spatial)); err != nil {
		return nil, err
	}
	if spatial, err = w.shape(spatial); err != nil {
		return nil, err
	}
	return []ir.Type{bytesBlocked(x.Shape[0], x.Shape[1].Mul(ir.Const(block)), spatial, block)}, nil
}

// Eval takes the greatest.
func (op MaxPoolBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.U8, shape...)
	spatial := x.Shape[2 : len(x.Shape)-1]
	plane, outPlane := lenOf(spatial), lenOf(shape[2:len(shape)-1])
	err = op.window().visit(spatial, func(o int, c cells) {
		for i := range lenOf(shape[:2]) {
			for lane := range block {
				most := int64(0)
				for _, at := range c.at {
					most = max(most, x.Int((i*plane+at)*block+lane))
				}
				y.SetInt((i*outPlane+o)*block+lane, most)
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// Flops counts a comparison for each cell of a window.
func (op MaxPoolBytes) Flops(_, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Const(lenOf(op.Kernel)))
}

// Call is cpu.MaxPoolBytes.
func (op MaxPoolBytes) Call(n *ir.Node) (ir.Call, error) {
	x, y := n.Arg(0).Type.Shape, n.Results[0].Type.Shape
	pair := func(dims []ir.Dim) []ir.Dim {
		h, w := plane(dims)
		return []ir.Dim{h, w}
	}
	spatial := len(op.Kernel)
	return ir.Call{Kernel: "MaxPoolBytes", Args: []any{
		ir.Out(0), ir.In(0), x[0].Mul(x[1]), pair(x[2 : 2+spatial]), pair(y[2 : 2+spatial]), pair(ir.Dims(op.Kernel...)),
		pair(ir.Dims(orOnes(op.Strides, spatial)...)), pair(ir.Dims(orOnes(op.Dilations, spatial)...)),
	}}, nil
}

// ofBytes appends the pool n of blocked bytes x. Padding is the least byte, which a
// window of nothing else gives.
func (op MaxPool) ofBytes(b *ir.Builder, n *ir.Node, x *ir.Value) *ir.Value {
	spatial := n.Arg(0).Type.Shape[2:]
	if op.Ceil {
		return nil
	}
	for _, d := range op.pads(spatial) {
		if !d.Equal(ir.Const(0)) {
			x = b.Node(PadBytes{Pads: op.pads(spatial)}, x)
			break
		}
	}
	y := b.Node(MaxPoolBytes{Kernel: op.Kernel, Strides: op.strides(len(spatial)), Dilations: op.dilations(len(spatial))}, x)
	return withExtents(b, y, n)
}
