package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// These are the sizes of the blocks in which squares are transposed. The rows of a block stay in
// near caches.
const (
	squareRows    = 512 // rows of a block, if the kernel goes down
	squareColumns = 64  // columns of a block, if the kernel goes across
)

// transposeSquares transposes squares of 8×8 elements. If there are fewer than 8 columns, it
// transposes strips of 8 rows instead. It returns r and c: the first r rows of the first c columns
// are transposed.
func transposeSquares[T any](dst, src []T, rows, columns, ldd, lds int) (r, c int) {
	size := int(unsafe.Sizeof(*new(T)))
	if level < AVX2 || rows < 8 || !hasSquares(dst) {
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

type transposition struct {
	size     int // bytes of an element
	to, from unsafe.Pointer
	rows     int
	columns  int
	ldd, lds int
}

var transpositions slot[transposition, *transposition]

// Part implements [rt.Task]. It transposes part i of `parts` of the longer axis. If the length of an
// axis is not a multiple of 8, the last square of the axis overlaps the one before.
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

// line transposes n squares. The first square begins at row i and column j. The next square is `rows`
// rows and `columns` columns after it, and so on.
func (t *transposition) line(i, j, n, rows, columns int) {
	if n > 0 {
		transposeLine(t.size, unsafe.Add(t.to, t.size*(j*t.ldd+i)), unsafe.Add(t.from, t.size*(i*t.lds+j)),
			t.size*t.ldd, t.size*t.lds, t.size*(columns*t.ldd+rows), t.size*(rows*t.lds+columns), n)
	}
}

// hasSquares reports whether there are kernels for squares of elements of type T. For elements of 8
// bytes, T must be a number, because memory with pointers cannot be copied by assembly. NEON has
// kernels for elements of 4 bytes only.
func hasSquares[T any](s []T) bool {
	switch unsafe.Sizeof(*new(T)) {
	case 4:
		return true
	case 1, 2:
		return level != NEON
	case 8:
		switch any(s).(type) {
		case []int64, []uint64, []float64:
			return level != NEON
		}
	}
	return false
}

// stripsPerCall is the largest number of strips that one call of assembly transposes.
const stripsPerCall = 4096

// strips transposes n strips of 8 rows and `columns` columns, which follow each other downwards. It
// returns n, or 0 if there is no kernel for strips.
func (t *transposition) strips(n, columns int) int {
	if level == NEON {
		return 0
	}
	down := t.size * 8 * t.lds
	for done := 0; done < n; done += stripsPerCall {
		to, from := unsafe.Add(t.to, t.size*8*done), unsafe.Add(t.from, down*done)
		transposeStrips(t.size, to, from, t.size*t.ldd, t.size*t.lds, t.size*8, down, min(stripsPerCall, n-done), columns)
	}
	return n
}
