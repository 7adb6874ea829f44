package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// enoughBlocks is a number of blocks that keeps all processors of a large device busy. An H100 and an H200 have 132
// processors, and each can run two blocks at a time.
const enoughBlocks = 264

// leastSteps is the least number of steps of a part. A part with fewer steps is not worth starting a block for.
const leastSteps = 2

// splitsOf returns the number of parts into which the terms of sums are divided. Different blocks sum the parts.
// Without a division, there would be `blocks` blocks of `steps` steps each. If this number of blocks is enough for a
// large device, the result is 1.
func splitsOf(blocks dim.Dim, steps int) dim.Dim {
	one := dim.Const(1)
	return dim.Const(enoughBlocks).FloorDiv(blocks.Max(one)).Min(dim.Const(max(1, steps/leastSteps))).Max(one)
}

// splitMemory returns scratch memory for the sums of all parts. blocks and splits are the argument and the result of
// [splitsOf]. A block has `sums` sums.
func splitMemory(blocks, splits dim.Dim, sums int) *Scratch {
	n := dim.Const(enoughBlocks)
	if all := blocks.Mul(splits); all.IsConst() {
		n = all
	}
	return &Scratch{DType: ir.F32, Shape: []dim.Dim{n, dim.Const(sums)}}
}
