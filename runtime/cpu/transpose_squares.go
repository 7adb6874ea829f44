//go:build (amd64 || arm64) && !noasm

package cpu

import "unsafe"

// Sizes of the blocks that squares are done in, so that their rows stay in near caches.
const (
	squareRows    = 512 // where the kernel goes down
	squareColumns = 64  // where it goes across
)

// transposeSquares does the squares of 8×8, and strips of them where there are fewer
// columns, and returns how many rows and columns they make up: all, but for strips.
func transposeSquares[T any](dst, src []T, rows, columns, ldd, lds int) (r, c int) {
	size := int(unsafe.Sizeof(*new(T)))
	if level == Generic || rows < 8 || !hasSquares(dst) {
		return 0, 0
	}
	t := transposition{size: size, to: unsafe.Pointer(unsafe.SliceData(dst)), from: unsafe.Pointer(unsafe.SliceData(src)), ldd: ldd, lds: lds}
	switch {
	case columns < 8:
		// A strip reads eight columns.
		n := 0
		if lds > 0 && len(src) >= 7*lds+8 {
			n = t.strips(min(rows/8, (len(src)-8-7*lds)/(8*lds)+1), columns)
		}
		return 8 * n, columns
	case rows > columns:
		for first := 0; first < rows; first += squareRows {
			high := min(squareRows, rows-first)
			for j := 0; j < columns; j += 8 {
				t.line(first, min(j, columns-8), high/8, 8, 0)
				if high%8 != 0 {
					t.line(rows-8, min(j, columns-8), 1, 0, 0)
				}
			}
		}
	default:
		for first := 0; first < columns; first += squareColumns {
			wide := min(squareColumns, columns-first)
			for i := 0; i < rows; i += 8 {
				t.line(min(i, rows-8), first, wide/8, 0, 8)
				if wide%8 != 0 {
					t.line(min(i, rows-8), columns-8, 1, 0, 0)
				}
			}
		}
	}
	return rows, columns
}

// transposition is one under way, of elements of a size in bytes.
type transposition struct {
	size     int
	to, from unsafe.Pointer
	ldd, lds int
}

// line does n squares from row i and column j on, each so many rows or columns after the
// one before.
func (t *transposition) line(i, j, n, rows, columns int) {
	if n > 0 {
		transposeLine(t.size, unsafe.Add(t.to, t.size*(j*t.ldd+i)), unsafe.Add(t.from, t.size*(i*t.lds+j)),
			t.size*t.ldd, t.size*t.lds, t.size*(columns*t.ldd+rows), t.size*(rows*t.lds+columns), n)
	}
}
