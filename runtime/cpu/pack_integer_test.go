package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestIntegersArePacked(t *testing.T) {
	for _, s := range [][3]int{
		{1, 4, 64}, {2, 9, 130}, {1, 3, 64}, {3, 4, 16}, {1, 31, 47}, {1, 64, 32}, {2, 33, 96}, {1, 65, 15},
		{1, 16400, 65}, {1, 1, 1}, {2, 0, 17}, {2, 5, 0}, {0, 4, 16}, {1, 130, 208},
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			atLevels(t, func(t *testing.T) {
				testPacking[int8](t, s[0], s[1], s[2])
				testPacking[uint8](t, s[0], s[1], s[2])
			})
		})
	}
}

func testPacking[S Byte](t *testing.T, batch, k, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(k), uint64(n)))
	src, v := drawBytes[S](r, batch*k*n)
	groups, panels := ceil(k, 4), ceil(n, 16)
	dst, check := guarded[int8](batch*panels*groups*64, 85)
	sums, checkSums := guarded[int32](batch*n, 85)
	PackColumns(dst, sums, src, batch, k, n)
	check(t)
	checkSums(t)
	move := int32(int8(flip[int8, S]()))
	for b := range batch {
		for j := range 16 * panels {
			sum := int32(0)
			for i := range 4 * groups {
				want := int32(0)
				if i < k && j < n {
					want = v[(b*k+i)*n+j] + move
					sum += want
				}
				if got := dst[(((b*panels+j/16)*groups+i/4)*16+j%16)*4+i%4]; int32(got) != want {
					t.Fatalf("%T: row %d, column %d of %d is %d, want %d", src, i, j, b, got, want)
				}
			}
			if j < n && sums[b*n+j] != sum {
				t.Fatalf("%T: the sum of column %d of %d is %d, want %d", src, j, b, sums[b*n+j], sum)
			}
		}
	}

	// The same numbers as rows of n.
	width := ceil(n, 4) * 4
	rows, check8 := guarded[uint8](batch*k*width, 85)
	sums, checkSums = guarded[int32](batch*k, 85)
	PackRows(rows, sums, src, batch, k, n)
	check8(t)
	checkSums(t)
	move = int32(flip[uint8, S]())
	for i := range batch * k {
		sum := int32(0)
		for j := range width {
			want := int32(0)
			if j < n {
				want = v[i*n+j] + move
				sum += want
			}
			if got := rows[i*width+j]; int32(got) != want {
				t.Fatalf("%T: element %d of row %d is %d, want %d", src, j, i, got, want)
			}
		}
		if sums[i] != sum {
			t.Fatalf("%T: the sum of row %d is %d, want %d", src, i, sums[i], sum)
		}
	}
}
