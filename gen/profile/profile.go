// Package profile measures where a model spends its time. For the CPU it builds the model's package
// twice: without clocks, and with a clock after each step. For a device it builds one package, whose
// work is measured on the clock of the device. It runs the packages, and compares the time of each
// node with the limits of the machine. It does not know how a step is computed.
package profile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/profile/stopwatch"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/scratch"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Options configure a measurement.
type Options struct {
	// Inputs are the arguments in the model's order.
	Inputs []harness.Value
	// Shapes are the shapes of Inputs, which determine the symbols.
	Shapes [][]int
	// Threads is the number of threads for a call. 0 means 1.
	Threads int
	// Time is the approximate duration of each part of the measurement. 0 means one second.
	Time time.Duration
	// Program is a file that [Build] wrote for the same model and options, or "". With it, Measure does not need Go.
	Program string
	// Progress, if not nil, is called at the start of each stage.
	Progress func(stage string)
}

// Profile is the result of a measurement.
type Profile struct {
	Model   string        `json:"model"`     // file name
	Threads int           `json:"threads"`   // number of threads of a call
	Level   string        `json:"level"`     // instruction set of the host's kernels
	Calls   int           `json:"calls"`     // number of calls without clocks
	Median  time.Duration `json:"median_ns"` // median time of a call without clocks
	Least   time.Duration `json:"min_ns"`    // least time of such a call
	Most    time.Duration `json:"p90_ns"`    // time that nine of ten such calls do not exceed
	// Multiply is the floating-point operations per nanosecond that the threads reach in
	// multiply-adds, or 0 if unknown. Read is the bytes per nanosecond that they read from memory, or
	// that a device reads and writes when it copies its memory.
	Multiply float64 `json:"peak_gflops"`
	Read     float64 `json:"memory_gbs"`
	Device   *Device `json:"device,omitempty"` // nil for the CPU
	Nodes    []Node  `json:"nodes"`
}

// Node is a node of the lowered model. Its time is the time of its steps in one call of the model. If the call runs
// the function that contains the node several times, the times are added. If the model runs on a device, there is a
// Node for each kernel of a node, and for copies.
type Node struct {
	Kernel   string        `json:"kernel,omitempty"` // on a device: the kernel, or a word in parentheses for other work
	Name     string        `json:"name"`             // name in the model, and names of the nodes fused with it
	Op       string        `json:"op"`               // the lowered operator
	Operands []string      `json:"operands"`         // types of the first operands
	Shape    string        `json:"shape"`            // type of the result
	Time     time.Duration `json:"ns"`
	// Flops are the floating-point operations in a call by definition, whatever the algorithm.
	Flops int64 `json:"flops"`
	// Bytes are the bytes of its operands, including weights, and results in a call.
	Bytes int64 `json:"bytes"`
	// Runs is the number of times that it is computed in a call.
	Runs int64 `json:"runs"`
	// Lost says where several threads on the CPU lost time.
	Lost
}

// Lost is time of nodes in which threads do not compute.
type Lost struct {
	// Serial is time in which only one thread computes, because the work is not shared.
	Serial time.Duration `json:"serial_ns,omitempty"`
	// Uneven is the time that the busiest thread computes beyond the average of all threads.
	Uneven time.Duration `json:"uneven_ns,omitempty"`
	// Wait is time in which threads start, and in which they wait for each other although none computes.
	Wait time.Duration `json:"wait_ns,omitempty"`
}

// lost returns the time that threads lost in a node. d is the time of the node, and s describes how the threads shared
// its work.
func lost(d time.Duration, s rt.Sharing, threads int) Lost {
	return Lost{
		Serial: max(0, d-s.Span),
		Uneven: max(0, s.Longest-s.Busy/time.Duration(threads)),
		Wait:   max(0, s.Span-s.Longest),
	}
}

// Build builds the program that measures a model, and writes it to file. It returns an error if Go or the
// source of burngen is not found.
func Build(m *gen.Model, file string) error {
	dir, err := temporary.Folder("")
	if err != nil {
		return err
	}
	defer temporary.Remove(dir)
	code, err := timed(m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Source.File, err)
	}
	binary, err := code.build(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Source.File, err)
	}
	built, err := os.Open(binary)
	if err != nil {
		return err
	}
	defer built.Close()
	return temporary.Write(file, func(out *os.File) error {
		_, err := io.Copy(out, built)
		return errors.Join(err, out.Chmod(0o777))
	})
}

