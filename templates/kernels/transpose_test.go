package kernels

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestTranspose exchanges two axes of tensors whose extents tiles divide and others, with elements of one to four bytes.
func TestTranspose(t *testing.T) {
	for _, shape := range [][]int{{1, 32, 64}, {1, 64, 128}, {2, 33, 40}, {1, 100, 70}, {3, 128, 36}} {
		for _, symbolic := range []bool{false, true} {
			t.Run(fmt.Sprint(shape, symbolic), func(t *testing.T) {
				limits(t, func(t *testing.T) {
					exchangeAxes[int32](t, ir.I32, shape, symbolic)
					exchangeAxes[int16](t, ir.I16, shape, symbolic)
					exchangeAxes[uint8](t, ir.U8, shape, symbolic)
				})
			})
		}
	}
}

func exchangeAxes[T int32 | int16 | uint8](t *testing.T, d ir.DType, shape []int, symbolic bool) {
	dims, symbols := extentsOf(symbolic, shape...)
	x, y := &ir.Value{Type: ir.TensorOf(d, dims...)}, &ir.Value{Type: ir.TensorOf(d, dims[0], dims[2], dims[1])}
	strides := []dim.Dim{dims[1].Mul(dims[2]), dim.Const(1), dims[2]}
	from, ok := TransposedAxis(y.Type.Shape, strides)
	if !ok || from != 1 {
		t.Fatalf("axis %d, %v", from, ok)
	}
	numbers, got := make([]T, shape[0]*shape[1]*shape[2]), make([]T, shape[0]*shape[1]*shape[2])
	for i := range numbers {
		numbers[i] = T(i*7 + i/100)
	}
	l, err := Transpose("transpose", x, y, strides, dim.Const(0), from)
	if err != nil {
		t.Fatal(err)
	}
	memory{x: kernel.Memory(numbers), y: kernel.Memory(got)}.run(t, symbols, l)
	for i, v := range got {
		k, j, r := i/(shape[1]*shape[2]), i/shape[1]%shape[2], i%shape[1]
		if want := numbers[(k*shape[1]+r)*shape[2]+j]; v != want {
			t.Fatalf("%s: element %d is %d, want %d\n%s", d, i, v, want, l.Kernel)
		}
	}
}
