package learn

import (
	"math"
	"testing"
	"time"
)

// someDirections are the directions of loss and accuracy.
var someDirections = directionsOf([]Series{{Name: "loss", Better: -1}, {Name: "accuracy", Better: 1}, {Name: "count"}})

func TestStoppers(t *testing.T) {
	at := func(key string, v float64) Progress { return Progress{Values: map[string]float64{key: v}} }
	for _, tt := range []struct {
		stop Stopper
		p    Progress
		want string
	}{
		{Above("valid accuracy", 99), at("valid accuracy", 99.5), "valid accuracy is 99.5, above 99"},
		{Above("valid accuracy", 99), at("valid accuracy", 99), ""},
		{Above("valid accuracy", 99), at("train accuracy", 100), ""},
		{Above("valid accuracy", 99), at("valid accuracy", math.NaN()), ""},
		{Below("valid loss", 0.1), at("valid loss", 0.05), "valid loss is 0.05, below 0.1"},
		{Below("valid loss", 0.1), at("valid loss", 0.1), ""},
		{Below("valid loss", 0.1), at("valid loss", math.NaN()), ""},
		{After(time.Hour), Progress{Elapsed: time.Hour - 1}, ""},
		{After(time.Hour), Progress{Elapsed: time.Hour}, "1h0m0s are over"},
		{NoBetter("valid loss", 1), Progress{}, ""},
		{Any(After(time.Hour), Below("valid loss", 1)), at("valid loss", 0), "valid loss is 0, below 1"},
		{Any(), Progress{}, ""},
	} {
		if got := tt.stop.Stop(tt.p); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt, got, tt.want)
		}
	}
}

// TestAnyAsksAll asserts that all stoppers see all values: they may count.
func TestAnyAsksAll(t *testing.T) {
	a, b := NoBetter("valid loss", 1), NoBetter("valid loss", 2)
	stop := Any(Any(a), b)
	for i, want := range []string{"", "valid loss was not better than 1 1 time in a row", "valid loss was not better than 1 1 time in a row"} {
		if got := stop.Stop(Progress{Values: map[string]float64{"valid loss": float64(i + 1)}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if b.counts.waits != 2 || len(stoppers(stop)) != 2 {
		t.Errorf("%d waits, %d stoppers", b.counts.waits, len(stoppers(stop)))
	}
}

// TestKeysThatAreUnknown asserts that stoppers, keepers and factors refuse metrics that are not measured.
func TestKeysThatAreUnknown(t *testing.T) {
	const list = `: there are "valid accuracy", "valid count", "valid loss", and the same of train`
	for _, tt := range []struct {
		x    any
		want string
	}{
		{NoBetter("valid los", 1), `stop: no better: no metric "valid los"` + list},
		{NoBetter("valid count", 1), `stop: no better: "valid count": neither larger nor smaller values are better`},
		{NoBetter("valid loss", 0), "stop: no better valid loss: Times is 0"},
		{&Patience{Key: "valid loss", Times: 1, MinDelta: math.NaN()}, "MinDelta NaN"},
		{Above("loss", 1), `stop: no metric "loss"` + list},
		{Below("valid loss", math.NaN()), "stop: valid loss: the limit is not a number"},
		{Any(After(1), Above("loss", 1)), `stop: no metric "loss"` + list},
		{Any(nil), "stop: a stopper of Any is nil"},
		{Best("acc"), `keep: best: no metric "acc"` + list},
		{Both(Last(1), Best("valid count")), `keep: best: "valid count": neither`},
		{Either(nil), "keep: a keeper is nil"},
		{Last(0), "keep: last 0: at least 1 expected"},
		{Every(-1), "keep: every -1: at least 1 expected"},
		{Plateau("x", 0.5, 1), `plateau: no metric "x"` + list},
		{Plateau("valid loss", 1, 1), "By is 1"},
		{Plateau("valid loss", 0.5, 0), "Times 0"},
	} {
		wantError(t, bind(tt.x, someDirections), tt.want)
	}
	for _, x := range []any{NoBetter("valid loss", 1), Above("valid count", 1), Best("train accuracy"), Plateau("valid accuracy", 0.5, 1), After(1)} {
		if err := bind(x, someDirections); err != nil {
			t.Error(err)
		}
	}
	p := NoBetter("valid accuracy", 1)
	if bind(p, someDirections); p.Better != 1 {
		t.Errorf("the direction of accuracy is %d", p.Better)
	}
}
