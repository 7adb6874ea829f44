package report

import (
	"math"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, s := range []span{{0, 1}, {-3, 4e9}, {1e-9, 1.0000001e-9}, {5, 5}, {0, 0}, {-math.MaxFloat64, math.MaxFloat64}, {1e300, 1e300}} {
		s.widen()
		ticks := s.ticks(5)
		if len(ticks) < 2 || len(ticks) > 12 {
			t.Errorf("%v has ticks %v", s, ticks)
		}
		for _, v := range ticks {
			if p := s.part(v); math.IsNaN(p) {
				t.Errorf("%v: tick %v is nowhere", s, v)
			}
		}
	}
}
