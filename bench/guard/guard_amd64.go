// Package guard keeps kernels from becoming slower unnoticed: its test counts the
// instructions of small models and compares them with a table. Counts tell more than
// times on a machine that others use too, and they are the same every day. AVX-512,
// which valgrind does not know, is timed against a loop of nothing but multiply-adds.
package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/bench/worker"
)

// Case is a model of the table.
type Case struct {
	Name string
	Open worker.Open
}

// Main is the program that the test builds of all models. Its arguments are what to
// do, "count" under callgrind or "time", and the folder with the models' inputs,
// NAME.bin.
func Main(cases []Case) {
	if err := run(os.Args[1], os.Args[2], cases); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

func run(task, dir string, cases []Case) error {
	for _, c := range cases {
		in, err := tensors.Read(filepath.Join(dir, c.Name+".bin"))
		if err != nil {
			return err
		}
		p, err := c.Open(in)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		for range 2 { // until nothing is left to allocate
			if err := p.Run(); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		if task == "count" {
			count(c.Name, p.Run)
		} else {
			fmt.Printf("%s %.4f\n", c.Name, relative(p.Run))
		}
	}
	return nil
}

// repeats is how often a model is counted or timed; the least counts.
const repeats = 5

func count(name string, f func() error) {
	for range repeats {
		zero()
		f()
		dump(name)
	}
}

// reference is how often fma512 loops to make a unit of time, some 100 µs.
const reference = 32 << 10

// relative returns the time of f in units of the reference loop's, both the least of
// several alternating ones.
func relative(f func() error) float64 {
	var own, unit time.Duration
	for i := range 8 * repeats {
		start := time.Now()
		fma512(reference)
		middle := time.Now()
		f()
		end := time.Now()
		if t := middle.Sub(start); i == 0 || t < unit {
			unit = t
		}
		if t := end.Sub(middle); i == 0 || t < own {
			own = t
		}
	}
	return float64(own) / float64(unit)
}
