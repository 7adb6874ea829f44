//go:build simd128

package cpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// Products are rounded at both levels, and their sums have one order, so the bits are equal.
func TestProductBits(t *testing.T) {
	t.Run(cpu.SIMD128.String(), func(t *testing.T) {
		for _, rows := range []int{1, 2, 3, 5, 8} {
			for _, terms := range []int{1, 3, 4, 7, 64, 300} {
				for _, columns := range []int{1, 15, 16, 33} {
					t.Run(fmt.Sprint(rows, terms, columns), func(t *testing.T) { compareProducts(t, rows, terms, columns) })
				}
			}
		}
	})
}

func compareProducts(t *testing.T, rows, terms, columns int) {
	s := &cpu.MatMulShape{M: rows, N: columns, K: terms, LDA: terms, LDC: columns, Batch: 1}
	a, b := make([]float32, rows*terms), make([]float32, terms*columns)
	for i := range a {
		a[i] = float32(math.Sin(float64(i)))
	}
	for i := range b {
		b[i] = float32(math.Cos(float64(i)))
	}
	panels := make([]float32, cpu.PanelsLen(terms, columns))
	cpu.PackPanels(panels, b, terms, columns, columns, false, 1, 0)
	var results [2][]float32
	for i, level := range []cpu.Level{cpu.Generic, cpu.SIMD128} {
		restore := cpu.SetLevel(level)
		results[i] = make([]float32, rows*columns)
		cpu.MatMul(results[i], a, panels, s, &cpu.Epilogue{Clamp: true, Lo: -2, Hi: 3})
		restore()
	}
	for i, want := range results[0] {
		if got := results[1][i]; math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("element %d is %v, want %v", i, got, want)
		}
	}
}
