package cpu_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

// Quantize and Dequantize by many scales are those by one scale for each element.
func TestQuantizeByManyScales(t *testing.T) {
	const outer, n = 2, 5
	for _, inner := range []int{1, 3} {
		for _, block := range []int{0, 2, 5} {
			for _, zeros := range []bool{false, true} {
				t.Run(fmt.Sprintf("inner %d, block %d, zeros %v", inner, block, zeros), func(t *testing.T) {
					count, blocks := n, n
					if block > 0 {
						blocks = (n + block - 1) / block
						count = outer * blocks * inner
					}
					scale := kerneltest.NewRandom(1).Input(count, 0).Data
					scale = slices.Clone(scale)
					zero := make([]int8, count)
					for i := range scale {
						scale[i] = 0.01 + scale[i]*scale[i]
						if zeros {
							zero[i] = int8(i*7 - 30)
						}
					}
					passed := zero
					if !zeros {
						passed = nil
					}
					x := kerneltest.NewRandom(2).Input(outer*n*inner, 0).Data
					got, want := make([]int8, len(x)), make([]int8, len(x))
					back, wantBack := make([]float32, len(x)), make([]float32, len(x))
					cpu.Quantize(got, x, scale, passed, outer, n, inner, block, -100, 90)
					cpu.Dequantize(back, got, scale, passed, outer, n, inner, block)
					for i := range x {
						k := i / inner % n
						if block > 0 {
							k = (i/inner/n*blocks+i/inner%n/block)*inner + i%inner
						}
						cpu.QuantizeScalar(want[i:i+1], x[i:i+1], scale[k], int(zero[k]), -100, 90)
						cpu.DequantizeScalar(wantBack[i:i+1], want[i:i+1], scale[k], int(zero[k]))
						if got[i] != want[i] || back[i] != wantBack[i] {
							t.Fatalf("element %d is %d and %v, want %d and %v", i, got[i], back[i], want[i], wantBack[i])
						}
					}
				})
			}
		}
	}
}
