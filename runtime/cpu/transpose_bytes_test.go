package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBytesAreTransposed(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range [][2]int{
		{1, 1}, {8, 8}, {7, 9}, {16, 64}, {64, 16}, {16, 16}, {17, 70}, {70, 17}, {32, 128}, {128, 32}, {100, 200},
		{24, 56}, {600, 8}, {8, 600}, {16, 3136}, {3136, 16}, {5, 64}, {64, 5}, {0, 4}, {4, 0}, {80, 64}, {1100, 90},
	} {
		for _, more := range []int{0, 3} { // between rows
			t.Run(fmt.Sprint(s, more), func(t *testing.T) {
				atLevels(t, func(t *testing.T) {
					rows, columns := s[0], s[1]
					ldd, lds := rows+more, columns+more
					src, _ := drawBytes[uint8](r, rows*lds)
					before := slices.Clone(src)
					dst, check := guarded[uint8](columns*ldd, 85)
					transposeBytes(dst, src, rows, columns, ldd, lds, 0x80)
					check(t)
					if !slices.Equal(src, before) {
						t.Fatal("the operand is changed")
					}
					for i, v := range dst {
						want := byte(85)
						if i%ldd < rows {
							want = src[i%ldd*lds+i/ldd] ^ 0x80
						}
						if v != want {
							t.Fatalf("row %d of column %d is %d, want %d", i%ldd, i/ldd, v, want)
						}
					}
				})
			})
		}
	}
}
