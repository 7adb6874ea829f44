package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvWeightsBlocked is a [ConvWeights] of one group over one or two spatial axes, of
// channel-blocked x, f32[N,⌈InC/16⌉,spatial…,16], and g, f32[N,⌈OutC/16⌉,spatial…,16]. The
// result is f32[OutC,InC,kernel…].
type ConvWeightsBlocked struct {
	Window
	InC, OutC int
}

// Infer gives the type of the weights.
func (op ConvWeightsBlocked) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, g, n := in[0], in[1], len(op.Kernel)
	if op.InC < 1 || op.OutC < 1 || x.Rank() != 3+n {
		return nil, fmt.Errorf("%s of %d and %d channels for a kernel %v", x, op.InC, op.OutC, op.Kernel)
	}
	spatial, err := op.over(x)
	if err != nil {
		return nil, err
	}
	if want := blockedType(x.Shape[0], ir.Const(op.InC), x.Shape[2:2+n]); !x.Equal(want) {
		return nil, fmt.Errorf("operand %s, %s expected", x, want)
	}
	if want := blockedType(x.Shape[0], ir.Const(op.OutC), spatial); !g.Equal(want) {
		return nil, fmt.Errorf("gradient %s, %s expected", g, want)
	}
	return []ir.Type{ir.StaticTensor(ir.F32, append([]int{op.OutC, op.InC}, op.Kernel...)...)}, nil
}

// Eval sums in float64.
func (op ConvWeightsBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	planar := make([]*ir.Tensor, 2)
	for i, c := range []int{op.InC, op.OutC} {
		out, err := Unblock{C: c}.Eval(in[i : i+1])
		if err != nil {
			return nil, err
		}
		planar[i] = out[0]
	}
	if _, err := inferOf(op, in); err != nil {
		return nil, err
	}
	return ConvWeights{Window: op.Window, Group: 1}.Eval(planar)
}

// Flops counts two operations for each product.
func (op ConvWeightsBlocked) Flops(in, out []ir.Type) ir.Dim {
	return in[1].Elems().Mul(ir.Const(op.InC * lenOf(op.Kernel))).Mul(ir.Const(2))
}

// Call is cpu.ConvWeightsBlocked.
func (op ConvWeightsBlocked) Call(n *ir.Node) (ir.Call, error) {
	x, g := n.Arg(0).Type, n.Arg(1).Type
	room := ir.Const(weightParts * blockedRoom * lenOf(op.Kernel))
	scratch := ir.Scratch{DType: ir.F32, Len: x.Elems().Add(g.Elems()).Add(room)}
	shape := op.convShapeOf(x.Shape, g.Shape, packing{op.InC, op.OutC, 1, block})
	return ir.Call{Kernel: "ConvWeightsBlocked", Args: []any{ir.Out(0), ir.In(0), ir.In(1), scratch, shape}}, nil
}

// blockedRoom is cpu.ConvWeightsBlockedRoom of one tap.
const blockedRoom = 14 * 2 * block
