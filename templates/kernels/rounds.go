package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Rounds repeats launches: all launches with the same Rounds run one after the other, Count times. They are adjacent
// in the list of a node's launches. Kernels learn the number of a round from [Emitter.Round].
type Rounds struct{ Count dim.Dim }

// Repeat sets the rounds of launches to r. It returns launches and err, the error of building them, so that it can be
// called with the results of a builder.
func (r *Rounds) Repeat(launches []Launch, err error) ([]Launch, error) {
	for i := range launches {
		launches[i].Rounds = r
	}
	return launches, err
}

// Round returns the number of the round as an i32, which counts from 0. The launch must have [Rounds].
func (e *Emitter) Round() *kernel.Value {
	if e.round == nil {
		e.round = e.Scalar("round", ir.I32)
		e.args = append(e.args, Arg{Round: true})
	}
	return e.round
}
