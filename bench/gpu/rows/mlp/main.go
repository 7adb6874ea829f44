//go:build mlp

// Command mlp measures the first call and later calls of a small perceptron on the first NVIDIA card. A call takes and
// returns arrays in the host's memory. Command mlp also prints the time of the recorded launches of a call, and of each
// launch on its own, by the clock of the card.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/burngen/burngen/bench/gpu/rows/mlp/one"
	"github.com/burngen/burngen/runtime/gpu"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	start := time.Now()
	m := one.New(1)
	s, err := m.NewSession(nil)
	if err != nil {
		return err
	}
	var x one.X
	var y one.Logits
	for i := range x[0] {
		x[0][i] = float32(i%7) - 3
	}
	if err := s.Forward(&y, &x); err != nil {
		return err
	}
	first := time.Since(start)
	const warm, calls = 200, 3000
	var laps []time.Duration
	for i := range warm + calls {
		start := time.Now()
		if err := s.Forward(&y, &x); err != nil {
			return err
		}
		if i >= warm {
			laps = append(laps, time.Since(start))
		}
	}
	slices.Sort(laps)
	fmt.Printf("mlp 784-256-128-10, batch 1: first call %.2f s after the start; median %.1f µs a call, 10 %% within %.1f µs, 90 %% within %.1f µs\n",
		first.Seconds(), us(laps[calls/2]), us(laps[calls/10]), us(laps[calls*9/10]))
	return onDevice(m)
}

// onDevice prints the times of the parts of a call by the clock of the card.
func onDevice(m *one.Model) error {
	watch := &gpu.Watch{}
	watched, err := m.On(gpu.Watched(watch))
	if err != nil {
		return err
	}
	s, err := watched.NewSession(nil)
	if err != nil {
		return err
	}
	for _, each := range []bool{false, true} {
		const calls = 200
		var names []string
		var times [][]time.Duration
		for call := range calls {
			watch.Begin(each)
			failed := s.Forward(new(one.Logits), new(one.X))
			events, err := watch.End()
			if failed != nil || err != nil {
				return errors.Join(failed, err)
			}
			for i, e := range events {
				if i == len(names) {
					names, times = append(names, fmt.Sprint(e.Work, " ", e.Kernel)), append(times, nil)
				}
				if call >= calls/4 {
					times[i] = append(times[i], e.Time)
				}
			}
		}
		for i, name := range names {
			slices.Sort(times[i])
			fmt.Printf("    %6.2f µs  %s\n", us(times[i][len(times[i])/2]), name)
		}
	}
	return nil
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
