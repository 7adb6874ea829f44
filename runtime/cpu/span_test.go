package cpu

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyAxis draws an axis. Windows may be larger than the input, and padding may be wider than
// windows.
func anyAxis(t *rapid.T) axis {
	n := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	return newAxis(n("in", 0, 20), n("out", 1, 20), n("kernel", 1, 5), n("stride", 1, 4), n("dilation", 1, 12), n("pad", 0, 25), n("end", 0, 25))
}

// tapsOf returns the taps of output o that are inside the input, and the number of taps inside the
// input or its padding.
func (a *axis) tapsOf(o int) (inside []int, counted int) {
	for k := range a.kernel {
		at := o*a.stride - a.pad + k*a.dil
		if at >= 0 && at < a.in {
			inside = append(inside, k)
		}
		if at >= -a.pad && at < a.in+a.end {
			counted++
		}
	}
	return inside, counted
}

func TestSpansHoldOutputsOfTheSameTaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAxis(t)
		end := rapid.IntRange(1, a.out).Draw(t, "end of the outputs")
		at := 0
		for at < end {
			s := a.span(at, end)
			if s.from != at || s.to <= at || s.to > end {
				t.Fatalf("span %+v at %d, before %d", s, at, end)
			}
			for ; at < s.to; at++ {
				want, counted := a.tapsOf(at)
				var got []int
				for k := s.first; k < s.last; k++ {
					got = append(got, k)
				}
				if !slices.Equal(got, want) || counted != s.counted {
					t.Fatalf("output %d has taps %v and counts %d; span %+v", at, want, counted, s)
				}
			}
		}
	})
}

// The number of outputs that share their taps must not depend on which of them a span begins with.
func TestWholeSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAxis(t)
		for o := 0; o < a.out; {
			all := a.span(o, a.out)
			for part := all; part.from < all.to; part.from++ {
				if n := a.whole(part); n != all.to-all.from {
					t.Fatalf("%d outputs share the taps of %+v, want %d", n, part, all.to-all.from)
				}
			}
			o = all.to
		}
	})
}

func TestTapsThatMeetNoInput(t *testing.T) {
	for _, c := range []struct {
		dil   int
		spans []span
	}{
		{12, []span{{0, 4, 1, 3, 3}, {4, 12, 1, 2, 3}, {12, 16, 0, 2, 3}}},
		{24, []span{{0, 16, 1, 2, 3}}},
		{36, []span{{0, 16, 1, 2, 3}}},
	} {
		a := newAxis(16, 16, 3, 1, c.dil, c.dil, c.dil)
		var got []span
		for s := (span{}); s.to < a.out; {
			s = a.span(s.to, a.out)
			got = append(got, s)
		}
		if !slices.Equal(got, c.spans) {
			t.Errorf("dilation %d: spans %v, want %v", c.dil, got, c.spans)
		}
	}
}
