//go:build (amd64 || arm64) && !noasm

package cpu

import (
	"fmt"
	"testing"
	"unsafe"
)

// The shares of a transposition make up the whole, however many they are.
func TestTransposeInParts(t *testing.T) {
	for _, s := range [][2]int{{64, 100}, {100, 64}, {17, 600}, {600, 17}, {9, 9}, {8, 8}, {1200, 70}} {
		rows, columns := s[0], s[1]
		src := random(rows*columns, 1)
		for _, parts := range []int{1, 2, 3, 7} {
			t.Run(fmt.Sprint(s, parts), func(t *testing.T) {
				dst := make([]float32, rows*columns)
				task := transposition{
					size: 4, to: unsafe.Pointer(&dst[0]), from: unsafe.Pointer(&src[0]),
					rows: rows, columns: columns, ldd: rows, lds: columns,
				}
				for i := range parts {
					task.Part(i, parts)
				}
				for i, got := range dst {
					if want := src[i%rows*columns+i/rows]; got != want {
						t.Fatalf("element %d is %v, want %v", i, got, want)
					}
				}
			})
		}
	}
}
