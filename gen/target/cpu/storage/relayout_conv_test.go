package storage

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestConvolutionsOfBlocks asserts which operator convolves blocks, and that planar operands of few
// channels stay planar.
func TestConvolutionsOfBlocks(t *testing.T) {
	conv := func(group int, kernel ...int) op.Conv {
		return op.Conv{Window: op.Window{Kernel: kernel, Pads: []int{1, 1, 0, 1}}, Group: group}
	}
	three := conv(1, 3, 3)
	line := op.Conv{Window: op.Window{Kernel: []int{3}, Strides: []int{2}, Pads: []int{1, 0}}, Group: 1}
	for _, r := range []replaced{
		{three, []any{"f32[2,20,5,6]", "f32[18,20,3,3]", "f32[18]"}, blocks{}, "conv_blocked"},
		{three, []any{"f32[2,20,5,6]", "f32[18,20,3,3]", "f32[18]"}, blocks{tile: 2}, "winograd_blocked"},
		{three, []any{"f32[2,20,5,6]", "f32[18,20,3,3]"}, blocks{tile: 4}, "winograd_blocked"},
		{three, []any{"f32[2,3,5,6]", "f32[18,3,3,3]"}, blocks{tile: 4, planar: true}, "conv_blocked"},
		{conv(1, 3, 2), []any{"f32[2,20,5,6]", "f32[18,20,3,2]"}, blocks{tile: 4}, "conv_blocked"},
		{conv(4, 3, 3), []any{"f32[2,20,5,6]", "f32[8,5,3,3]"}, blocks{}, "conv_blocked"},
		{conv(2, 3, 3), []any{"f32[2,32,5,6]", "f32[32,16,3,3]"}, blocks{tile: 2}, "winograd_blocked"},
		{conv(20, 3, 3), []any{"f32[2,20,5,6]", "f32[20,1,3,3]", "f32[20]"}, blocks{planar: true}, "depthwise_blocked"},
		{line, []any{"f32[2,20,7]", "f32[18,20,3]", "f32[18]"}, blocks{}, "conv_blocked"},
		{line, []any{"f64[2,20,7]", "f64[18,20,3]"}, blocks{}, ""},
	} {
		r.check(t)
	}
}

// TestGradientsOfConvolutionsOfBlocks asserts that gradients of convolutions with one group are
// computed on blocks.
func TestGradientsOfConvolutionsOfBlocks(t *testing.T) {
	w := op.Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}}
	data := op.ConvData{Window: w, Spatial: dim.Consts(5, 6)}
	for _, r := range []replaced{
		{data, []any{"f32[2,18,5,6]", "f32[18,20,3,3]"}, blocks{planar: true}, "conv_data_blocked"},
		{op.ConvWeights{Window: w, Group: 1}, []any{"f32[2,20,5,6]", "f32[2,18,5,6]"}, blocks{}, "conv_weights_blocked"},
		{op.ConvWeights{Window: w, Group: 1}, []any{"f32[2,3,5,6]", "f32[2,18,5,6]"}, blocks{planar: true}, ""},
		{op.ConvWeights{Window: w, Group: 2}, []any{"f32[2,20,5,6]", "f32[2,18,5,6]"}, blocks{}, ""},
	} {
		r.check(t)
	}
}
