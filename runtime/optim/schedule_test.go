package optim_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/optim"
)

func TestSchedulesArePyTorchs(t *testing.T) {
	want := readReference(t).Schedules
	schedules := map[string]optim.Schedule{
		"constant":    optim.Constant(0.5),
		"linear":      optim.Linear(0.125, 0.375, 30),
		"cosine":      optim.Cosine(0.5, 0.125, 30),
		"exponential": optim.Exponential(0.5, 0.9),
		"step":        optim.Step(0.5, 0.5, 7),
		"one cycle":   optim.OneCycle(0.5, 40),
		"sequential":  optim.Sequential(optim.Phase{10, optim.Linear(0.05, 0.5, 10)}, optim.Phase{0, optim.Exponential(0.5, 0.9)}),
		"composed":    optim.Composed(optim.Linear(0.05, 0.5, 10), optim.Exponential(1, 0.9)),
	}
	if names, have := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(schedules)); !slices.Equal(names, have) {
		t.Fatalf("the reference has %q, the test %q", names, have)
	}
	for name, s := range schedules {
		t.Run(name, func(t *testing.T) {
			for step, rate := range want[name] {
				if got := s(step); math.Abs(got-rate) > 1e-12 {
					t.Errorf("step %d: %v, want %v", step, got, rate)
				}
			}
		})
	}
}

func TestSchedules(t *testing.T) {
	ten := func(step int) float64 { return float64(10 - step) }
	for _, tt := range []struct {
		name string
		s    optim.Schedule
		want map[int]float64
	}{
		{"linear stays", optim.Linear(1, 0, 4), map[int]float64{0: 1, 1: 0.75, 4: 0, 9: 0}},
		{"cosine stays", optim.Cosine(1, 0.5, 4), map[int]float64{0: 1, 2: 0.75, 4: 0.5, 8: 0.5}},
		{"noam grows and falls", optim.Noam(2, 4, 4), map[int]float64{0: 0.125, 1: 0.25, 3: 0.5, 15: 0.25}},
		{"warmup", optim.Warmup(4, ten), map[int]float64{0: 2.5, 1: 5, 3: 10, 4: 10, 5: 9}},
		{"no warmup", optim.Warmup(0, ten), map[int]float64{0: 10, 3: 7}},
		{"one cycle stays", optim.OneCycle(1, 10), map[int]float64{2: 1, 9: 1 / 25e4, 20: 1 / 25e4}},
		{"one cycle of one step", optim.OneCycle(1, 1), map[int]float64{1: 1 / 25e4}},
		{"phases", optim.Sequential(optim.Phase{2, ten}, optim.Phase{3, ten}, optim.Phase{1, ten}),
			map[int]float64{0: 10, 1: 9, 2: 10, 4: 8, 5: 10, 14: 1}},
		{"no phases", optim.Sequential(), map[int]float64{0: 0, 3: 0}},
		{"no factors", optim.Composed(), map[int]float64{0: 1}},
		{"nothing", optim.Warmup(2, nil), map[int]float64{0: 0, 5: 0}},
		{"before the start", optim.Linear(1, 0, 4), map[int]float64{-3: 1}},
		{"in no steps", optim.Cosine(1, 0.25, 0), map[int]float64{0: 0.25}},
		{"step of no length", optim.Step(1, 0.5, 0), map[int]float64{2: 0.25}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for step, want := range tt.want {
				if got := tt.s(step); math.Abs(got-want) > 1e-12 {
					t.Errorf("step %d: %v, want %v", step, got, want)
				}
			}
		})
	}
}