// Measure measures a model. It returns an error if the model fails on the inputs of o, or if the source of burngen is
// not found.
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
	code, err := timed(m)
	if err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(o.Program)
	if o.Program == "" {
		o.Progress("building")
		binary, err = code.build(dir)
	}
	if err != nil {
		return nil, err
	}
	weights := filepath.Join(dir, "weights.safetensors")
	if err := writeWeights(m, weights); err != nil {
		return nil, err
	}
	o.Progress("measuring")
	q := stopwatch.Request{
		Inputs: o.Inputs, Threads: max(o.Threads, 1), Steps: len(code.steps.list), Time: o.Time,
		Weights: weights, Code: code.digest(),
	}
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
	slices.Sort(r.Calls)
	p := &Profile{
		Model: m.Source.File, Threads: q.Threads, Level: r.Level,
		Calls: len(r.Calls), Median: stopwatch.Median(r.Calls), Least: r.Calls[0], Most: r.Calls[len(r.Calls)*9/10],
		Multiply: r.Multiply * float64(q.Threads), Read: r.Read * float64(q.Threads),
	}
	if r.Device != nil {
		p.addDevice(m, r.Device, code.steps.list, symbols)
		return p, nil
	}
	runs := runsOf(m.Forward)
	for i, s := range code.steps.list {
		n := describe(s.At(), r.Laps[i], runs[s.At()], symbols)
		if q.Threads > 1 {
			n.Lost = lost(n.Time, r.Shared[i], q.Threads)
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p, nil
}

// numbering assigns numbers in the order of the generated code. It numbers steps if each is set, and nodes otherwise.
type numbering struct {
	each bool
	// index maps a node or a step to its number. The key of copies of results is one nil node.
	index map[any]int
	// list has the step for each number. For a node it is the first step.
	list []program.Step
}

func (s *numbering) number(step program.Step) int {
	var key any = step.At()
	if s.each {
		key = step
	}
	i, ok := s.index[key]
	if !ok {
		i = len(s.list)
		s.index[key], s.list = i, append(s.list, step)
	}
	return i
}

// code is the generated code of the program that measures a model.
type code struct {
	onDevice bool
	plain    []emit.File // without clocks, for the CPU only
	timed    []emit.File // with a clock after each step
	steps    *numbering  // of timed
}

func timed(m *gen.Model) (c *code, err error) {
	c = &code{onDevice: m.OnGPU()}
	c.steps = &numbering{index: map[any]int{}, each: c.onDevice}
	if !c.onDevice {
		if c.plain, err = m.Timed("plain", nil); err != nil {
			return nil, err
		}
	}
	c.timed, err = m.Timed("timed", c.steps.number)
	return c, err
}

// digest returns a SHA-256 digest, in hexadecimal, of the names and contents of the generated files.
func (c *code) digest() string {
	sum := sha256.New()
	for _, file := range slices.Concat(c.plain, c.timed) {
		fmt.Fprintf(sum, "%s %d\n%s", file.Name, len(file.Data), file.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (c *code) build(dir string) (binary string, err error) {
	module, err := scratch.New(dir, "bench")
	if err != nil {
		return "", err
	}
	text := deviceText
	if !c.onDevice {
		text = mainText
		if err := module.Write("plain", c.plain); err != nil {
			return "", err
		}
	}
	if err := module.Write("timed", c.timed); err != nil {
		return "", err
	}
	text = fmt.Sprintf(text, scratch.ModulePath, c.digest())
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o666); err != nil {
		return "", err
	}
	if out, err := module.Build(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(out))
	}
	return module.Binary(), nil
}

func writeWeights(m *gen.Model, name string) error {
	stored, err := m.TimedWeights()
	if err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = stored.WriteTo(file)
	return errors.Join(err, file.Close())
}

const deviceText = `// Command program measures a generated package.
package main

import (
	"bench/timed"

	"%[1]s/gen/profile/stopwatch"
	"%[1]s/runtime/gpu"
)

func main() {
	stopwatch.MainOn(%[2]q, stopwatch.DevicePackage{Lap: &timed.Lap, Open: func(weights string, watched gpu.Option) (session, model any, device *gpu.Instance, err error) {
		m, err := timed.Load(weights, watched)
		if err != nil {
			return nil, nil, nil, err
		}
		s, err := m.NewSession(nil)
		return s.Forward, m.Forward, m.Device(), err
	}})
}
`

const mainText = `// Command program measures a generated package.
package main

import (
	"bench/plain"
	"bench/timed"

	"%s/gen/profile/stopwatch"
)

func main() {
	stopwatch.Main(%q, stopwatch.Package{Open: func(weights string) (session, model any, err error) {
		m, err := plain.Load(weights)
		if err != nil {
			return nil, nil, err
		}
		s, err := m.NewSession(nil)
		return s.Forward, m.Forward, err
	}}, stopwatch.Package{Lap: &timed.Lap, Open: func(weights string) (session, model any, err error) {
		m, err := timed.Load(weights)
		if err != nil {
			return nil, nil, err
		}
		s, err := m.NewSession(nil)
		return s.Forward, m.Forward, err
	}})
}
`

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
