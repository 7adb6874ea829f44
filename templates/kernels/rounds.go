package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Rounds repeats launches. All launches with the same Rounds run one after the other, and this sequence runs Count
// times. They must be adjacent in the list of a node's launches. A kernel reads the number of the current round from
// [Emitter.Round].
type Rounds struct{ Count dim.Dim }

// Repeat sets the Rounds of all launches to r. It returns launches and err unchanged. So it can be called directly
// with the results of a function that builds launches.
func (r *Rounds) Repeat(launches []Launch, err error) ([]Launch, error) {
	for i := range launches {
		launches[i].Rounds = r
	}
	return launches, err
}

// Round returns the number of the round as an i32. Rounds count from 0. The launch must have [Rounds].
func (e *Emitter) Round() *kernel.Value {
	if e.round == nil {
		e.round = e.Scalar("round", ir.I32)
		e.args = append(e.args, Arg{Round: true})
	}
	return e.round
}
