// Package profile measures where a model spends its time. It builds the model's package twice:
// without clocks, and with a clock after each step. It runs both, and compares the time of each
// node with the limits of the machine. It does not know how a step is computed.
package profile

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/profile/stopwatch"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/scratch"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/ir"
)

// Options configure a measurement.
type Options struct {
	// Inputs are the arguments in the model's order.
	Inputs []harness.Value
	// Shapes are the shapes of Inputs, which determine the symbols.
	Shapes [][]int
	// Threads is the number of threads for a call. 0 means 1.
	Threads int
	// Time is the approximate duration of each of the two runs. 0 means one second.
	Time time.Duration
	// Progress, if not nil, is called at the start of each stage.
	Progress func(stage string)
}

// Profile is the result of a measurement.
type Profile struct {
	Model   string        `json:"model"`     // file name
	Threads int           `json:"threads"`   // number of threads of a call
	Level   string        `json:"level"`     // instruction set of the kernels
	Calls   int           `json:"calls"`     // number of calls of the package without clocks
	Median  time.Duration `json:"median_ns"` // median time of a call of the package without clocks
	Least   time.Duration `json:"min_ns"`    // least time of such a call
	// Multiply is the floating-point operations per nanosecond that the threads reach in
	// multiply-adds, or 0 if unknown. Read is the bytes per nanosecond that they read from memory.
	Multiply float64 `json:"peak_gflops"`
	Read     float64 `json:"memory_gbs"`
	Nodes    []Node  `json:"nodes"`
}

// Node is a node of the lowered model. Its time covers all its steps in one call of the model, and
// all calls of the function that contains it.
type Node struct {
	Name     string        `json:"name"`     // name in the model, and names of the nodes fused with it
	Op       string        `json:"op"`       // the lowered operator
	Operands []string      `json:"operands"` // types of the first operands
	Shape    string        `json:"shape"`    // type of the result
	Time     time.Duration `json:"ns"`
	// Flops are the floating-point operations by definition, whatever the algorithm.
	Flops int64 `json:"flops"`
	// Bytes are the bytes of its operands, including weights, and results.
	Bytes int64 `json:"bytes"`
	// Runs is the number of times that it is computed in a call.
	Runs int64 `json:"runs"`
}

// Measure measures a model. It returns the errors of the model's code for the inputs, and an error
// if the source of burngen is not found.
func Measure(ctx context.Context, m *gen.Model, o Options) (*Profile, error) {
	p, err := measure(ctx, m, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Source.File, err)
	}
	return p, nil
}

func measure(ctx context.Context, m *gen.Model, o Options) (*Profile, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	dir, err := temporary.Folder("")
	if err != nil {
		return nil, err
	}
	defer temporary.Remove(dir)
	steps := &numbering{index: map[*ir.Node]int{}}
	o.Progress("building")
	binary, err := build(ctx, m, dir, steps)
	if err != nil {
		return nil, err
	}
	o.Progress("measuring")
	q := stopwatch.Request{Inputs: o.Inputs, Threads: max(o.Threads, 1), Steps: len(steps.nodes), Time: o.Time}
	if q.Time == 0 {
		q.Time = time.Second
	}
	r, err := run(ctx, binary, q)
	if err != nil {
		return nil, err
	}
	symbols, err := ir.BindShapes(m.Forward.IR.Params, o.Shapes)
	if err != nil {
		return nil, err
	}
	p := &Profile{
		Model: m.Source.File, Threads: q.Threads, Level: r.Level,
		Calls: len(r.Calls), Median: stopwatch.Median(r.Calls), Least: slices.Min(r.Calls),
		Multiply: r.Multiply * float64(q.Threads), Read: r.Read * float64(q.Threads),
	}
	runs := runsOf(m.Forward)
	for i, n := range steps.nodes {
		p.Nodes = append(p.Nodes, describe(n, r.Laps[i], runs[n], symbols))
	}
	return p, nil
}

// numbering numbers the nodes in the order of their code: nodes is the list, and index the number
// of each. A copy of a result belongs to the nil node.
type numbering struct {
	index map[*ir.Node]int
	nodes []*ir.Node
}

func (s *numbering) number(step program.Step) int {
	n := step.At()
	i, ok := s.index[n]
	if !ok {
		i = len(s.nodes)
		s.index[n], s.nodes = i, append(s.nodes, n)
	}
	return i
}

// build generates the two packages of a model in dir and builds the program that measures them. It
// returns the name of the program's file.
func build(ctx context.Context, m *gen.Model, dir string, steps *numbering) (binary string, err error) {
	module, err := scratch.New(dir, "bench")
	if err != nil {
		return "", err
	}
	plain, err := m.Timed("plain", nil)
	if err != nil {
		return "", err
	}
	timed, err := m.Timed("timed", steps.number)
	if err != nil {
		return "", err
	}
	weights := filepath.Join(dir, "weights.safetensors")
	file, err := os.Create(weights)
	if err != nil {
		return "", err
	}
	_, err = m.Weights.WriteTo(file)
	if err := errors.Join(err, file.Close(), module.Write("plain", plain), module.Write("timed", timed)); err != nil {
		return "", err
	}
	text := fmt.Sprintf(mainText, scratch.ModulePath, weights)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o666); err != nil {
		return "", err
	}
	if out, err := module.Build(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(out))
	}
	return module.Binary(), ctx.Err()
}

// mainText is the program's main package.
const mainText = `// Command program measures a generated package.
package main

import (
	"bench/plain"
	"bench/timed"

	"%s/gen/profile/stopwatch"
)

const weights = %q

func main() {
	stopwatch.Main(stopwatch.Package{Open: func() (session, model any, err error) {
		m, err := plain.Load(weights)
		if err != nil {
			return nil, nil, err
		}
		s, err := m.NewSession(nil)
		return s.Forward, m.Forward, err
	}}, stopwatch.Package{Lap: &timed.Lap, Open: func() (session, model any, err error) {
		m, err := timed.Load(weights)
		if err != nil {
			return nil, nil, err
		}
		s, err := m.NewSession(nil)
		return s.Forward, m.Forward, err
	}})
}
`

// run runs the measuring program with the request q and returns its reply. It returns an error if
// the program fails.
func run(ctx context.Context, binary string, q stopwatch.Request) (r stopwatch.Reply, err error) {
	var in, out, problems bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(q); err != nil {
		return r, err
	}
	c := exec.CommandContext(ctx, binary)
	c.Stdin, c.Stdout, c.Stderr = &in, &out, &problems
	if err := c.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(problems.String()), "\n")
		return r, fmt.Errorf("the program: %w: %s", err, line)
	}
	if err := gob.NewDecoder(&out).Decode(&r); err != nil {
		return r, fmt.Errorf("the program: %w", err)
	}
	if r.Err != "" {
		return r, errors.New(r.Err)
	}
	return r, nil
}
