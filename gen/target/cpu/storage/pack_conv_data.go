package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// PackConvData packs the weights of a convolution with one group, f32[OutC,InC,KH,KW] or
// f32[OutC,InC,KW], for [ConvDataBlocked]: f32[⌈InC/16⌉,⌈OutC/16⌉,KH,KW,16,16]. The last two axes
// are an output and an input channel within a block. Missing channels are zero.
type PackConvData struct{}

// Infer returns the packed type. The weights' extents must be constants.
func (o PackConvData) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	p, kh, kw, err := o.Packing(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{packedData(p.InC, p.OutC, kh, kw)}, nil
}

// Packing returns how weights of type w are packed, and the height and width of their kernel. It
// returns an error if w cannot be packed.
func (o PackConvData) Packing(w ir.Type) (p Packing, kh, kw int, err error) {
	if p, kh, kw, err = (PackConv{Group: 1, InBlock: block}).Packing(w); err == nil && kh*kw < 1 {
		err = fmt.Errorf("weights %s", w)
	}
	return p, kh, kw, err
}

// Eval packs the weights and pads them with zeros.
func (o PackConvData) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	p, kh, kw, err := o.Packing(in[0].Type())
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y, kernel := ir.NewTensor(ir.F32, shape...), kh*kw
	for i := range in[0].Len() {
		o, c, k := i/kernel/p.InC, i/kernel%p.InC, i%kernel
		to := (c/block*p.outBlocks()+o/block)*kernel + k
		y.Copy((to*block+o%block)*block+c%block, in[0], i)
	}
	return []*ir.Tensor{y}, nil
}
