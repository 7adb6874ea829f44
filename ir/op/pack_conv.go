package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PackConv is the weights of a convolution, f32[OutC,InC/Group,KH,KW] or
// f32[OutC,InC/Group,KW], as [ConvBlocked] reads them:
// f32[⌈OutC/16⌉,B,KH,KW,InBlock,16]. For each block of output channels these are
// the B blocks of InBlock input channels that it depends on, or fewer and zeros; where
// a block spans groups, the weights between them are zero.
type PackConv struct {
	Group   int
	InBlock int // 16, or 1 for a planar operand
}

// packing is how the weights of a convolution are packed; see package cpu.
type packing struct{ inC, outC, group, inBlock int }

func (p packing) inBlocks() int  { return (p.inC + p.inBlock - 1) / p.inBlock }
func (p packing) outBlocks() int { return (p.outC + block - 1) / block }

// reach is the range of input blocks that an output block sums over: those of
// all groups that it has channels of.
func (p packing) reach(outBlock int) (from, to int) {
	in, out := p.inC/p.group, p.outC/p.group
	first, last := block*outBlock/out, min(block*outBlock+block-1, p.outC-1)/out
	return first * in / p.inBlock, ((last+1)*in + p.inBlock - 1) / p.inBlock
}

// width is the widest reach, which the packed weights of all output blocks have.
func (p packing) width() int {
	if p.group == 1 {
		return p.inBlocks()
	}
	width := 0
	for o := range p.outBlocks() {
		from, to := p.reach(o)
		width = max(width, to-from)
	}
	return width
}

// first is the input block where packed weights start that are as wide for every output
// block.
func (p packing) first(outBlock, width int) int {
	from, _ := p.reach(outBlock)
	return min(from, p.inBlocks()-width)
}

// check reports what no convolution has.
func (p packing) check() error {
	if p.inBlock != 1 && p.inBlock != block {
		return fmt.Errorf("input blocks of %d", p.inBlock)
	}
	return p.checkGroups()
}

// checkGroups reports groups that do not divide the channels.
func (p packing) checkGroups() error {
	if p.inC < 1 || p.outC < 1 || p.group < 1 || p.inC%p.group != 0 || p.outC%p.group != 0 {
		return fmt.Errorf("%d to %d channels in %d groups", p.inC, p.outC, p.group)
	}
	return nil
}

// packed returns the type of packed weights.
func (p packing) packed(kh, kw int) ir.Type {
	return ir.StaticTensor(ir.F32, p.outBlocks(), p.width(), kh, kw, p.inBlock, block)
}

// Infer gives the packed type; the weights' extents have to be constants.
func (op PackConv) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	p, kh, kw, err := op.packing(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{p.packed(kh, kw)}, nil
}

func (op PackConv) packing(w ir.Type) (p packing, kh, kw int, err error) {
	shape, ok := w.Static()
	if !ok || w.DType != ir.F32 || len(shape) != 3 && len(shape) != 4 {
		return p, 0, 0, fmt.Errorf("weights %s", w)
	}
	kh, kw = 1, shape[len(shape)-1]
	if len(shape) == 4 {
		kh = shape[2]
	}
	p = packing{shape[1] * op.Group, shape[0], op.Group, op.InBlock}
	return p, kh, kw, p.check()
}

// Eval moves the elements.
func (op PackConv) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[0]
	p, kh, kw, err := op.packing(w.Type())
	if err != nil {
		return nil, err
	}
	shape, _ := p.packed(kh, kw).Static()
	y := ir.NewTensor(ir.F32, shape...)
	width, kernel, ins := p.width(), kh*kw, p.inC/p.group
	for i := range w.Len() {
		o, c, k := i/kernel/ins, i/kernel%ins, i%kernel
		from, _ := p.reach(o / block)
		c += o/(p.outC/p.group)*ins - from*p.inBlock
		to := ((o/block*width+c/p.inBlock)*kernel+k)*p.inBlock + c%p.inBlock
		y.Copy(to*block+o%block, w, i)
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.PackConv.
func (op PackConv) Call(n *ir.Node) (ir.Call, error) {
	p, kh, kw, err := op.packing(n.Arg(0).Type)
	if err != nil {
		return ir.Call{}, err
	}
	return ir.Call{Kernel: "PackConv", Args: []any{ir.Out(0), ir.In(0), p.weights(kh, kw)}}, nil
}

// weights is the cpu.ConvShape of what packing weights of a kernel depends on.
func (p packing) weights(kh, kw int) ir.Struct {
	return ir.Struct{Type: "ConvShape", Fields: []ir.Field{
		{Name: "InC", Value: p.inC},
		{Name: "InBlock", Value: p.inBlock},
		{Name: "OutC", Value: p.outC},
		{Name: "KH", Value: kh},
		{Name: "KW", Value: kw},
		{Name: "Group", Value: p.group},
	}}
}
