package exec

import (
	"context"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Target makes steps and runs them.
type Target interface {
	program.Target
	Runner
}

// Prepared prepares the weights of a lowered module, and returns a machine for one of its functions. `prepare` is the
// name of the function that prepares the weights. `function` is the name of the function that the machine runs. The
// raw weights of the module must have data. Prepared returns an error if a function cannot be compiled or preparing
// fails.
func Prepared(t Target, m *ir.Module, prepare, function string) (*Machine, error) {
	weights := rt.NewWeights()
	first, err := program.Compile(m, prepare, t)
	if err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, name := range first.IR.ResultNames {
		made[name] = true
	}
	for _, w := range m.Weights {
		if !made[w.Name] {
			AddWeight(weights, w)
		}
	}
	results, shapes, err := New(first, t, Weights(weights)).Run(context.Background(), nil, nil)
	if err != nil {
		return nil, err
	}
	for i, name := range first.IR.ResultNames {
		AddTo(weights, name, first.IR.Results[i].Type.DType, results[i], shapes[i])
	}
	if err := weights.Err(); err != nil {
		return nil, err
	}
	then, err := program.Compile(m, function, t)
	if err != nil {
		return nil, err
	}
	return New(then, t, Weights(weights)), nil
}
