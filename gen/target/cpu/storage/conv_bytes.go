package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ConvBytes is a convolution without padding of x, bytes in channel blocks of L, 16 or 4: u8[N,⌈InC/L⌉,spatial…,L].
// The weights are packed by [PackConvBytes]. There are three further operands: an optional bias i32 [OutC]; a scale
// f64, [1] or [OutC]; and an optional zero point of the result, i32 [1]. Sums are requantised as [op.Requantize]
// describes. The result is in channel blocks of 16; lanes beyond OutC hold the clamped zero point. Strides and
// Dilations have one element for each spatial axis. The weights may be two packed weights, concatenated along the
// second axis. The sums of both convolutions are then added. The last dilation must be 1 in this case.
type ConvBytes struct {
	Strides, Dilations []int
	InC, OutC, Group   int
	op.Requantize
}

// DepthwiseBytes is a depthwise [ConvBytes] of C channels in blocks of 16, with weights packed by
// [PackDepthwiseBytes].
type DepthwiseBytes struct {
	Strides, Dilations []int
	C                  int
	KW                 int // cells in a row of the window
	op.Requantize
}

// PackConvBytes packs the weights of a convolution, [OutC,InC/Group,KH,KW] or [OutC,InC/Group,KW] of
// i8 or u8, for [ConvBytes]: i8[⌈OutC/16⌉,B,KH,KW,InBlock/4,16,4]. It is like [PackConv], which
// defines B. The last axis has four adjacent input channels of one output channel. Elements of u8
// are shifted by −128.
type PackConvBytes struct {
	Group   int
	InBlock int // number of channels of a block: 16 or 4
}

// PackDepthwiseBytes packs weights [C,1,KH,KW] or [C,1,KW] of i8 or u8 as i8[⌈C/16⌉,KH,⌈KW/4⌉,16,4]. The last axis
// has four adjacent weights of a row of the window. Elements of u8 are shifted by −128.
type PackDepthwiseBytes struct{}

// packedBytes returns the type of weights packed for [ConvBytes]. passes is the number of packed
// weights that are concatenated along the second axis. kh and kw are the height and width of the
// kernel.
func (p Packing) packedBytes(passes, kh, kw int) ir.Type {
	return ir.StaticTensor(ir.I8, p.outBlocks(), passes*p.width(), kh, kw, p.InBlock/4, block, 4)
}

// Packing returns how weights of type w are packed, and the height and width of their kernel. It
// returns an error if w cannot be packed.
func (o PackConvBytes) Packing(w ir.Type) (p Packing, kh, kw int, err error) {
	shape, ok := w.Static()
	if !ok || len(shape) != 3 && len(shape) != 4 || o.Group < 1 || o.InBlock != 4 && o.InBlock != block {
		return p, 0, 0, fmt.Errorf("weights %s in %d groups and blocks of %d", w, o.Group, o.InBlock)
	}
	kh, kw = KernelPlane(shape)
	p = Packing{shape[1] * o.Group, shape[0], o.Group, o.InBlock}
	return p, kh, kw, p.checkGroups()
}

// KernelPlane returns the height and width of the kernel of weights [M,C,KH,KW] or [M,C,KW]. The
// height is 1 for [M,C,KW].
func KernelPlane(w []int) (kh, kw int) {
	if len(w) == 4 {
		return w[2], w[3]
	}
	return 1, w[2]
}

