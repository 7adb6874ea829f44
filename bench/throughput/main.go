// Throughput compares how many calls in a second a machine computes if many callers call a model at once, and how long
// a call takes then. Three sides take turns, each with all processors that the command may use:
//
//   - sessions: one process of burngen's program, in which each caller is a goroutine with a session
//   - processes: as many processes of the same program as there are callers, each with one thread
//   - ORT: processes of ONNX Runtime through its C API, with all optimisations
//
// ONNX Runtime may have one process for each caller, with a thread each, or fewer processes with more threads, down to
// one with a thread for each processor. Each of these settings is tried first. The one with the most calls takes part.
//
//	go run ./models resnet50
//	go run ./throughput [-callers N] [-rounds 5] [-time 2s] [-burngen CMD] CASE ...
//
// A case is a name of ./models or an ONNX file. The arguments and the comparison of the outputs are compare.mjs's.
// For each side, the table has the calls of a second (the median over the rounds), the median and the 99th percentile
// of the time of a call (over all rounds), and a ratio: the calls of the sessions divided by the calls of the side. A
// process of ORT gets a new command after every 20 ms of calls; the time between two commands does not count. The
// command needs `npm ci`, a C compiler, and a system that can suspend processes. Other work on the machine changes the
// numbers.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

type options struct {
	callers, rounds int
	turn            time.Duration
	burngen         []string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("throughput: ")
	var o options
	flag.IntVar(&o.callers, "callers", runtime.NumCPU(), "callers at once")
	flag.IntVar(&o.rounds, "rounds", 5, "turns of each side")
	flag.DurationVar(&o.turn, "time", 2*time.Second, "time of a turn")
	generator := flag.String("burngen", "go tool burngen", "the generator's command")
	flag.Parse()
	o.burngen = strings.Fields(*generator)
	if o.callers < 1 || o.rounds < 1 || o.turn <= 0 || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(o options, names []string) error {
	host, err := buildTools()
	if err != nil {
		return err
	}
	fmt.Printf("%d processors, %d callers; ratio above 1: sessions compute more calls\n", runtime.NumCPU(), o.callers)
	fmt.Printf("%-16s %-28s %10s %10s %10s %7s\n", "case", "side", "calls/s", "p50 ms", "p99 ms", "ratio")
	var errs []error
	for _, name := range names {
		if err := compare(name, host, o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func compare(name string, host []string, o options) error {
	p, err := build(name, o.burngen)
	if err != nil {
		return err
	}
	sides := []*side{p.sessions(o.callers), p.processes(o.callers)}
	best, err := p.best(host, o)
	if err != nil {
		return err
	}
	sides = append(sides, best)
	for _, s := range sides {
		if err := s.start(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		defer s.end()
		if s == sides[0] {
			continue
		}
		if err := p.judge(s.outputs, sides[0].outputs); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for i := range o.rounds {
		order := slices.Clone(sides)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, s := range order {
			if err := s.turn(o.turn); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	for _, s := range sides {
		slices.Sort(s.latencies)
		fmt.Printf("%-16s %-28s %10.1f %10.3f %10.3f %7.2f\n", p.name, s.name, s.rate(), milliseconds(s.latencies, .5), milliseconds(s.latencies, .99), sides[0].rate()/s.rate())
	}
	return nil
}

// best returns the setting of ONNX Runtime that computes the most calls in a turn.
func (p *program) best(host []string, o options) (*side, error) {
	var best *side
	for _, s := range settings(o.callers, runtime.NumCPU()) {
		side := p.ort(host, s)
		if err := side.start(); err != nil {
			return nil, fmt.Errorf("%s: %w", side.name, err)
		}
		err := side.turn(o.turn)
		side.end()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side.name, err)
		}
		log.Printf("%s, %s: %.1f calls/s", p.name, side.name, side.rate())
		if best == nil || side.rate() > best.rate() {
			best = side
		}
	}
	best.rates, best.latencies = nil, nil
	return best, nil
}

// setting is a number of processes of ONNX Runtime and the threads of each.
type setting struct{ processes, threads int }

// settings returns the settings to try. The first has a process of one thread for each caller. The others have t
// threads in each process, where t is 1, 2, 4 and so on, and at last `processors`. They have processors/t processes,
// rounded down, but at most one for each caller.
func settings(callers, processors int) []setting {
	list := []setting{{callers, 1}}
	for t := 1; ; t = min(2*t, processors) {
		if s := (setting{min(callers, processors/t), t}); !slices.Contains(list, s) {
			list = append(list, s)
		}
		if t == processors {
			return list
		}
	}
}

// judge returns an error if the outputs in the files `want` and `got` differ by more than compare.mjs allows.
func (p *program) judge(want, got string) error {
	out, err := output("", judgeBinary, "judge", p.model, p.inputs, want, got)
	if err != nil {
		return err
	}
	var verdict struct{ Problem string }
	if err := json.Unmarshal(out, &verdict); err != nil {
		return err
	}
	if verdict.Problem != "" {
		return errors.New(verdict.Problem)
	}
	return nil
}

// milliseconds returns the value at quantile q in [0, 1] of ascending times, or 0 if there are none.
func milliseconds(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	return float64(times[int(q*float64(len(times)-1))]) / float64(time.Millisecond)
}
