package system

import (
	"errors"
	"math"
	"testing"
)

func TestGaugeIsLeftOut(t *testing.T) {
	if s := gauge("disk", "%", func() (float64, error) { return 7, nil }); len(s) != 1 || s[0].first != 7 || s[0].series != series("disk", "%") {
		t.Error(s)
	}
	if s := gauge("disk", "%", func() (float64, error) { return 7, errors.New("no disk") }); len(s) != 0 {
		t.Error("a sensor that failed is in the list")
	}
	if s := gauge("disk", "%", func() (float64, error) { panic("index out of range") }); len(s) != 0 {
		t.Error("a sensor that panicked is in the list")
	}
}

// TestShare reads counters one after the other.
func TestShare(t *testing.T) {
	readings := []counters{{10, 100}, {15, 120}, {15, 130}, {35, 140}, {35, 140}, {34, 150}, {44, 190}}
	wants := []float64{25, 0, 200, math.NaN(), 0, 25} // NaN: no time has passed
	next := 0
	read := func() (counters, error) {
		next++
		return readings[next-1], nil
	}
	s := share("cpu", read)
	if len(s) != 1 || !math.IsNaN(s[0].first) || s[0].series != series("cpu", "%") {
		t.Fatal(s)
	}
	for i, want := range wants {
		got, err := s[0].read()
		if math.IsNaN(want) != (err != nil) || err == nil && got != want {
			t.Errorf("reading %d: %g, %v, want %g", i, got, err, want)
		}
	}
}

// TestShareAfterFailure asserts that a failed reading belongs to the interval of the next one.
func TestShareAfterFailure(t *testing.T) {
	now, err := counters{}, error(nil)
	s := share("cpu", func() (counters, error) { return now, err })
	now, err = counters{100, 100}, errors.New("broken")
	if _, got := s[0].read(); got != err {
		t.Error(got)
	}
	now, err = counters{30, 120}, nil
	if got, err := s[0].read(); got != 25 || err != nil {
		t.Error(got, err)
	}
	err = errors.New("not there")
	if s := share("cpu", func() (counters, error) { return now, err }); len(s) != 0 {
		t.Error("a sensor that failed is in the list")
	}
}