// Infer returns the packed type. The weights' extents must be constants.
func (o PackConvBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := op.CheckFactor(in[0], ir.Type{}); err != nil {
		return nil, err
	}
	p, kh, kw, err := o.Packing(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{p.packedBytes(1, kh, kw)}, nil
}

// Infer returns the packed type. The weights' extents must be constants.
func (PackDepthwiseBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := op.CheckFactor(in[0], ir.Type{}); err != nil {
		return nil, err
	}
	shape, ok := in[0].Static()
	if !ok || len(shape) != 3 && len(shape) != 4 || shape[1] != 1 {
		return nil, fmt.Errorf("weights %s", in[0])
	}
	kh, kw := KernelPlane(shape)
	return []ir.Type{ir.StaticTensor(ir.I8, blocksOf(shape[0], block), kh, blocksOf(kw, 4), block, 4)}, nil
}

func blocksOf(n, size int) int { return (n + size - 1) / size }

// Eval packs the weights. Elements of u8 are shifted by −128, and the padding is zero.
func (o PackConvBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[0]
	p, kh, kw, err := o.Packing(w.Type())
	if err != nil {
		return nil, err
	}
	shape, _ := p.packedBytes(1, kh, kw).Static()
	y := ir.NewTensor(ir.I8, shape...)
	width, kernel, ins := p.width(), kh*kw, p.InC/p.Group
	for i := range w.Len() {
		o, c, k := i/kernel/ins, i/kernel%ins, i%kernel
		c += o/(p.OutC/p.Group)*ins - p.first(o/block, width)*p.InBlock
		at := ((o/block*width+c/p.InBlock)*kernel+k)*p.InBlock + c%p.InBlock
		y.SetInt((at/4*block+o%block)*4+at%4, moved(w.Int(i), w.DType, ir.I8))
	}
	return []*ir.Tensor{y}, nil
}

// Eval packs the weights. Elements of u8 are shifted by −128, and the padding is zero.
func (o PackDepthwiseBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	w := in[0]
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.I8, shape...)
	kh, kw := KernelPlane(w.Shape)
	for i := range w.Len() {
		c, row, x := i/kw/kh, i/kw%kh, i%kw
		y.SetInt((((c/block*kh+row)*shape[2]+x/4)*block+c%block)*4+x%4, moved(w.Int(i), w.DType, ir.I8))
	}
	return []*ir.Tensor{y}, nil
}

// inferBytes checks a convolution of blocked bytes and returns its result type. kernel are the extents
// of the window. lanes is the number of channels in a block of the operand, and channels the number of
// channels of the result.
func inferBytes(r op.Requantize, in []ir.Type, strides, dilations, kernel []int, lanes, channels int) ([]ir.Type, error) {
	x, bias, scale, zero := in[0], op.Operand(in, 2), op.Operand(in, 3), op.Operand(in, 4)
	n := len(strides)
	if x.DType != ir.U8 || x.Rank() != 3+n || !x.Shape[2+n].Equal(dim.Const(lanes)) || r.To != ir.U8 {
		return nil, fmt.Errorf("%s convolved to %s", x, r.To)
	}
	spatial, err := validWindow(strides, dilations, kernel, x)
	if err != nil {
		return nil, err
	}
	vector := func(t ir.Type, d ir.DType, one bool) bool {
		return t.DType == d && t.Rank() < 2 && (t.Elems().Equal(dim.Const(channels)) || one && op.HasOneElement(t))
	}
	if !bias.IsZero() && !vector(bias, ir.I32, false) || !vector(scale, ir.F64, true) || checkFill(zero) != nil {
		return nil, fmt.Errorf("bias %s, scale %s and zero point %s for %d channels", bias, scale, zero, channels)
	}
	return []ir.Type{bytesBlocked(x.Shape[0], dim.Const(channels), spatial, block)}, r.CheckClamp()
}

// Packing returns how the weights are packed for an operand of type x.
func (o ConvBytes) Packing(x ir.Type) Packing {
	inBlock := block
	if x.Rank() > 0 && x.Shape[x.Rank()-1].Equal(dim.Const(4)) {
		inBlock = 4
	}
	return Packing{o.InC, o.OutC, o.Group, inBlock}
}

// Passes returns how many packed weights are concatenated in the second operand, along its second axis. It is 1 or 2
// for operands that Infer accepts.
func (o ConvBytes) Passes(in []ir.Type) int {
	if in[1].Rank() < 2 {
		return 0
	}
	blocks, _ := in[1].Shape[1].Int()
	return blocks / o.Packing(in[0]).width()
}

