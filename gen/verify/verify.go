// Package verify compares models with references. It generates packages for folders of models, builds them into one
// program, and runs it. It compares the results with the references, within the tolerances of their element types. It
// calls generated code only through its public functions, and does not know how code is generated.
//
// A rounding tie that goes the other way in an early layer of a quantised network changes most of its outputs. A
// model with two or more quantisations is therefore compared by stages if its outputs differ from the reference. A
// stage is the part between two quantisations. Package exec runs the stages. The model passes if three conditions
// hold:
//
//   - Each stage is run on integers that the evaluator computes. It computes the same integers as the evaluator, and
//     the same outputs within the tolerances. There are two exceptions. Ties may be rounded the other way. Besides, a
//     few integers of each quantised value may be off by one: one in ten thousand, but always at least one.
//   - The whole model computes exactly the integers that its stages compute one after the other. Its outputs equal
//     the outputs of the stages within the tolerances.
//   - The outputs differ from the reference by at most twice the larger of two effects: the effect of one early
//     integer that is off by one, and the effect of all ties that are rounded the other way.
//
// The note of a model that passes in this way starts with "by stages".
package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/internal/heap"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// Mode selects the implementation that is compared with the references.
type Mode uint8

// The modes.
const (
	// Generated is the generated package, compiled and called.
	Generated Mode = iota
	// Executed is package exec, which interprets the program that would be generated.
	Executed
	// Evaluated is the evaluator of the IR, on the imported model.
	Evaluated
)

// Options configure a verification.
type Options struct {
	Mode Mode
	// Strict generates without reassociation and compares without the tolerance for it.
	Strict bool
	// Target is the back end, as in [gen.Options]. If it has a lower precision than f32, floats are
	// compared with the tolerance that follows from it.
	Target target.Target
	// WeightsDType is the type in which weights are stored, as in [gen.Options]. If it is narrower
	// than f32, floats are compared with its tolerance.
	WeightsDType ir.DType
	// Layers also compares the intermediate values that a manifest contains.
	Layers bool
	// Timeout bounds the generation and the run of each case. 0 means two minutes.
	Timeout time.Duration
	// Jobs is the number of cases that are verified at a time, except with Generated. 0 means one. With several, the
	// plain Go kernels compute what the CPU computes: the choice of the kernels is global to the process, and
	// generating changes it.
	Jobs int
	// Report, if not nil, is called with each result, in order.
	Report func(Result)
	// Progress, if not nil, is called with the stage and the number of cases done.
	Progress func(stage string, done, total int)
}

// Status says how the verification of a case ended.
type Status string

// The outcomes of the verification of a case.
const (
	Pass    Status = "pass"    // the outputs agree with the reference
	Fail    Status = "fail"    // the outputs do not agree, or the generation or the run failed
	Refused Status = "refused" // the generator, the generated code or the device does not support the model
	Ran     Status = "ran"     // the model ran, but there is no usable reference
)

// Result is the outcome of a case and its reason.
type Result struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Why is the reason of a failure or refusal, on one line.
	Why string `json:"why,omitempty"`
	// Note says what was not compared, or was compared by stages.
	Note string `json:"note,omitempty"`
}

// String returns the result in one line.
func (r Result) String() string {
	line := strings.ToUpper(string(r.Status)) + " " + r.Name
	if r.Why != "" {
		line += ": " + r.Why
	}
	if r.Note != "" {
		line += " (" + r.Note + ")"
	}
	return line
}

// Summary counts the verified cases by their outcome.
type Summary struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Refused int `json:"refused"`
	Ran     int `json:"ran"`
}

// String returns "N passed, N failed, N refused, N ran".
func (s Summary) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d refused, %d ran", s.Passed, s.Failed, s.Refused, s.Ran)
}

func (s *Summary) count(r Result) {
	switch r.Status {
	case Pass:
		s.Passed++
	case Fail:
		s.Failed++
	case Refused:
		s.Refused++
	case Ran:
		s.Ran++
	}
}

var errTimeout = errors.New("no result within the time limit")

// Run verifies cases and passes each result to o.Report, in order. It returns an error if the program of
// generated packages cannot be written or built.
func Run(cases []Case, o Options) (Summary, error) {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	v := &verifier{Options: o, cases: cases}
	if o.Mode == Generated {
		return v.generated()
	}
	if o.Jobs > 1 {
		v.sideBySide()
		return v.summary, nil
	}
	for i, c := range cases {
		o.Progress("verifying", i, len(cases))
		v.report(v.interpreted(c))
		settle()
	}
	return v.summary, nil
}

