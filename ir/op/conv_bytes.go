package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvBytes is a convolution without padding of x, bytes in channel blocks of 16 or 4,
// u8[N,⌈InC/16⌉,spatial…,16], with weights that [PackConvBytes] has packed. The further
// operands are a bias i32, of OutC elements, which may be absent, a scale f64, of one
// element or OutC, and a zero point of the result, i32 of one element, which may be
// absent: sums are requantised as [Requantize] says. The result is in channel blocks of
// 16; lanes beyond OutC hold the zero point, limited. Strides and Dilations have an
// element for each of the one or two spatial axes. Two packed weights, joined along
// their second axis, count as their sum; the last dilation is 1 then.
type ConvBytes struct {
	Strides, Dilations []int
	InC, OutC, Group   int
	Requantize
}

// DepthwiseBytes is a [ConvBytes] of C channels in blocks of 16, each with weights of
// its own, that [PackDepthwiseBytes] has packed.
type DepthwiseBytes struct {
	Strides, Dilations []int
	C                  int
	KW                 int // cells of a row of the window
	Requantize
}

// PackConvBytes is the weights of a convolution, [OutC,InC/Group,KH,KW] or
// [OutC,InC/Group,KW] of i8 or u8, as [ConvBytes] reads them: as [PackConv] has them,
// but i8, with four input channels of an output channel side by side:
// i8[⌈OutC/16⌉,B,KH,KW,InBlock/4,16,4]. Elements of u8 move by −128.
type PackConvBytes struct {
	Group   int
	InBlock int // 16 or 4
}

// PackDepthwiseBytes is weights [C,1,KH,KW] or [C,1,KW] of i8 or u8 as
// i8[⌈C/16⌉,KH,⌈KW/4⌉,16,4], with four cells of a row side by side. Elements of u8 move
// by −128.
type PackDepthwiseBytes struct{}

// packedBytes returns the type of one or more packed weights.
func (p packing) packedBytes(passes, kh, kw int) ir.Type {
	return ir.StaticTensor(ir.I8, p.outBlocks(), passes*p.width(), kh, kw, p.inBlock/4, block, 4)
}

func (op PackConvBytes) packing(w ir.Type) (p packing, kh, kw int, err error) {
	shape, ok := w.Static()
	if !ok || len(shape) != 3 && len(shape) != 4 || op.Group < 1 || op.InBlock != 4 && op.InBlock != block {
		return p, 0, 0, fmt.Errorf("weights %s in %d groups and blocks of %d", w, op.Group, op.InBlock)
	}
	kh, kw = kernelPlane(shape)
	p = packing{shape[1] * op.Group, shape[0], op.Group, op.InBlock}
	return p, kh, kw, p.checkGroups()
}

// kernelPlane returns the extents of weights [M,C,KH,KW] or [M,C,KW].
func kernelPlane(w []int) (kh, kw int) {
	if len(w) == 4 {
		return w[2], w[3]
	}
	return 1, w[2]
}

