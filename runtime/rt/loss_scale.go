package rt

import (
	"fmt"
	"math"
)

// lossScale is the factor by which training in f16 multiplies the gradient of the loss. Without it, small gradients
// would be rounded to zero. The gradients of the parameters are divided by it afterwards. The scale is a power of
// two. If a gradient is not finite, the step is skipped and the scale is halved. After growthSteps steps with
// finite gradients, the scale is doubled, up to 2^maxExponent (Micikevicius and others, "Mixed Precision Training",
// ICLR 2018).
type lossScale struct {
	exponent int64
	steps    int64      // since the scale was last changed
	isKept   bool       // the scale was restored from a state
	factors  [2]float32 // the memory of pair
}

const (
	firstExponent               = 16
	minExponent, maxExponent    = -24, 24
	growthSteps                 = 2000
	lossScaleName               = "training/loss_scale"
	exponentAt, stepsAt, inFile = 0, 1, 2 // indices of the elements in a state, and their number
)

func (s *lossScale) value() float64 { return math.Ldexp(1, int(s.exponent)) }

// pair returns the scale and its inverse. The next call overwrites the slice.
func (s *lossScale) pair() []float32 {
	s.factors = [2]float32{float32(s.value()), float32(1 / s.value())}
	return s.factors[:]
}

// adapt changes the scale after a step. isFinite says whether all gradients were finite. If one was not and the
// scale has its smallest value, adapt returns an error.
func (s *lossScale) adapt(isFinite bool) error {
	s.steps++
	switch {
	case !isFinite && s.exponent == minExponent:
		return fmt.Errorf("gradients are not finite, although the loss is multiplied by %g: activations exceed f16, or training diverges", s.value())
	case !isFinite:
		s.exponent, s.steps = s.exponent-1, 0
	case s.steps == growthSteps:
		s.exponent, s.steps = min(s.exponent+1, maxExponent), 0
	}
	return nil
}

// register registers the scale for saving and restoring. isUsed says whether the trainer uses a scale. A trainer that
// does not use one still keeps a restored scale, and saves it again. Restoring a state without a scale leaves the
// scale unchanged.
func (s *lossScale) register(state *State, isUsed bool) {
	state.vars = append(state.vars, variable{
		name:     lossScaleName,
		isAbsent: func() bool { return !isUsed && !s.isKept },
		add: func(w *Weights, name string) {
			Add(w, name, []int64{exponentAt: s.exponent, stepsAt: s.steps}, inFile)
		},
		read: func(w *Weights, name string) (func(), error) {
			stored, err := read[int64](w, name, []int{inFile})
			if err == nil && (stored[exponentAt] < minExponent || stored[exponentAt] > maxExponent || stored[stepsAt] < 0 || stored[stepsAt] >= growthSteps) {
				err = fmt.Errorf("a loss scale of 2^%d after %d steps", stored[exponentAt], stored[stepsAt])
			}
			return func() { s.exponent, s.steps, s.isKept = stored[exponentAt], stored[stepsAt], true }, err
		},
	})
}
