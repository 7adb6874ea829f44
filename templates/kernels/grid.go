package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// maxBlocks is the largest number of blocks that a grid has along each dimension. Every device
// supports this number. Tests change it.
var maxBlocks = 32768

// Grid returns the [Launch] of a kernel that computes work items, numbered along at most three
// dimensions. A block of threads computes an item. `fill` may declare shared memory, and returns
// the function `item`. All threads of a block call item, which computes the item with index at[k]
// in dimension k. If there may be more than maxBlocks items along a dimension, a block computes
// several items, one after the other. An item that uses shared memory must therefore end with a
// barrier.
func Grid(name string, items []dim.Dim, block []int, fill func(e *Emitter) (item func(at []*kernel.Value))) (Launch, error) {
	blocks := make([]dim.Dim, len(items))
	for k, n := range items {
		if blocks[k] = n; mayExceed(n, maxBlocks) {
			blocks[k] = n.Min(dim.Const(maxBlocks))
		}
	}
	return New(name, blocks, block, func(e *Emitter) {
		item, at := fill(e), make([]*kernel.Value, len(items))
		var walk func(k int)
		walk = func(k int) {
			switch {
			case k < 0:
				item(at)
			case items[k].Equal(dim.Const(1)):
				at[k] = e.Int(0)
				walk(k - 1)
			case blocks[k].Equal(items[k]):
				at[k] = e.BlockIdx(k)
				walk(k - 1)
			default:
				e.For(e.BlockIdx(k), e.Dim(items[k]), e.Int(maxBlocks), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
					at[k] = i
					walk(k - 1)
					return nil
				})
			}
		}
		walk(len(items) - 1)
	})
}

func mayExceed(d dim.Dim, limit int) bool {
	_, hi := d.Bounds()
	return hi > int64(limit)
}
