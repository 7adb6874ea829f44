package images

import (
	"math"
	"testing"
)

func TestAffineMaps(t *testing.T) {
	m := affine{2, 1, 3, -1, 4, 5}
	n := rotation(30).about(2, 7)
	back, ok := m.inverse()
	if !ok {
		t.Fatal("no inverse")
	}
	for _, p := range [][2]float64{{0, 0}, {1, 2}, {-3, 5}} {
		x, y := m.at(p[0], p[1])
		if u, v := back.at(x, y); far(u, p[0]) || far(v, p[1]) {
			t.Errorf("%v is (%v, %v) and back (%v, %v)", p, x, y, u, v)
		}
		u, v := n.at(p[0], p[1])
		x, y = m.at(u, v)
		if u, v := m.after(n).at(p[0], p[1]); far(u, x) || far(v, y) {
			t.Errorf("one after the other %v is (%v, %v), together (%v, %v)", p, x, y, u, v)
		}
	}
	if x, y := n.at(2, 7); far(x, 2) || far(y, 7) {
		t.Errorf("the centre of a rotation moves to (%v, %v)", x, y)
	}
	if x, y := rotation(90).at(1, 0); far(x, 0) || far(y, 1) { // to the right: y points down
		t.Errorf("a quarter turn moves (1, 0) to (%v, %v)", x, y)
	}
	for _, m := range []affine{{1, 2, 0, 2, 4, 0}, {math.NaN(), 0, 0, 0, 1, 0}, {math.Inf(1), 0, 0, 0, 1, 0}} {
		if _, ok := m.inverse(); ok {
			t.Errorf("%v has an inverse", m)
		}
	}
}
