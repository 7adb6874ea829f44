package verify

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// ErrNoReferences is the error for a case that has no reference data: no arguments with expected results.
var ErrNoReferences = errors.New("no references")

// Arguments returns the arguments of the first call in the references of a case. There is an argument for each input
// of the model m. Arguments returns [ErrNoReferences] if the case has no references. It returns another error if the
// references are broken or an argument is not a tensor.
func (c Case) Arguments(m *onnx.Model) ([]*ir.Tensor, error) {
	p := portsOf(m.Module.Func("forward"), m.Operators)
	trials, err := c.trials(p)
	if err != nil {
		return nil, err
	}
	if len(trials) == 0 {
		return nil, ErrNoReferences
	}
	t := trials[0]
	args := make([]*ir.Tensor, len(t.inputs))
	for i, v := range t.inputs {
		if f := t.frames[i]; f != nil {
			args[i] = frame(f, 0)
		} else {
			args[i] = v.Tensor
		}
		if args[i] == nil {
			return nil, fmt.Errorf("input %q: not a tensor", p.params[i].Name)
		}
	}
	return args, nil
}

// Compare returns a text that says how the outputs of a model differ from the outputs of another program. It returns
// "" if they agree within the tolerances of their element types. It ignores output i if want[i] is nil.
func Compare(m *onnx.Model, got, want []*ir.Tensor) string {
	p := portsOf(m.Module.Func("forward"), m.Operators)
	if len(got) != len(p.results) || len(want) != len(p.results) {
		return fmt.Sprintf("%d and %d outputs, the model has %d", len(got), len(want), len(p.results))
	}
	j := &judge{ports: p}
	for i, r := range p.results {
		if want[i] == nil {
			continue
		}
		w := trialOf(want[i])
		w.name, w.output = r.name, i
		if why := j.check(&onnx.Value{Tensor: got[i]}, w); why != "" {
			return why
		}
	}
	return ""
}

// Evaluate computes the outputs of a model with the evaluator. An output that is not a tensor is nil. Evaluate
// returns an error if an operator fails.
func Evaluate(m *onnx.Model, args []*ir.Tensor) ([]*ir.Tensor, error) {
	e := &ir.Evaluator{Module: m.Module}
	out, err := e.Run(m.Module.Func("forward"), args)
	if err != nil {
		return nil, err
	}
	for i, t := range out {
		if t.Kind != ir.TensorKind {
			out[i] = nil
		}
	}
	return out, nil
}
