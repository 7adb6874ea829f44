package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

func (v *verifier) verify(c Case, p *ports, run forward) Result {
	r := Result{Name: c.Name, Status: Ran}
	fail := func(format string, args ...any) Result {
		return Result{Name: c.Name, Status: Fail, Why: oneLine(fmt.Errorf(format, args...))}
	}
	trials, err := c.trials(p)
	if err != nil {
		return fail("reference: %w", err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(v.Timeout))
	defer cancel()
	if v.Mode != Generated {
		run = v.guarded(run)
	}
	if len(trials) == 0 {
		return v.unreferenced(ctx, r, p, run)
	}
	compared := 0
	var notes []string
	for _, t := range trials {
		where := ""
		if len(trials) > 1 {
			where = t.name + ": "
		}
		j := &judge{ports: p, strict: v.Strict, weights: v.weights(), eval: func() ([]*onnx.Value, error) { return c.evaluate(ctx, t) }}
		outputs, err := t.run(ctx, run)
		if errors.Is(err, errors.ErrUnsupported) {
			return Result{Name: c.Name, Status: Refused, Why: oneLine(err)}
		}
		if err != nil {
			return fail("%s%w", where, err)
		}
		var differ []want
		first := ""
		for _, w := range t.wants {
			got, err := outputs.of(w)
			if err != nil {
				return fail("%soutput %q: %w", where, w.name, err)
			}
			if why := j.check(got, w); why != "" {
				if differ = append(differ, w); first == "" {
					first = why
				}
			}
			compared++
		}
		if len(differ) == 0 {
			continue
		}
		note, err := v.byStages(ctx, c, t, j, outputs.last(), differ)
		switch {
		case err != nil:
			return fail("%s%s; by stages: %w", where, first, err)
		case note == "":
			return fail("%s%s", where, first)
		}
		notes = append(notes, where+note)
	}
	if compared > 0 {
		r.Status = Pass
	}
	var random []string
	for _, port := range p.results {
		if port.random {
			random = append(random, fmt.Sprintf("%q", port.name))
		}
	}
	if random != nil {
		notes = append(notes, "random: "+strings.Join(random, ", ")+" by type and shape")
	}
	r.Note = strings.Join(notes, "; ")
	return r
}

// guarded returns a function that calls `run` with a time limit. It turns a panic into an error. guarded is for
// code that runs in this process.
func (v *verifier) guarded(run forward) forward {
	return func(ctx context.Context, inputs []*onnx.Value) ([]*onnx.Value, error) {
		deadline, _ := ctx.Deadline()
		return limited(time.Until(deadline), func() ([]*onnx.Value, error) { return run(ctx, inputs) })
	}
}

// unreferenced runs a model without references on synthetic arguments. The result is a failure if the
// code panics, crashes or times out, but not if it rejects the arguments.
func (v *verifier) unreferenced(ctx context.Context, r Result, p *ports, run forward) Result {
	args, err := p.madeUp()
	if err == nil {
		_, err = run(ctx, args)
	}
	if err == nil {
		return r
	}
	var inCall *callError
	var inRun *panicked
	var caught *rt.PanicError
	r.Why = oneLine(err)
	switch {
	case errors.As(err, &inRun), errors.As(err, &caught), errors.Is(err, errTimeout), strings.HasPrefix(r.Why, "crashed: "):
		r.Status = Fail
	case errors.As(err, &inCall) && inCall.panicked:
		r.Status = Fail
	}
	return r
}

// evaluate computes a trial with the evaluator. It returns an error if the trial has several calls.
func (c Case) evaluate(ctx context.Context, t trial) ([]*onnx.Value, error) {
	if t.calls > 1 {
		return nil, errors.New("not for streams")
	}
	src, err := onnx.Open(c.model(), onnx.Options{})
	if err != nil {
		return nil, err
	}
	out, err := t.run(ctx, evaluated(src))
	if err != nil {
		return nil, err
	}
	return out.last(), nil
}

type outputs struct {
	calls  [][]*onnx.Value
	stream bool
}

func (o outputs) last() []*onnx.Value { return o.calls[len(o.calls)-1] }

// of returns the output to compare with w. It is the output of the last call. If the arguments differ between the
// calls and w is about all calls, it is the stack of the outputs of all calls.
func (o outputs) of(w want) (*onnx.Value, error) {
	if w.last || !o.stream {
		return o.last()[w.output], nil
	}
	return stack(o.calls, w.output)
}

func (t trial) run(ctx context.Context, run forward) (outputs, error) {
	out := outputs{stream: len(t.frames) > 0}
	inputs := slices.Clone(t.inputs)
	for k := range t.calls {
		for i, f := range t.frames {
			inputs[i] = &onnx.Value{Tensor: frame(f, k)}
		}
		results, err := run(ctx, inputs)
		if err != nil {
			if t.calls > 1 {
				err = fmt.Errorf("call %d: %w", k, err)
			}
			return out, err
		}
		for from, to := range t.state {
			inputs[to] = results[from]
		}
		out.calls = append(out.calls, results)
	}
	return out, nil
}

func frame(t *ir.Tensor, k int) *ir.Tensor {
	f := ir.NewTensor(t.DType, t.Shape[1:]...)
	n := f.Len()
	for i := range n {
		f.Copy(i, t, k*n+i)
	}
	return f
}

func stack(steps [][]*onnx.Value, i int) (*onnx.Value, error) {
	first := steps[0][i].Tensor
	if first == nil {
		return nil, errors.New("a stream of values that are not tensors")
	}
	all := ir.NewTensor(first.DType, append([]int{len(steps)}, first.Shape...)...)
	n := first.Len()
	for k, s := range steps {
		t := s[i].Tensor
		if t == nil || t.DType != first.DType || t.Len() != n {
			return nil, fmt.Errorf("call %d: another type", k)
		}
		for e := range n {
			all.Copy(k*n+e, t, e)
		}
	}
	return &onnx.Value{Tensor: all}, nil
}
