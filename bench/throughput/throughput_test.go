package main

import (
	"slices"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		callers, processors int
		want                []setting
	}{
		{16, 16, []setting{{16, 1}, {8, 2}, {4, 4}, {2, 8}, {1, 16}}},
		{32, 6, []setting{{32, 1}, {6, 1}, {3, 2}, {1, 4}, {1, 6}}},
		{1, 2, []setting{{1, 1}, {1, 2}}},
		{3, 1, []setting{{3, 1}, {1, 1}}},
	} {
		if got := settings(c.callers, c.processors); !slices.Equal(got, c.want) {
			t.Errorf("%d callers on %d processors: %v, want %v", c.callers, c.processors, got, c.want)
		}
	}
}

func TestRate(t *testing.T) {
	if got := perSecond([]time.Duration{time.Second, 2 * time.Second, time.Second}); got != .75 {
		t.Errorf("%v calls per second, want 0.75", got)
	}
	if s := (side{rates: []float64{3, 1, 2}}); s.rate() != 2 {
		t.Errorf("the median is %v, want 2", s.rate())
	}
}

func TestQuantiles(t *testing.T) {
	var times []time.Duration
	for i := range 101 {
		times = append(times, time.Duration(i)*time.Millisecond)
	}
	if p50, p99 := milliseconds(times, .5), milliseconds(times, .99); p50 != 50 || p99 != 99 {
		t.Errorf("quantiles %v and %v, want 50 and 99", p50, p99)
	}
}
