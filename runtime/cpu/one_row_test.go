package cpu

import (
	"testing"
	"unsafe"
)

// The garbage collector takes a pointer past the end of large memory for a mistake.
func TestPointersOfOneRowStayInside(t *testing.T) {
	for _, l := range Levels() {
		for _, columns := range []int{1, 16, 17, 64, 72, 80, 160} {
			defer SetLevel(l)()
			const depth = callBytes/64/8 + 1
			a, b := make([]float32, depth), make([]float32, PanelsLen(depth, columns))
			c, residual := make([]float32, columns), make([]float32, columns)
			bias := make([]float32, (columns+15)/16*16)
			row := oneRow{a: start(a), b: unsafe.Pointer(&b[0]), c: start(c), bias: start(bias), residual: start(residual), depth: depth, panelB: 64 * depth}
			row.run(columns)
			inside := func(what string, p unsafe.Pointer, s []float32) {
				if at := uintptr(p) - uintptr(unsafe.Pointer(&s[0])); at >= uintptr(4*len(s)) {
					t.Errorf("%v, %d columns: %s ends at byte %d of %d", l, columns, what, at, 4*len(s))
				}
			}
			inside("b", row.b, b)
			inside("bias", row.bias, bias)
			if columns%16 == 0 {
				inside("c", row.c, c)
				inside("residual", row.residual, residual)
			}
		}
	}
}
