package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// enoughBlocks is a number of blocks that keeps all processors of a large device busy: H100 and H200 have 132, and run
// two blocks at a time on each.
const enoughBlocks = 264

// leastSteps is the number of steps from which on a block is worth its start.
const leastSteps = 2

// splitsOf returns in how many parts the terms of sums are divided, each part with blocks of its own. There
// are `blocks` blocks without a division, and `steps` steps of terms. Sums are divided if the blocks are too few for
// a large device.
func splitsOf(blocks dim.Dim, steps int) dim.Dim {
	one := dim.Const(1)
	return dim.Const(enoughBlocks).FloorDiv(blocks.Max(one)).Min(dim.Const(max(1, steps/leastSteps))).Max(one)
}

// splitMemory returns memory for the parts of sums that are divided as [splitsOf] says: `sums` for each block.
func splitMemory(blocks, splits dim.Dim, sums int) *Scratch {
	n := dim.Const(enoughBlocks)
	if all := blocks.Mul(splits); all.IsConst() {
		n = all
	}
	return &Scratch{DType: ir.F32, Shape: []dim.Dim{n, dim.Const(sums)}}
}