// Infer gives the packed type; the weights' extents have to be constants.
func (op PackConvBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkFactor(in[0], ir.Type{}); err != nil {
		return nil, err
	}
	p, kh, kw, err := op.packing(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{p.packedBytes(1, kh, kw)}, nil
}

// Infer gives the packed type; the weights' extents have to be constants.
func (PackDepthwiseBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkFactor(in[0], ir.Type{}); err != nil {
		return nil, err
	}
	shape, ok := in[0].Static()
	if !ok || len(shape) != 3 && len(shape) != 4 || shape[1] != 1 {
		return nil, fmt.Errorf("weights %s", in[0])
	}
	kh, kw := kernelPlane(shape)
	return []ir.Type{ir.StaticTensor(ir.I8, blocksOf(shape[0], block), kh, blocksOf(kw, 4), block, 4)}, nil
}

// blocksOf is n/size rounded up.
func blocksOf(n, size int) int { return (n + size - 1) / size }

// Eval moves the elements.
func (op PackConvBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[0]
	p, kh, kw, err := op.packing(w.Type())
	if err != nil {
		return nil, err
	}
	shape, _ := p.packedBytes(1, kh, kw).Static()
	y := ir.NewTensor(ir.I8, shape...)
	width, kernel, ins := p.width(), kh*kw, p.inC/p.group
	for i := range w.Len() {
		o, c, k := i/kernel/ins, i/kernel%ins, i%kernel
		c += o/(p.outC/p.group)*ins - p.first(o/block, width)*p.inBlock
		at := ((o/block*width+c/p.inBlock)*kernel+k)*p.inBlock + c%p.inBlock
		y.SetInt((at/4*block+o%block)*4+at%4, moved(w.Int(i), w.DType, ir.I8))
	}
	return []*ir.Tensor{y}, nil
}

// Eval moves the elements.
func (op PackDepthwiseBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	w := in[0]
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.I8, shape...)
	kh, kw := kernelPlane(w.Shape)
	for i := range w.Len() {
		c, row, x := i/kw/kh, i/kw%kh, i%kw
		y.SetInt((((c/block*kh+row)*shape[2]+x/4)*block+c%block)*4+x%4, moved(w.Int(i), w.DType, ir.I8))
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.PackConvBytes.
func (op PackConvBytes) Call(n *ir.Node) (ir.Call, error) {
	p, kh, kw, err := op.packing(n.Arg(0).Type)
	if err != nil {
		return ir.Call{}, err
	}
	return ir.Call{Kernel: "PackConvBytes", Args: []any{ir.Out(0), ir.In(0), p.weights(kh, kw)}}, nil
}

// Call is cpu.PackDepthwiseBytes.
func (PackDepthwiseBytes) Call(n *ir.Node) (ir.Call, error) {
	shape, ok := n.Arg(0).Type.Static()
	if !ok {
		return ir.Call{}, fmt.Errorf("weights %s", n.Arg(0).Type)
	}
	kh, kw := kernelPlane(shape)
	return ir.Call{Kernel: "PackDepthwiseBytes", Args: []any{ir.Out(0), ir.In(0), shape[0], kh, kw}}, nil
}

// inferBytes checks a convolution of blocked bytes and gives its result; packed is
// the type of its weights, whose axes kernel are the window.
func (r Requantize) inferBytes(in []ir.Type, strides, dilations, kernel []int, lanes, channels int) ([]ir.Type, error) {
	x, bias, scale, zero := in[0], operand(in, 2), operand(in, 3), operand(in, 4)
	n := len(strides)
	if x.DType != ir.U8 || x.Rank() != 3+n || !x.Shape[2+n].Equal(ir.Const(lanes)) || r.To != ir.U8 {
		return nil, fmt.Errorf("%s convolved to %s", x, r.To)
	}
	spatial, err := validWindow(strides, dilations, kernel, x)
	if err != nil {
		return nil, err
	}
	vector := func(t ir.Type, d ir.DType, one bool) bool {
		return t.DType == d && t.Rank() < 2 && (t.Elems().Equal(ir.Const(channels)) || one && isOne(t))
	}
	if !bias.IsZero() && !vector(bias, ir.I32, false) || !vector(scale, ir.F64, true) || checkFill(zero) != nil {
		return nil, fmt.Errorf("bias %s, scale %s and zero point %s for %d channels", bias, scale, zero, channels)
	}
	return []ir.Type{bytesBlocked(x.Shape[0], ir.Const(channels), spatial, block)}, r.checkClamp()
}

// packing returns how the weights are packed for an operand.
func (op ConvBytes) packing(x ir.Type) packing {
	inBlock := block
	if x.Rank() > 0 && x.Shape[x.Rank()-1].Equal(ir.Const(4)) {
		inBlock = 4
	}
	return packing{op.InC, op.OutC, op.Group, inBlock}
}

// passes returns how many weights there are for each cell.
func (op ConvBytes) passes(in []ir.Type) int {
	if in[1].Rank() < 2 {
		return 0
	}
	blocks, _ := in[1].Shape[1].Int()
	return blocks / op.packing(in[0]).width()
}

// Infer computes the spatial extents.
func (op ConvBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 5); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	p := op.packing(x)
	if err := p.checkGroups(); err != nil {
		return nil, err
	}
	kernel, ok := ir.Ints(w.Shape)
	passes := op.passes(in)
	if !ok || len(kernel) != 7 || passes < 1 || passes > 2 || !w.Equal(p.packedBytes(passes, kernel[2], kernel[3])) || x.Rank() < 2 || !x.Shape[1].Equal(ir.Const(p.inBlocks())) {
		return nil, fmt.Errorf("%s and packed weights %s", x, w)
	}
	if n := len(op.Dilations); passes > 1 && (n == 0 || op.Dilations[n-1] != 1) {
		return nil, fmt.Errorf("two weights for dilations %v", op.Dilations)
	}
	return op.inferBytes(in, op.Strides, op.Dilations, kernel[2:4], p.inBlock, op.OutC)
}

// Infer computes the spatial extents.
func (op DepthwiseBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 5); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	shape, ok := ir.Ints(w.Shape)
	blocks := blocksOf(op.C, block)
	if !ok || op.C < 1 || len(shape) != 5 || w.DType != ir.I8 || shape[0] != blocks || shape[3] != block || shape[4] != 4 || x.Rank() < 2 || !x.Shape[1].Equal(ir.Const(blocks)) {
		return nil, fmt.Errorf("%s and packed weights %s for %d channels", x, w, op.C)
	}
	if blocksOf(op.KW, 4) != shape[2] {
		return nil, fmt.Errorf("packed weights %s for %d cells of a row", w, op.KW)
	}
	return op.inferBytes(in, op.Strides, op.Dilations, []int{shape[1], op.KW}, block, op.C)
}