// Infer returns u8[N,⌈OutC/16⌉,spatial…,16], where the spatial extents are the numbers of windows.
func (o ConvBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 5); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	p := o.Packing(x)
	if err := p.checkGroups(); err != nil {
		return nil, err
	}
	kernel, ok := dim.Ints(w.Shape)
	passes := o.Passes(in)
	if !ok || len(kernel) != 7 || passes < 1 || passes > 2 || !w.Equal(p.packedBytes(passes, kernel[2], kernel[3])) || x.Rank() < 2 || !x.Shape[1].Equal(dim.Const(p.inBlocks())) {
		return nil, fmt.Errorf("%s and packed weights %s", x, w)
	}
	if n := len(o.Dilations); passes > 1 && (n == 0 || o.Dilations[n-1] != 1) {
		return nil, fmt.Errorf("two weights for dilations %v", o.Dilations)
	}
	return inferBytes(o.Requantize, in, o.Strides, o.Dilations, kernel[2:4], p.InBlock, o.OutC)
}

// Infer returns u8[N,⌈C/16⌉,spatial…,16], where the spatial extents are the numbers of windows.
func (o DepthwiseBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 5); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	shape, ok := dim.Ints(w.Shape)
	blocks := blocksOf(o.C, block)
	if !ok || o.C < 1 || len(shape) != 5 || w.DType != ir.I8 || shape[0] != blocks || shape[3] != block || shape[4] != 4 || x.Rank() < 2 || !x.Shape[1].Equal(dim.Const(blocks)) {
		return nil, fmt.Errorf("%s and packed weights %s for %d channels", x, w, o.C)
	}
	if blocksOf(o.KW, 4) != shape[2] {
		return nil, fmt.Errorf("packed weights %s for %d cells of a row", w, o.KW)
	}
	return inferBytes(o.Requantize, in, o.Strides, o.Dilations, []int{shape[1], o.KW}, block, o.C)
}

