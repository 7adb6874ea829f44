package cpu

import "unsafe"

// oneRowRef computes the product of one row and the panels. For each column j,
//
//	c[j] = clamp(Σ a[k]·b[k][j] + bias[j] + residual[j])
func oneRowRef(t *oneRow) {
	tile := tile{
		a: t.a, b: t.b, c: t.c, residual: t.residual, lo: t.lo, hi: t.hi,
		rows: 1, panels: 1, panelB: t.panelB, count: 1, n: [3]int{1, 1, 1},
	}
	var room [16 * narrowDepth]float32
	most := max(t.depth, 1)
	if t.kind.format != weightF32 {
		tile.b, most = unsafe.Pointer(unseen(&room)), narrowDepth
	}
	for p := range t.panels {
		tile.atC, tile.atBias = 64*p, 64*p
		tile.residual, tile.bias, tile.clamp = t.residual, nil, 0
		for k := 0; k == 0 || k < t.depth; k += most {
			tile.run = min(most, t.depth-k)
			tile.atA, tile.atB = 4*k, p*t.panelB
			if t.kind.format != weightF32 {
				t.kind.widen(unseen(&room)[:16*tile.run], unsafe.Add(t.b, p*t.panelB+32*k))
				tile.atB = 0
			}
			if k+tile.run == t.depth {
				tile.bias, tile.clamp = t.bias, t.clamp
			}
			runTile(&tile)
			tile.residual = t.c
		}
	}
}
