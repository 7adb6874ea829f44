package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// PackConv packs the weights of a convolution, f32[OutC,InC/Group,KH,KW] or f32[OutC,InC/Group,KW], for
// [ConvBlocked]: f32[⌈OutC/16⌉,B,KH,KW,InBlock,16]. For each block of 16 output channels it has the weights of B
// blocks of input channels: the blocks that the output channels depend on. A block of input channels has InBlock
// channels. Missing weights are zero. If a block has channels of several groups, the weights between channels of
// different groups are zero.
type PackConv struct {
	Group   int
	InBlock int // 16, or 1 for a planar operand
}

// Packing describes how the weights of a convolution are packed, see package cpu.
type Packing struct{ InC, OutC, Group, InBlock int }

func (p Packing) inBlocks() int  { return (p.InC + p.InBlock - 1) / p.InBlock }
func (p Packing) outBlocks() int { return (p.OutC + block - 1) / block }

// reach returns the range [from, to) of input blocks that an output block sums over: the blocks of
// every group that has channels in the output block.
func (p Packing) reach(outBlock int) (from, to int) {
	in, out := p.InC/p.Group, p.OutC/p.Group
	first, last := block*outBlock/out, min(block*outBlock+block-1, p.OutC-1)/out
	return first * in / p.InBlock, ((last+1)*in + p.InBlock - 1) / p.InBlock
}

// width returns the number of input blocks in the packed weights of an output block. This is the same number for all
// output blocks: the largest number of input blocks that an output block sums over. Weights that an output block does
// not need are zero.
func (p Packing) width() int {
	if p.Group == 1 {
		return p.inBlocks()
	}
	width := 0
	for o := range p.outBlocks() {
		from, to := p.reach(o)
		width = max(width, to-from)
	}
	return width
}

// first returns the index of the first input block whose weights [PackConvBytes] packs for an output block. width is
// the number of input blocks that are packed for each output block.
func (p Packing) first(outBlock, width int) int {
	from, _ := p.reach(outBlock)
	return min(from, p.inBlocks()-width)
}

func (p Packing) check() error {
	if p.InBlock != 1 && p.InBlock != block {
		return fmt.Errorf("input blocks of %d", p.InBlock)
	}
	return p.checkGroups()
}

func (p Packing) checkGroups() error {
	if p.InC < 1 || p.OutC < 1 || p.Group < 1 || p.InC%p.Group != 0 || p.OutC%p.Group != 0 {
		return fmt.Errorf("%d to %d channels in %d groups", p.InC, p.OutC, p.Group)
	}
	return nil
}

// packed returns the type of packed weights, f32[⌈OutC/16⌉,B,kh,kw,InBlock,16].
func (p Packing) packed(kh, kw int) ir.Type {
	return ir.StaticTensor(ir.F32, p.outBlocks(), p.width(), kh, kw, p.InBlock, block)
}

// Infer returns the packed type. The weights' extents must be constants.
func (o PackConv) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	p, kh, kw, err := o.Packing(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{p.packed(kh, kw)}, nil
}

// Packing returns how weights of type w are packed, and the height and width of their kernel. It
// returns an error if w cannot be packed.
func (o PackConv) Packing(w ir.Type) (p Packing, kh, kw int, err error) {
	shape, ok := w.Static()
	if !ok || w.DType != ir.F32 || len(shape) != 3 && len(shape) != 4 {
		return p, 0, 0, fmt.Errorf("weights %s", w)
	}
	kh, kw = 1, shape[len(shape)-1]
	if len(shape) == 4 {
		kh = shape[2]
	}
	p = Packing{shape[1] * o.Group, shape[0], o.Group, o.InBlock}
	return p, kh, kw, p.check()
}

// Eval packs the weights and pads them with zeros.
func (o PackConv) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[0]
	p, kh, kw, err := o.Packing(w.Type())
	if err != nil {
		return nil, err
	}
	shape, _ := p.packed(kh, kw).Static()
	y := ir.NewTensor(ir.F32, shape...)
	width, kernel, ins := p.width(), kh*kw, p.InC/p.Group
	for i := range w.Len() {
		o, c, k := i/kernel/ins, i/kernel%ins, i%kernel
		from, _ := p.reach(o / block)
		c += o/(p.OutC/p.Group)*ins - from*p.InBlock
		to := ((o/block*width+c/p.InBlock)*kernel+k)*p.InBlock + c%p.InBlock
		y.Copy(to*block+o%block, w, i)
	}
	return []*ir.Tensor{y}, nil
}
