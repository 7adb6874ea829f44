//go:build (amd64 || arm64) && !noasm

package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

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
	t := transposition{size: size, to: unsafe.Pointer(unsafe.SliceData(dst)), from: unsafe.Pointer(unsafe.SliceData(src)), rows: rows, columns: columns, ldd: ldd, lds: lds}
	if columns < 8 {
		// A strip reads eight columns.
		n := 0
		if lds > 0 && len(src) >= 7*lds+8 {
			n = t.strips(min(rows/8, (len(src)-8-7*lds)/(8*lds)+1), columns)
		}
		return 8 * n, columns
	}
	if bytes := size * rows * columns; bytes >= 4*sharedFrom {
		shared := t
		shared.to, shared.from = unsafe.Pointer(unsafe.SliceData(onHeap(dst))), unsafe.Pointer(unsafe.SliceData(onHeap(src)))
		if transpositions.run(&shared, rt.Parts(int64(bytes)/16)) {
			return rows, columns
		}
	}
	t.Part(0, 1)
	return rows, columns
}

// transposition is one under way, of elements of a size in bytes.
type transposition struct {
	size     int
	to, from unsafe.Pointer
	rows     int
	columns  int
	ldd, lds int
}

var transpositions slot[transposition, *transposition]

// Part does the i-th of parts shares of the longer axis. What squares leave at the end of
// an axis is done by one that overlaps with the last.
func (t *transposition) Part(i, parts int) {
	from, to := portion(max(t.rows, t.columns)/8, i, parts)
	from, to = 8*from, 8*to
	if i == parts-1 {
		to = max(t.rows, t.columns)
	}
	if t.rows > t.columns {
		for first := from; first < to; first += squareRows {
			high := min(squareRows, to-first)
			for j := 0; j < t.columns; j += 8 {
				t.line(first, min(j, t.columns-8), high/8, 8, 0)
				if high%8 != 0 {
					t.line(t.rows-8, min(j, t.columns-8), 1, 0, 0)
				}
			}
		}
		return
	}
	for first := from; first < to; first += squareColumns {
		wide := min(squareColumns, to-first)
		for i := 0; i < t.rows; i += 8 {
			t.line(min(i, t.rows-8), first, wide/8, 0, 8)
			if wide%8 != 0 {
				t.line(min(i, t.rows-8), t.columns-8, 1, 0, 0)
			}
		}
	}
}

// line does n squares from row i and column j on, each so many rows or columns after the
// one before.
func (t *transposition) line(i, j, n, rows, columns int) {
	if n > 0 {
		transposeLine(t.size, unsafe.Add(t.to, t.size*(j*t.ldd+i)), unsafe.Add(t.from, t.size*(i*t.lds+j)),
			t.size*t.ldd, t.size*t.lds, t.size*(columns*t.ldd+rows), t.size*(rows*t.lds+columns), n)
	}
}