// sideBySide verifies Jobs cases at a time without generating code, and reports them in their order.
func (v *verifier) sideBySide() {
	on := v.Target
	if on == nil {
		on = target.All[0]
	}
	defer on.Plain()()
	results := make([]chan Result, len(v.cases))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	var next atomic.Int64
	for range min(v.Jobs, len(v.cases)) {
		go func() {
			for i := next.Add(1) - 1; i < int64(len(v.cases)); i = next.Add(1) - 1 {
				results[i] <- v.interpreted(v.cases[i])
			}
		}()
	}
	for i, done := range results {
		v.Progress("verifying", i, len(v.cases))
		v.report(<-done)
	}
}

type verifier struct {
	Options
	cases   []Case
	summary Summary
}

// settle returns free memory to the operating system if the heap exceeds 64 MiB, as after a large case.
func settle() {
	const large = 64 << 20
	if heap.Bytes() > large {
		debug.FreeOSMemory()
	}
}

func (v *verifier) report(r Result) {
	v.summary.count(r)
	if v.Report != nil {
		v.Report(r)
	}
}

type forward func(ctx context.Context, inputs []*onnx.Value) ([]*onnx.Value, error)

// limited runs f and returns its result. At the time limit it returns errTimeout, and f continues in its
// goroutine. A panic of f becomes an error.
func limited[T any](limit time.Duration, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.err = &panicked{r}
			}
			done <- o
		}()
		o.value, o.err = f()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-timer.C:
		var none T
		return none, errTimeout
	}
}

type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// refusal returns the result of a case whose package could not be generated. The result is failed if the generator
// panicked or timed out, and refused otherwise.
func refusal(name string, err error) Result {
	r := Result{Name: name, Status: Refused, Why: oneLine(err)}
	var p *panicked
	if errors.As(err, &p) || errors.Is(err, errTimeout) {
		r.Status = Fail
	}
	return r
}

func oneLine(err error) string {
	first, rest, more := strings.Cut(err.Error(), "\n")
	if more {
		first += fmt.Sprintf(" (and %d more)", strings.Count(rest, "\n")+1)
	}
	return first
}

func (v *verifier) weights() ir.DType {
	if v.Mode == Evaluated {
		return ir.Invalid
	}
	return v.WeightsDType
}

// options returns the generator's options for a case. With Layers, the intermediate values in its
// manifest become outputs.
func (v *verifier) options(c Case) (gen.Options, error) {
	o := gen.Options{Target: v.Target, Strict: v.Strict, WeightsDType: v.WeightsDType}
	if !v.Layers {
		return o, nil
	}
	if m, err := readManifest(c.Dir); err == nil {
		src, err := onnx.Open(c.model(), onnx.Options{})
		if err != nil {
			return o, err
		}
		p := portsOf(src.Module.Func("forward"), src.Operators)
		for _, r := range p.results {
			o.Outputs = append(o.Outputs, r.name)
		}
		for _, name := range m.layers() {
			if p.result(name) < 0 {
				o.Outputs = append(o.Outputs, name)
			}
		}
	}
	return o, nil
}

func (v *verifier) interpreted(c Case) Result {
	type loaded struct {
		ports *ports
		run   forward
	}
	l, err := limited(v.Timeout, func() (l loaded, err error) {
		o, err := v.options(c)
		if err != nil {
			return l, err
		}
		if v.Mode == Evaluated {
			src, err := onnx.Open(c.model(), onnx.Options{Outputs: o.Outputs})
			if err != nil {
				return l, err
			}
			p := portsOf(src.Module.Func("forward"), src.Operators)
			return loaded{p, evaluated(src)}, nil
		}
		m, err := gen.Load(c.model(), o)
		if err != nil {
			return l, err
		}
		p := portsOf(m.Source.Func(), m.Source.Operators)
		p.rounding = m.Rounding()
		return loaded{p, executed(m)}, nil
	})
	if err != nil {
		return refusal(c.Name, err)
	}
	return v.verify(c, l.ports, l.run)
}

