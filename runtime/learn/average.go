package learn

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// Average is an exponential moving average of the trained weights: after each step, the average a of
// a weight w becomes decay·a + (1-decay)·w. It begins with the initial weights. Validation and tests
// of a run use the averages, and [Run.LoadBest] loads them. Running statistics, such as those of
// batch normalisation, are not averaged. Averages take as much memory as the parameters, on the host.
type Average struct {
	decay  float64
	params *rt.Params
	mean   []float32
}

// EMA returns an average with a decay, such as 0.999. [New] returns an error unless 0 < decay < 1.
func EMA(decay float64) *Average { return &Average{decay: decay} }

// bindTo begins to average the parameters p. It returns an error unless 0 < decay < 1.
func (a *Average) bindTo(p *rt.Params) error {
	if a == nil || a.params == p {
		return nil
	}
	if !(a.decay > 0 && a.decay < 1) {
		return fmt.Errorf("average: decay %g: between 0 and 1 expected", a.decay)
	}
	if err := p.Fetch(); err != nil {
		return fmt.Errorf("average: %w", err)
	}
	a.params, a.mean = p, append([]float32(nil), p.Data...)
	return nil
}

func (a *Average) update() error {
	if a == nil {
		return nil
	}
	if err := a.params.Fetch(); err != nil {
		return fmt.Errorf("average: %w", err)
	}
	part := float32(1 - a.decay)
	for i, w := range a.params.Data {
		a.mean[i] += float32(part * (w - a.mean[i]))
	}
	return nil
}

func (a *Average) swap() error {
	if a == nil {
		return nil
	}
	if err := a.params.Fetch(); err != nil {
		return fmt.Errorf("average: %w", err)
	}
	for i, w := range a.params.Data {
		a.params.Data[i], a.mean[i] = a.mean[i], w
	}
	return nil
}

// Use sets the trained weights to their averages. Call it after a run to infer with the averages, or
// to save a model with them. It does nothing if a is nil or no run has begun. It returns an error if
// the weights cannot be copied from the device that trains.
func (a *Average) Use() error {
	if a == nil || a.params == nil {
		return nil
	}
	if err := a.params.Fetch(); err != nil {
		return fmt.Errorf("average: %w", err)
	}
	copy(a.params.Data, a.mean)
	return nil
}

// State registers the averages.
func (a *Average) State(s *rt.State) { rt.StateTensor(s, "mean", a.mean, len(a.mean)) }
