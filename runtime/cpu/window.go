package cpu

// windowOp is what a window kernel does with the elements of a window.
type windowOp int

const (
	weightedSum windowOp = iota // Σ element·weight
	scaledSum                   // scale·Σ element
	largest                     // max element; after a NaN it starts again
)

// windowLimit is the level's largest number of rows of a window kernel's tile.
func windowLimit() int {
	rows, _ := tileLimits()
	return rows
}

// sweep covers rows×columns output pixels of one channel block, where the tile starts
// at the first of them and the next row is downA and downC away: row after row, so that
// memory is read in its order, or down where a tile is as wide as a row.
func (t *tile) sweep(op windowOp, rows int, columns rowSplit, downA, downC int) {
	if columns.tiles == 1 {
		t.nextA, t.nextC = downA, downC
		t.windows(op, columns.rows, rows)
		return
	}
	atA, atC := t.atA, t.atC
	for y := range rows {
		t.atA, t.atC = atA+y*downA, atC+y*downC
		for _, part := range [...]struct{ rows, count int }{{columns.rows + 1, columns.first}, {columns.rows, columns.tiles - columns.first}} {
			t.nextA, t.nextC = part.rows*t.rowA, part.rows*t.rowC
			t.windows(op, part.rows, part.count)
		}
	}
}

// windows is repeat for a window kernel.
func (t *tile) windows(op windowOp, rows, count int) {
	t.rows = rows
	most := count
	if work := t.n[0] * t.n[1] * t.n[2] * rows * 16; count*work > callWork {
		most = max(1, callWork/work)
	}
	for ; count > 0; count -= t.count {
		t.count = min(count, most)
		runWindow(t, op)
		t.atA += t.count * t.nextA
		t.atC += t.count * t.nextC
	}
}