func evaluated(src *onnx.Model) forward {
	e := &ir.Evaluator{Module: src.Module}
	f := src.Module.Func("forward")
	return func(_ context.Context, inputs []*onnx.Value) ([]*onnx.Value, error) {
		args := make([]*ir.Tensor, len(inputs))
		for i, v := range inputs {
			args[i] = toIR(v, f.Params[i].Type)
		}
		results, err := e.Run(f, args)
		var out []*onnx.Value
		for _, r := range results {
			out = append(out, fromIR(r))
		}
		return out, err
	}
}

func executed(m *gen.Model) forward {
	f := m.Forward.IR
	return func(_ context.Context, inputs []*onnx.Value) ([]*onnx.Value, error) {
		var slices []any
		var shapes [][]int
		for i, v := range inputs {
			arg, shape, err := toGo(v, f.Params[i].Type)
			if err != nil {
				return nil, err
			}
			slices, shapes = append(slices, arg), append(shapes, shape)
		}
		results, outShapes, err := m.Run(slices, shapes)
		if err != nil {
			return nil, err
		}
		var out []*onnx.Value
		for i, r := range results {
			v, err := fromGo(f.Results[i].Type, outShapes[i], r)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
}

// generated verifies the cases with one program that contains all their packages.
func (v *verifier) generated() (Summary, error) {
	dir, err := temporary.Folder("")
	if err != nil {
		return v.summary, err
	}
	defer temporary.Remove(dir)
	p, err := newProgram(dir)
	if err != nil {
		return v.summary, err
	}
	results, all, err := v.generate(p)
	if err != nil {
		return v.summary, err
	}
	child := &child{binary: p.Binary()}
	defer child.close()
	if len(p.packages) > 0 {
		v.Progress("building", 0, 1)
		broken, err := p.build()
		if err != nil {
			return v.summary, err
		}
		for i, why := range broken {
			results[i] = &Result{Name: v.cases[i].Name, Status: Fail, Why: why}
		}
	}
	position := map[int]int{}
	for at, k := range p.packages {
		position[k.index] = at
	}
	for i, c := range v.cases {
		v.Progress("running", i, len(v.cases))
		if r := results[i]; r != nil {
			v.report(*r)
			continue
		}
		ports := all[i]
		v.report(v.verify(c, ports, func(ctx context.Context, inputs []*onnx.Value) ([]*onnx.Value, error) {
			return call(ctx, child, position[i], ports, inputs)
		}))
	}
	return v.summary, nil
}

// generate writes the packages of all cases one after the other, because the generator changes which kernels the
// whole process uses. Both results have an element for each case. If a case has no package, its element of the first
// list is its result. If a case has a package, its element of the second list has the ports. All other elements are
// nil.
func (v *verifier) generate(p *program) ([]*Result, []*ports, error) {
	results, all := make([]*Result, len(v.cases)), make([]*ports, len(v.cases))
	taken := map[string]bool{}
	room := int64(maxEmbedded)
	for i, c := range v.cases {
		v.Progress("generating", i, len(v.cases))
		name := packageName(c.Name, taken)
		left := room // a case that timed out continues beside the next ones
		g, err := limited(v.Timeout, func() (*generation, error) { return v.generateOne(c, name, left) })
		if err != nil {
			r := refusal(c.Name, err)
			results[i] = &r
			continue
		}
		all[i] = g.ports
		if err := p.add(name, i, g.files, g.embedded); err != nil {
			return nil, nil, err
		}
		if g.embedded {
			room -= g.size
		}
		g = nil
		settle()
	}
	return results, all, nil
}

func call(ctx context.Context, c *child, index int, p *ports, inputs []*onnx.Value) ([]*onnx.Value, error) {
	q := harness.Request{Case: index}
	for i, in := range inputs {
		q.Inputs = append(q.Inputs, send(in, p.params[i].Type))
	}
	r, err := c.call(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case r.Err != "":
		return nil, &callError{r.Err, r.Panicked, r.Unsupported}
	case len(r.Outputs) != len(p.results):
		return nil, fmt.Errorf("%d outputs, the model has %d", len(r.Outputs), len(p.results))
	}
	out := make([]*onnx.Value, len(r.Outputs))
	for i, o := range r.Outputs {
		if out[i], err = receive(o, p.results[i].typ); err != nil {
			return nil, fmt.Errorf("output %q: %w", p.results[i].name, err)
		}
	}
	return out, nil
}

// callError is an error that generated code returned.
type callError struct {
	text                  string
	panicked, unsupported bool
}

func (e *callError) Is(target error) bool {
	return e.unsupported && target == errors.ErrUnsupported
}

func (e *callError) Error() string { return e.text }
