//go:build mlp

// Command mlp measures the first call and later calls of a small perceptron on the first NVIDIA card. A call takes and
// returns arrays in the host's memory.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/burngen/burngen/bench/gpu/rows/mlp/one"
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
	return nil
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
