// Package guard keeps kernels from becoming slower unnoticed. Its test counts the instructions of small models and
// compares the counts with a table. Counts do not vary from run to run, unlike times on a shared machine. Valgrind
// cannot count the instructions of AVX-512. Models with AVX-512 are therefore timed, relative to a loop of
// multiply-adds.
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

// Main is the main function of the program that the test builds. The program has all models. Its first argument is
// the task: "count", under callgrind, or "time". The second is the folder with the models' inputs, NAME.bin.
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
		for range 2 { // allocate memory before counting
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

// repeats is the number of times a model is counted or timed. The lowest result is used.
const repeats = 5

func count(name string, f func() error) {
	for range repeats {
		zero()
		f()
		dump(name)
	}
}

// reference is the number of iterations of fma512 in the reference loop. The loop takes about 100 µs.
const reference = 32 << 10

// relative returns the shortest time of f divided by the shortest time of the reference loop. It runs f and the loop
// in turns. It ignores errors of f.
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
