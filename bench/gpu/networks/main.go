//go:build networks

// Command networks measures transformers on the first NVIDIA card, with random weights and inputs. It measures calls
// of MiniLM and of BERT-base, with arguments and results in arrays of the host; calls of a transformer block of width
// 4096; and training steps of this block and of GPT-2 with AdamW.
//
//	networks NAME
//
// It prints the medians of the time of a call and of its recorded launches by the clock of the card, and the slowest
// kernels. A training step is the forward and the backward pass and the update of the weights.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/burngen/burngen/bench/gpu/networks/bert"
	"github.com/burngen/burngen/bench/gpu/networks/block"
	"github.com/burngen/burngen/bench/gpu/networks/gpt2"
	"github.com/burngen/burngen/bench/gpu/networks/minilm"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "networks:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 || networks[args[0]] == nil {
		return errors.New("minilm, bert, block, block-step or gpt2-step expected")
	}
	watch := &gpu.Watch{}
	call, err := networks[args[0]](gpu.Watched(watch))
	if err != nil {
		return err
	}
	return measure(args[0], watch, call)
}

// networks open a network, and return a function that calls it.
var networks = map[string]func(watched gpu.Option) (call func() error, err error){
	"minilm": func(watched gpu.Option) (func() error, error) {
		m, err := minilm.New(1).On(watched)
		if err != nil {
			return nil, err
		}
		s, err := m.NewSession(nil)
		x, y := new(minilm.X), new(minilm.Output)
		rt.Uniform(rt.FlatOf[float32](x), -1, 1, 1)
		return func() error { return s.Forward(y, x) }, err
	},
	"bert": func(watched gpu.Option) (func() error, error) {
		m, err := bert.New(1).On(watched)
		if err != nil {
			return nil, err
		}
		s, err := m.NewSession(nil)
		x, y := new(bert.X), new(bert.Output)
		rt.Uniform(rt.FlatOf[float32](x), -1, 1, 1)
		return func() error { return s.Forward(y, x) }, err
	},
	"block": func(watched gpu.Option) (func() error, error) {
		m, err := block.New(1).On(watched)
		if err != nil {
			return nil, err
		}
		s, err := m.NewSession(nil)
		if err != nil {
			return nil, err
		}
		x, err := gpu.NewTensor[float32](m.Device(), 4, 2048, 4096)
		if err != nil {
			return nil, err
		}
		in := make([]float32, 4*2048*4096)
		rt.Uniform(in, -1, 1, 1)
		y, failed := gpu.NewTensor[float32](m.Device(), 4, 2048, 4096)
		return func() error { return s.ForwardDevice(y, x) }, errors.Join(failed, x.Upload(in))
	},
	"block-step": func(watched gpu.Option) (func() error, error) {
		m, err := block.New(1).On(watched)
		if err != nil {
			return nil, err
		}
		t, err := m.NewTrainer(block.TrainerOptions{})
		if err != nil {
			return nil, err
		}
		x, y := new(block.X), new(block.Y)
		rt.Uniform(rt.FlatOf[float32](x), -1, 1, 1)
		rt.Uniform(rt.FlatOf[float32](y), -1, 1, 2)
		return trained(t.Params(), func() (float32, error) { return t.Step(x, y) })
	},
	"gpt2-step": func(watched gpu.Option) (func() error, error) {
		m, err := gpt2.New(1).On(watched)
		if err != nil {
			return nil, err
		}
		t, err := m.NewTrainer(gpt2.TrainerOptions{})
		if err != nil {
			return nil, err
		}
		x, y := new(gpt2.Tokens), new(gpt2.Next)
		r := rand.New(rand.NewPCG(1, 2))
		for i, v := range rt.FlatOf[int64](x) {
			v = r.Int64N(50257)
			rt.FlatOf[int64](x)[i], rt.FlatOf[int64](y)[i] = v, (7*v+1)%50257
		}
		return trained(t.Params(), func() (float32, error) { return t.Step(x, y) })
	},
}

// trained returns a function that computes gradients with step and updates the parameters.
func trained(p *rt.Params, step func() (float32, error)) (func() error, error) {
	adam, err := optim.NewAdamW(p, optim.AdamWConfig{})
	return func() error {
		if _, err := step(); err != nil {
			return err
		}
		if err := adam.Step(1e-4); err != nil {
			return err
		}
		p.ZeroGrad()
		return p.Err()
	}, err
}

// measure calls a network for some time, and prints what it measures.
func measure(name string, watch *gpu.Watch, call func() error) error {
	start := time.Now()
	for range 5 {
		if err := call(); err != nil {
			return err
		}
	}
	began := time.Since(start)
	var calls, replays []time.Duration
	for start := time.Now(); len(calls) < 10 || time.Since(start) < time.Second; {
		lap := time.Now()
		if err := call(); err != nil {
			return err
		}
		calls = append(calls, time.Since(lap))
	}
	for start := time.Now(); len(replays) < 5 || time.Since(start) < time.Second/2; {
		events, err := watched(watch, false, call)
		if err != nil {
			return err
		}
		replays = append(replays, total(events))
	}
	fmt.Printf("%s: %.1f µs a call, %.1f µs its recorded launches on the device; the first five calls took %.2f s\n", name, median(calls), median(replays), began.Seconds())
	events, err := watched(watch, true, call)
	if err != nil {
		return err
	}
	type part struct {
		name string
		runs int
		time time.Duration
	}
	byName := map[string]*part{}
	var parts []*part
	for _, e := range events {
		key := fmt.Sprint(e.Work, " ", e.Kernel)
		if byName[key] == nil {
			byName[key] = &part{name: key}
			parts = append(parts, byName[key])
		}
		byName[key].runs++
		byName[key].time += e.Time
	}
	slices.SortFunc(parts, func(a, b *part) int { return cmp.Compare(b.time, a.time) })
	fmt.Printf("      µs      %%  launches  of %d, one call without the recording, %.1f µs in all\n", len(events), float64(total(events))/1e3)
	for _, p := range parts[:min(len(parts), 25)] {
		fmt.Printf("%8.1f  %5.1f  %8d  %s\n", float64(p.time)/1e3, 100*float64(p.time)/float64(total(events)), p.runs, p.name)
	}
	return nil
}

func watched(watch *gpu.Watch, each bool, call func() error) ([]gpu.Event, error) {
	watch.Begin(each)
	failed := call()
	events, err := watch.End()
	return events, errors.Join(failed, err)
}

func total(events []gpu.Event) (sum time.Duration) {
	for _, e := range events {
		sum += e.Time
	}
	return sum
}

// median returns the median in µs.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2]) / 1e3
}
