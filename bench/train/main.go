// Command train compares training steps of generated packages with PyTorch's steps on the same
// machine, in the same run. A step is forward, loss and backward. Both sides start with the same
// weights and take the same batch. Their losses must agree, and the differences of their gradients are
// printed. Models with dropout are timed with it, and compared without it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/scratch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/pass"
)

var (
	threads = flag.String("threads", "1,2", "numbers of threads")
	rounds  = flag.Int("rounds", 5, "rounds, in which the sides take turns")
	seconds = flag.Float64("seconds", 0.5, "what a side takes in a round")
	python  = flag.String("python", "/usr/bin/python3", "Python with PyTorch")
	wrap    = flag.String("wrap", "", "a command that each round is run under")
	nodes   = flag.Bool("nodes", false, "also print what each node of the step takes, in one thread")
	listed  = flag.Int("rows", 30, "the rows that -nodes prints at most")
	dump    = flag.Bool("dump", false, "write the lowered module and the list of timed nodes beside the program")
	alone   = flag.Bool("alone", false, "without PyTorch")
	remat   pass.Remat
)

func main() {
	flag.Var(&remat, "remat", "what steps recompute, none|auto|all")
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(names []string) error {
	var errs []error
	fmt.Printf("%-12s %7s %12s %12s %7s %9s %9s %13s %8s %8s\n", "case", "threads", "torch ms", "burngen ms", "ratio", "torch MB", "MB", "torch differs", "differ", "loss")
	for _, c := range cases {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		if err := c.compare(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

// reply is the result of a round on one side. Times are in milliseconds.
type reply struct {
	// Median is the median time of a step.
	Median float64
	// Peak is the peak resident memory less the resident memory before the model is loaded, in MiB.
	Peak float64
	// Differ is the largest difference between a gradient of the generated side and the gradient in
	// float64, relative to the norm of the gradient. Own is the same for PyTorch in float32. If a
	// network has kinks, such as Relu's, a rounding difference may flip an element.
	Differ, Own float64
	// Loss is the difference between the loss of the generated side and the loss in float64, divided by the loss in
	// float64.
	Loss float64
	Laps []float64 // median time of each timed node
}

// mostLoss is the largest [reply.Loss] of losses that count as equal.
const mostLoss = 1e-5

func (c kase) compare() error {
	dir := filepath.Join("out", "train", c.name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	m, err := c.model(c.dropout)
	if err != nil {
		return err
	}
	if *dump {
		if err := os.WriteFile(filepath.Join(dir, "module.ir"), []byte(m.Module.String()), 0o666); err != nil {
			return err
		}
	}
	var steps []*ir.Node
	binary, err := c.build(m, dir, &steps)
	if err != nil {
		return err
	}
	for _, text := range strings.Split(*threads, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		var torch, ours []reply
		for range *rounds {
			r, err := side(c.command(n, binary, dir, "plain"))
			if err != nil {
				return err
			}
			ours = append(ours, r)
			if *alone {
				continue
			}
			if r, err = side(c.command(n, *python, filepath.Join("train", "torch_side.py"), dir, c.name)); err != nil {
				return err
			}
			torch = append(torch, r)
		}
		a, b := median(torch), median(ours)
		fmt.Printf("%-12s %7d %12.3f %12.3f %7.2f %9.1f %9.1f %13.1e %8.1e %8.1e\n", c.name, n, a.Median, b.Median, a.Median/b.Median, a.Peak, b.Peak, a.Own, a.Differ, a.Loss)
		if !(a.Loss <= mostLoss) {
			return fmt.Errorf("the losses differ by %.1e of the loss in float64, want %.0e or less", a.Loss, mostLoss)
		}
	}
	if *nodes {
		r, err := side(c.command(1, binary, dir, "timed"))
		if err != nil {
			return err
		}
		printNodes(steps, r.Laps)
	}
	return nil
}

// model compiles the training step of the case, with dropout at this rate.
func (c kase) model(dropout float64) (*gen.Model, error) {
	r, err := nn.Record(func(r *nn.Recorder) {
		m, loss := c.loss(dropout)
		r.Model(m)
		r.Method(nn.Method{Name: "Loss", Loss: true, Pos: "cases.go:1:1", Signature: func() string { return c.signature },
			Params: []string{"x", "target"}, Results: []string{"loss"}},
			func(in []nn.Value) []nn.Value { return []nn.Value{loss(in)} })
	})
	if err != nil {
		return nil, err
	}
	src, err := gen.FromRecord(c.name, "cases.go", strings.Repeat("0", 64), nil, r)
	if err != nil {
		return nil, err
	}
	return gen.CompileSource(src, gen.Options{Train: true, Remat: remat})
}

// build builds the program of a model and returns its path. It appends the timed nodes to *steps: node i has the time
// [reply].Laps[i].
func (c kase) build(m *gen.Model, dir string, steps *[]*ir.Node) (string, error) {
	module, err := scratch.New(dir, "step")
	if err != nil {
		return "", err
	}
	index := map[*ir.Node]int{}
	plain, err := m.Timed("plain", nil)
	if err != nil {
		return "", err
	}
	timed, err := m.Timed("timed", func(s program.Step) int {
		n := s.At()
		i, ok := index[n]
		if !ok {
			i = len(*steps)
			index[n], *steps = i, append(*steps, n)
		}
		return i
	})
	if err != nil {
		return "", err
	}
	compared := "plain"
	if c.dropout > 0 {
		compared = "compared"
		exact, err := c.model(0)
		if err != nil {
			return "", err
		}
		files, err := exact.Timed(compared, nil)
		if err != nil {
			return "", err
		}
		if err := module.Write(compared, files); err != nil {
			return "", err
		}
	}
	text := strings.NewReplacer("COMPARED", compared, "CLASSES", fmt.Sprint(c.classes), "ARGS", strings.Join(c.args, ", "), "STEPS", fmt.Sprint(len(*steps)),
		"BATCH", c.args[0][strings.LastIndexByte(c.args[0], ' ')+1:len(c.args[0])-1]).Replace(worker)
	err = errors.Join(m.Raw.Save(filepath.Join(dir, "initial.safetensors")), module.Write("plain", plain), module.Write("timed", timed), os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o666))
	if *dump {
		var list strings.Builder
		for _, n := range *steps {
			fmt.Fprintln(&list, kindOf(n))
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "steps.txt"), []byte(list.String()), 0o666))
	}
	if err != nil {
		return "", err
	}
	if out, err := module.Build(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(out))
	}
	return module.Binary(), nil
}

func (c kase) command(threads int, args ...string) []string {
	args = append(args, fmt.Sprint(threads), fmt.Sprint(*seconds))
	return append(strings.Fields(*wrap), args...)
}

// side runs a command, which measures a round of one side, and returns the reply that the command prints.
func side(args []string) (r reply, err error) {
	c := exec.Command(args[0], args[1:]...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return r, fmt.Errorf("%s: %w", args[0], err)
	}
	return r, json.Unmarshal(out, &r)
}

// median returns the median of each field of list, except Laps.
func median(list []reply) reply {
	if len(list) == 0 {
		return reply{}
	}
	of := func(f func(r reply) float64) float64 {
		var x []float64
		for _, r := range list {
			x = append(x, f(r))
		}
		slices.Sort(x)
		return x[len(x)/2]
	}
	return reply{
		Median: of(func(r reply) float64 { return r.Median }),
		Peak:   of(func(r reply) float64 { return r.Peak }),
		Differ: of(func(r reply) float64 { return r.Differ }),
		Own:    of(func(r reply) float64 { return r.Own }),
		Loss:   of(func(r reply) float64 { return r.Loss }),
	}
}

// printNodes prints a line for each operator and shape, sorted by time: the total time of its nodes in milliseconds,
// its share of the time of all nodes, and the number of its nodes. It prints at most *listed lines.
func printNodes(steps []*ir.Node, laps []float64) {
	type row struct {
		count int
		time  float64
	}
	rows := map[string]*row{}
	total := 0.0
	for i, n := range steps {
		if laps[i] == 0 {
			continue
		}
		kind := kindOf(n)
		if rows[kind] == nil {
			rows[kind] = &row{}
		}
		rows[kind].count++
		rows[kind].time += laps[i]
		total += laps[i]
	}
	var kinds []string
	for k := range rows {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return int(1e6 * (rows[b].time - rows[a].time)) })
	for _, k := range kinds[:min(len(kinds), *listed)] {
		fmt.Printf("%9.4f ms %5.1f %% %4d  %s\n", rows[k].time, 100*rows[k].time/total, rows[k].count, k)
	}
}

// kindOf returns a text with the operator of n, the types of its first three operands, and the type of
// its first result. It returns "copies" if n is nil, which stands for the steps that copy.
func kindOf(n *ir.Node) string {
	if n == nil {
		return "copies"
	}
	kind := ir.OpName(n.Op)
	for _, t := range n.ArgTypes()[:min(3, len(n.Args))] {
		kind += " " + t.String()
	}
	if len(n.Results) > 0 {
		kind += " → " + n.Results[0].Type.String()
	}
	return kind
}
