package storage

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestProductsOfIntegers asserts which operators compute products of bytes, with the zero points of
// all types of bytes: weights that are constant are packed before, others during the product.
func TestProductsOfIntegers(t *testing.T) {
	for _, left := range []ir.DType{ir.I8, ir.U8} {
		for _, right := range []ir.DType{ir.I8, ir.U8} {
			a, w := left.String(), numbered(ir.StaticTensor(right, 10, 20))
			zeros := []any{ir.Scalar(left, 3), ir.Scalar(right, 5)}
			checkLower(t, op.MatMulInteger{}, "product_integer", a+"[2,3,10]", w)
			checkLower(t, op.MatMulInteger{}, "product_integer", append([]any{a + "[2,3,10]", w}, zeros...)...)
			checkLower(t, op.MatMulInteger{}, "product_columns", append([]any{a + "[2,3,10]", right.String() + "[2,10,20]"}, zeros...)...)
			checkLower(t, op.MatMulInteger{}, "product_columns", a+"[3,10]", right.String()+"[10,20]")
		}
	}
}

// TestConvolutionsOfPatches asserts that convolutions of bytes are products of patches and the
// weights of each group, except for depthwise ones.
func TestConvolutionsOfPatches(t *testing.T) {
	conv := func(group int) op.ConvInteger {
		return op.ConvInteger{Window: op.Window{Kernel: []int{3, 2}, Strides: []int{1, 2}, Pads: []int{1, 0, 1, 1}}, Group: group}
	}
	for _, d := range []ir.DType{ir.I8, ir.U8} {
		zeros := []any{ir.Scalar(d, 3), ir.Scalar(ir.U8, 5)}
		for _, group := range []int{1, 2} {
			w := numbered(ir.StaticTensor(ir.U8, 6, 4/group, 3, 2))
			checkLower(t, conv(group), "patches", append([]any{d.String() + "[2,4,5,6]", w}, zeros...)...)
			checkLower(t, conv(group), "patches", d.String()+"[2,4,5,6]", w)
		}
	}
	checkLower(t, conv(4), "", "u8[2,4,5,6]", "i8[4,1,3,2]")
}
