package learn

import (
	"context"

	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// Trainer is the trainer of a model. Every generated Trainer implements it.
type Trainer interface {
	rt.Stater
	// Params returns the parameters that are trained, and their gradients.
	Params() *rt.Params
	// SetContext sets the context of the calls that follow.
	SetContext(ctx context.Context)
}

// Optimizer is an optimizer with its learning rate. Two optimizers of a run must not share a
// parameter. With the same patterns, [rt.Params.Match] and [rt.Params.Except] return two subsets
// that do not share any.
type Optimizer struct {
	Of     optim.Optimizer
	Rate   optim.Schedule // the learning rate of a step, from 0
	Factor *Reducer       // multiplies Rate; nil is 1
}
