package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ConvWeightsBlocked is an [op.ConvWeights] with one group over one or two spatial axes of channel-blocked x,
// f32[N,⌈InC/16⌉,spatial…,16], and g, f32[N,⌈OutC/16⌉,spatial…,16]. The result is f32[OutC,InC,kernel…].
type ConvWeightsBlocked struct {
	op.Window
	InC, OutC int
}

// Infer returns f32[OutC,InC,kernel…].
func (o ConvWeightsBlocked) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, g, n := in[0], in[1], len(o.Kernel)
	if o.InC < 1 || o.OutC < 1 || x.Rank() != 3+n {
		return nil, fmt.Errorf("%s of %d and %d channels for a kernel %v", x, o.InC, o.OutC, o.Kernel)
	}
	spatial, err := o.Over(x)
	if err != nil {
		return nil, err
	}
	if want := op.BlockedType(x.Shape[0], dim.Const(o.InC), x.Shape[2:2+n]); !x.Equal(want) {
		return nil, fmt.Errorf("operand %s, %s expected", x, want)
	}
	if want := op.BlockedType(x.Shape[0], dim.Const(o.OutC), spatial); !g.Equal(want) {
		return nil, fmt.Errorf("gradient %s, %s expected", g, want)
	}
	return []ir.Type{ir.StaticTensor(ir.F32, append([]int{o.OutC, o.InC}, o.Kernel...)...)}, nil
}

// Eval computes the gradient of the weights, with sums in float64.
func (o ConvWeightsBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	planar := make([]*ir.Tensor, 2)
	for i, c := range []int{o.InC, o.OutC} {
		out, err := Unblock{C: c}.Eval(in[i : i+1])
		if err != nil {
			return nil, err
		}
		planar[i] = out[0]
	}
	if _, err := op.InferOf(o, in); err != nil {
		return nil, err
	}
	return op.ConvWeights{Window: o.Window, Group: 1}.Eval(planar)
}

// Flops counts two operations for each product.
func (o ConvWeightsBlocked) Flops(in, out []ir.Type) dim.Dim {
	return in[1].Elems().Mul(dim.Const(o.InC * op.LenOf(o.Kernel))).Mul(dim.Const(2))
}
