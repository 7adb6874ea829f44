package cpu

import (
	"fmt"
	"testing"
	"unsafe"
)

// A pointer that has gone behind the last element would be one into another object, or
// into memory that the garbage collector knows to be free.
func TestOneRowPointersStayInside(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, columns := range []int{1, 16, 17, 64, 80, 95} {
			t.Run(fmt.Sprint(columns), func(t *testing.T) {
				const depth = 3
				width := 16 * ceil(columns, 16)
				a, b, bias := random(depth, 1), random(depth*width, 2), random(width, 3)
				c, residual := make([]float32, columns), random(columns, 4)
				row := oneRow{a: start(a), b: start(b), c: start(c), bias: start(bias), residual: start(residual), depth: depth, panelB: 64 * depth}
				row.run(columns)
				for name, x := range map[string]struct {
					at unsafe.Pointer
					of []float32
				}{"a": {row.a, a}, "b": {row.b, b}, "bias": {row.bias, bias}} {
					if first := uintptr(start(x.of)); uintptr(x.at) < first || uintptr(x.at) >= first+4*uintptr(len(x.of)) {
						t.Errorf("%s is %d bytes from the first of %d elements", name, int(uintptr(x.at)-first), len(x.of))
					}
				}
				if columns%16 == 0 && uintptr(row.c) >= uintptr(start(c))+4*uintptr(columns) {
					t.Errorf("the result is %d bytes from the first of %d elements", uintptr(row.c)-uintptr(start(c)), columns)
				}
				for j, got := range c {
					want := float64(bias[j]) + float64(residual[j])
					for k, x := range a {
						want += float64(x) * float64(b[j/16*16*depth+16*k+j%16])
					}
					if d := float64(got) - want; d > 1e-5 || d < -1e-5 {
						t.Errorf("column %d is %v, want %v", j, got, want)
					}
				}
			})
		}
	})
}
