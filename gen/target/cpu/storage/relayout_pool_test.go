package storage

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestPoolsOfBlocks asserts that pools are computed on blocks: means only if the empty lanes are
// zero, and bytes even if they are planar yet.
func TestPoolsOfBlocks(t *testing.T) {
	w := op.Window{Kernel: []int{2, 3}, Strides: []int{2, 1}, Pads: []int{1, 0, 0, 1}}
	ceil := w
	ceil.Ceil = true
	for _, r := range []replaced{
		{op.MaxPool{Window: w}, []any{"f32[2,20,5,6]"}, blocks{lanes: true}, "max_pool"},
		{op.MaxPool{Window: w}, []any{"f32[2,20,5,6]"}, blocks{planar: true}, ""},
		{op.MaxPool{Window: w}, []any{"u8[2,20,5,6]"}, blocks{planar: true}, "max_pool_bytes"},
		{op.MaxPool{Window: w}, []any{"i8[2,20,5,6]"}, blocks{}, "max_pool_bytes"},
		{op.MaxPool{Window: ceil}, []any{"i8[2,20,5,6]"}, blocks{}, ""},
		{op.AveragePool{Window: w}, []any{"f32[2,20,5,6]"}, blocks{}, "average_pool"},
		{op.AveragePool{Window: w}, []any{"f32[2,20,5,6]"}, blocks{lanes: true}, ""},
		{op.GlobalAveragePool{}, []any{"f32[2,20,5,6]"}, blocks{}, "global_average_pool"},
		{op.GlobalAveragePool{}, []any{"f32[2,20,5,6]"}, blocks{lanes: true}, ""},
	} {
		r.check(t)
	}
}
