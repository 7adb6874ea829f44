package cpu

type windowOp int

const (
	weightedSum windowOp = iota // Σ element·weight
	scaledSum                   // scale·Σ element
	largest                     // max element; restarts after a NaN
)

func windowLimit() int {
	rows, _ := tileLimits()
	return rows
}

// step is a distance from one tile to another. It holds the distance in bytes for each operand.
type step struct{ a, b, c, bias int }

func (s step) times(n int) step { return step{n * s.a, n * s.b, n * s.c, n * s.bias} }

// sweep runs the window kernel of op on high×wide pixels in each of several planes. t is at the first
// pixel of the first plane. A tile is a part of a row, or a part of a column if that needs fewer
// tiles. `down` is the distance between rows of pixels, and `plane` the distance between planes.
func (t *tile) sweep(op windowOp, planes, high, wide int, down, plane step) {
	limit := windowLimit()
	if ceil(wide, limit)*high > ceil(high, limit)*wide {
		high, wide = wide, high
		t.rowA, t.rowC, down.a, down.c = down.a, down.c, t.rowA, t.rowC
	}
	columns := split(wide, limit)
	if columns.tiles == 1 {
		t.windows(op, wide, high, planes, down, plane)
		return
	}
	for range planes {
		first := *t
		for _, part := range [...]struct{ rows, count int }{{columns.rows + 1, columns.first}, {columns.rows, columns.tiles - columns.first}} {
			at := *t
			across := step{a: part.rows * t.rowA, c: part.rows * t.rowC}
			t.windows(op, part.rows, part.count, high, across, down)
			*t = at
			t.move(across.times(part.count))
		}
		*t = first
		t.move(plane)
	}
}

func (t *tile) move(distances step) {
	t.atA += distances.a
	t.atB += distances.b
	t.atC += distances.c
	t.atBias += distances.bias
}

// windows runs the window kernel of op on several rounds of tiles, with `count` tiles in each
// round. `next` is the distance between the tiles of a round, and `round` the distance between
// rounds. windows makes several calls of the kernel if one call would take too long.
func (t *tile) windows(op windowOp, rows, count, rounds int, next, round step) {
	most := max(1, callWork/(t.n[0]*t.n[1]*t.n[2]*rows*16))
	if count > most && rounds > 1 {
		for range rounds {
			first := *t
			t.windows(op, rows, count, 1, next, round)
			*t = first
			t.move(round)
		}
		return
	}
	t.rows = rows
	t.nextA, t.nextB, t.nextC, t.nextBias = next.a, next.b, next.c, next.bias
	for count > 0 && rounds > 0 {
		t.count, t.rounds = min(count, most), 1
		by := next.times(t.count)
		if t.count == count {
			t.rounds = min(rounds, max(1, most/count))
			by = round.times(t.rounds)
			rounds -= t.rounds
		} else {
			count -= t.count
		}
		back := next.times(t.count - 1)
		t.roundA, t.roundB, t.roundC, t.roundBias = round.a-back.a, round.b-back.b, round.c-back.c, round.bias-back.bias
		runWindow(t, op)
		t.move(by)
	}
}
