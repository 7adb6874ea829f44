package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PackConvData is the weights of a convolution of one group, f32[OutC,InC,KH,KW] or
// f32[OutC,InC,KW], as [ConvDataBlocked] reads them: f32[⌈InC/16⌉,⌈OutC/16⌉,KH,KW,16,16], of
// output channels by input channels, zeros for those that there are none of.
type PackConvData struct{}

// Infer gives the packed type; the weights' extents have to be constants.
func (op PackConvData) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	p, kh, kw, err := op.packing(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{packedData(p.inC, p.outC, kh, kw)}, nil
}

func (op PackConvData) packing(w ir.Type) (p packing, kh, kw int, err error) {
	if p, kh, kw, err = (PackConv{Group: 1, InBlock: block}).packing(w); err == nil && kh*kw < 1 {
		err = fmt.Errorf("weights %s", w)
	}
	return p, kh, kw, err
}

// Eval moves the elements.
func (op PackConvData) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	p, kh, kw, err := op.packing(in[0].Type())
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y, kernel := ir.NewTensor(ir.F32, shape...), kh*kw
	for i := range in[0].Len() {
		o, c, k := i/kernel/p.inC, i/kernel%p.inC, i%kernel
		to := (c/block*p.outBlocks()+o/block)*kernel + k
		y.Copy((to*block+o%block)*block+c%block, in[0], i)
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.PackConvData.
func (op PackConvData) Call(n *ir.Node) (ir.Call, error) {
	p, kh, kw, err := op.packing(n.Arg(0).Type)
	if err != nil {
		return ir.Call{}, err
	}
	return ir.Call{Kernel: "PackConvData", Args: []any{ir.Out(0), ir.In(0), p.weights(kh, kw)}}, nil
}
