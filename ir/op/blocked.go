package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BlockLanes is the number of channels in a block of the channel-blocked layout,
// [N,⌈C/16⌉,spatial…,16]. If C is not a multiple of 16, the rest of the last block is padding.
const BlockLanes = 16

const block = BlockLanes

// BlockedType returns the type f32[n,⌈c/16⌉,spatial…,16] of a channel-blocked tensor.
func BlockedType(n, c dim.Dim, spatial []dim.Dim) ir.Type {
	shape := append([]dim.Dim{n, c.CeilDiv(dim.Const(block))}, spatial...)
	return ir.TensorOf(ir.F32, append(shape, dim.Const(block))...)
}

// SpatialEnd returns the index after the last spatial axis of x. x is [N,C,spatial…], or f32[N,⌈C/16⌉,spatial…,16]
// if blocked is true. SpatialEnd returns an error if x does not have this form.
func SpatialEnd(x ir.Type, blocked bool) (int, error) {
	if !blocked {
		if x.Rank() < 2 {
			return 0, fmt.Errorf("%s has no batch and channels", x)
		}
		return x.Rank(), nil
	}
	if x.Rank() < 3 || x.DType != ir.F32 || !x.Shape[x.Rank()-1].Equal(dim.Const(block)) {
		return 0, fmt.Errorf("%s is not channel-blocked", x)
	}
	return x.Rank() - 1, nil
}