// Eval sums products of integers.
func (op ConvBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[1]
	p := op.packing(in[0].Type())
	all, width, kernel, ib := w.Shape[1], p.width(), w.Shape[2]*w.Shape[3], p.inBlock
	window := Window{Kernel: w.Shape[4-len(op.Strides) : 4], Strides: op.Strides, Dilations: op.Dilations}
	return op.evalBytes(op, in, window, op.OutC, func(channel int, cell func(block, tap, lane int) int64) (sum int64) {
		first := p.first(channel/block, width)
		for k := range all {
			for t := range kernel {
				for lane := range ib {
					at := ((channel/block*all+k)*kernel+t)*ib + lane
					sum += cell(first+k%width, t, lane) * w.Int((at/4*block+channel%block)*4+at%4)
				}
			}
		}
		return sum
	})
}

// Eval sums products of integers.
func (op DepthwiseBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[1]
	kernel := []int{w.Shape[1], op.KW}
	window := Window{Kernel: kernel[maxSpatial-len(op.Strides):], Strides: op.Strides, Dilations: op.Dilations}
	return op.evalBytes(op, in, window, op.C, func(channel int, cell func(block, tap, lane int) int64) (sum int64) {
		for t := range kernel[0] * kernel[1] {
			row := channel/block*kernel[0] + t/op.KW
			sum += cell(channel/block, t, channel%block) * w.Int(((row*w.Shape[2]+t%op.KW/4)*block+channel%block)*4+t%op.KW%4)
		}
		return sum
	})
}