// Eval computes integer sums for each output channel and requantises them.
func (o ConvBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[1]
	p := o.Packing(in[0].Type())
	all, width, kernel, ib := w.Shape[1], p.width(), w.Shape[2]*w.Shape[3], p.InBlock
	window := op.Window{Kernel: w.Shape[4-len(o.Strides) : 4], Strides: o.Strides, Dilations: o.Dilations}
	return evalBytes(o.Requantize, o, in, window, o.OutC, func(channel int, cell func(block, tap, lane int) int64) (sum int64) {
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

// Eval computes an integer sum for each window of each channel and requantises it.
func (o DepthwiseBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[1]
	kernel := []int{w.Shape[1], o.KW}
	window := op.Window{Kernel: kernel[op.MaxSpatial-len(o.Strides):], Strides: o.Strides, Dilations: o.Dilations}
	return evalBytes(o.Requantize, o, in, window, o.C, func(channel int, cell func(block, tap, lane int) int64) (sum int64) {
		for t := range kernel[0] * kernel[1] {
			row := channel/block*kernel[0] + t/o.KW
			sum += cell(channel/block, t, channel%block) * w.Int(((row*w.Shape[2]+t%o.KW/4)*block+channel%block)*4+t%o.KW%4)
		}
		return sum
	})
}

// evalBytes requantises the sums of a convolution of blocked bytes. sum returns the sum of a channel at the current
// position of the window. It reads bytes of x with the function `cell`. The arguments of cell are the index of a
// block of channels, the index `tap` of a cell of the window, and a lane of the block. cell returns 0 if the window's
// cell is outside of x.
func evalBytes(r op.Requantize, conv ir.Op, in []*ir.Tensor, window op.Window, channels int, sum func(channel int, cell func(block, tap, lane int) int64) int64) ([]*ir.Tensor, error) {
	out, err := op.InferOf(conv, in)
	if err != nil {
		return nil, err
	}
	x := in[0]
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.U8, shape...)
	spatial := x.Shape[2 : len(x.Shape)-1]
	lanes, inPlane, outPlane := x.Shape[len(x.Shape)-1], op.LenOf(spatial), op.LenOf(shape[2:len(shape)-1])
	result := make([]*ir.Tensor, op.ProductOperands)
	result[op.BiasOperand], result[op.ScaleOperand], result[op.ZeroOperand] = op.OperandOf(in, 2), op.OperandOf(in, 3), op.OperandOf(in, 4)
	empty := make([]*ir.Tensor, op.ProductOperands) // for empty lanes
	empty[op.ScaleOperand], empty[op.ZeroOperand] = ir.Scalar(ir.F64, 0), op.OperandOf(in, 4)
	err = window.Visit(spatial, func(place int, c op.Cells) {
		for n := range shape[0] {
			cell := func(block, tap, lane int) int64 {
				for i, t := range c.Tap {
					if t == tap {
						return x.Int(((n*x.Shape[1]+block)*inPlane+c.At[i])*lanes + lane)
					}
				}
				return 0
			}
			for channel := range shape[1] * block {
				at := ((n*shape[1]+channel/block)*outPlane+place)*block + channel%block
				if channel < channels {
					r.Store(y, at, sum(channel, cell), result, channel)
				} else {
					r.Store(y, at, 0, empty, 0)
				}
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// emptyLanes returns the number that n's result has in the lanes beyond its channels, as a list of one. It returns
// nil if the number is unknown. r is the requantisation of n.
func emptyLanes(r op.Requantize, n *ir.Node) []float64 {
	y := ir.NewTensor(ir.U8)
	in := make([]*ir.Tensor, op.ProductOperands)
	in[op.ScaleOperand] = ir.Scalar(ir.F64, 0)
	if zero := n.Arg(4); zero != nil {
		c, ok := zero.ConstValue()
		if !ok {
			return nil
		}
		in[op.ZeroOperand] = c
	}
	r.Store(y, 0, 0, in, 0)
	return []float64{y.Number(0)}
}

// validWindow returns the spatial extents of the result of a convolution of x without padding.
// kernel has two elements. validWindow returns an error if the window does not fit the spatial axes
// of x.
func validWindow(strides, dilations, kernel []int, x ir.Type) ([]dim.Dim, error) {
	n := len(strides)
	if n < 1 || n > op.MaxSpatial || len(dilations) != n || x.Rank() < 2+n || n == 1 && kernel[0] != 1 {
		return nil, fmt.Errorf("strides %v, dilations %v, kernel %v over %s", strides, dilations, kernel, x)
	}
	w := WindowOver(strides, dilations, kernel)
	if err := w.Check(n); err != nil {
		return nil, err
	}
	return w.Places(x.Shape[2 : 2+n])
}

// WindowOver returns a window without padding over one or two spatial axes. kernel has two elements. For one axis,
// the first element is ignored.
func WindowOver(strides, dilations, kernel []int) op.Window {
	return op.Window{Kernel: kernel[op.MaxSpatial-len(strides):], Strides: strides, Dilations: dilations}
}

// Flops counts two operations for each product, including empty lanes.
func (ConvBytes) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:5]...)).Mul(dim.Const(8))
}

// Flops counts two operations for each product.
func (o DepthwiseBytes) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(in[1].Shape[1]).Mul(dim.Const(2 * o.KW))
}

// EmptyLanes returns a list of one number, the requantised value of a zero sum. It returns nil if the zero point of
// the result is not constant.
func (o ConvBytes) EmptyLanes(n *ir.Node) []float64 { return emptyLanes(o.Requantize, n) }

// EmptyLanes returns a list of one number, the requantised value of a zero sum. It returns nil if the zero point of
// the result is not constant.
func (o DepthwiseBytes) EmptyLanes(n *ir.Node) []float64 { return emptyLanes(o.Requantize, n) }