// evalBytes requantises the sums of a convolution of blocked bytes. sum gives that of
// a channel at a place, cell the byte of a block of x below a tap there.
func (r Requantize) evalBytes(op ir.Op, in []*ir.Tensor, window Window, channels int, sum func(channel int, cell func(block, tap, lane int) int64) int64) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	x := in[0]
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.U8, shape...)
	spatial := x.Shape[2 : len(x.Shape)-1]
	lanes, inPlane, outPlane := x.Shape[len(x.Shape)-1], lenOf(spatial), lenOf(shape[2:len(shape)-1])
	result := make([]*ir.Tensor, productOperands)
	result[biasOperand], result[scaleOperand], result[zeroOperand] = operandOf(in, 2), operandOf(in, 3), operandOf(in, 4)
	empty := make([]*ir.Tensor, productOperands) // of lanes without a channel
	empty[scaleOperand], empty[zeroOperand] = ir.Scalar(ir.F64, 0), operandOf(in, 4)
	err = window.visit(spatial, func(o int, c cells) {
		for n := range shape[0] {
			cell := func(block, tap, lane int) int64 {
				for i, t := range c.tap {
					if t == tap {
						return x.Int(((n*x.Shape[1]+block)*inPlane+c.at[i])*lanes + lane)
					}
				}
				return 0
			}
			for channel := range shape[1] * block {
				at := ((n*shape[1]+channel/block)*outPlane+o)*block + channel%block
				if channel < channels {
					r.set(y, at, sum(channel, cell), result, channel)
				} else {
					r.set(y, at, 0, empty, 0)
				}
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// emptyLanes returns the numbers that the lanes beyond the channels of n's result
// hold, nil where they are not known.
func (r Requantize) emptyLanes(n *ir.Node) []float64 {
	y := ir.NewTensor(ir.U8)
	in := make([]*ir.Tensor, productOperands)
	in[scaleOperand] = ir.Scalar(ir.F64, 0)
	if zero := n.Arg(4); zero != nil {
		c, ok := zero.ConstValue()
		if !ok {
			return nil
		}
		in[zeroOperand] = c
	}
	r.set(y, 0, 0, in, 0)
	return []float64{y.Number(0)}
}

// validWindow returns the spatial extents of a convolution without padding.
// kernel has two elements.
func validWindow(strides, dilations, kernel []int, x ir.Type) ([]ir.Dim, error) {
	n := len(strides)
	if n < 1 || n > maxSpatial || len(dilations) != n || x.Rank() < 2+n || n == 1 && kernel[0] != 1 {
		return nil, fmt.Errorf("strides %v, dilations %v, kernel %v over %s", strides, dilations, kernel, x)
	}
	w := windowOver(strides, dilations, kernel)
	if err := w.check(n); err != nil {
		return nil, err
	}
	return w.shape(x.Shape[2 : 2+n])
}

// windowOver is a window without padding; kernel has two elements.
func windowOver(strides, dilations, kernel []int) Window {
	return Window{Kernel: kernel[maxSpatial-len(strides):], Strides: strides, Dilations: dilations}
}

// Flops counts two operations for each product, those of empty lanes included.
func (ConvBytes) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Product(in[1].Shape[1:5]...)).Mul(ir.Const(8))
}

// Flops counts two operations for each product.
func (op DepthwiseBytes) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(in[1].Shape[1]).Mul(ir.Const(2 * op.KW))
}

// Call is cpu.ConvBytes.
func (op ConvBytes) Call(n *ir.Node) (ir.Call, error) {
	kernel, _ := ir.Ints(n.Arg(1).Type.Shape[2:4])
	shape := windowOver(op.Strides, op.Dilations, kernel).convShape(n, op.packing(n.Arg(0).Type))
	return op.callBytes("ConvBytes", shape, op.passes([]ir.Type{n.Arg(0).Type, n.Arg(1).Type})), nil
}

// Call is cpu.DepthwiseBytes.
func (op DepthwiseBytes) Call(n *ir.Node) (ir.Call, error) {
	taps, _ := n.Arg(1).Type.Shape[1].Int()
	shape := windowOver(op.Strides, op.Dilations, []int{taps, op.KW}).convShape(n, packing{op.C, op.C, op.C, block})
	return op.callBytes("DepthwiseBytes", shape), nil
}

func (r Requantize) callBytes(kernel string, shape ...any) ir.Call {
	lo, hi := r.bounds()
	args := []any{ir.Out(0), ir.In(0), ir.In(1), ir.In(2), ir.In(3), ir.In(4)}
	return ir.Call{Kernel: kernel, Args: append(append(args, shape...), lo, hi)}
}

// EmptyLanes are what a sum of zero is requantised to.
func (op ConvBytes) EmptyLanes(n *ir.Node) []float64 { return op.emptyLanes(n) }

// EmptyLanes are what a sum of zero is requantised to.
func (op DepthwiseBytes) EmptyLanes(n *ir.Node) []float64 { return op.emptyLanes(n) }
