package images

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// Transform changes a sample. A transform is a value without state. Several goroutines may apply
// the same transform at once, to different samples. The transforms of this package document which
// library they agree with.
type Transform interface {
	// Apply changes s. It draws from r only, so that equal generators give equal results. It returns
	// an error if s has no picture, r is nil, or the transform's settings are not valid; s is then
	// unchanged, or changed in part.
	Apply(s *Sample, r *rand.Rand) error
}

// Sequence applies transforms, one after the other.
type Sequence []Transform

// Apply implements [Transform].
func (t Sequence) Apply(s *Sample, r *rand.Rand) error {
	for i, each := range t {
		if each == nil {
			return fmt.Errorf("transform %d of %d is nil", i+1, len(t))
		}
		if err := each.Apply(s, r); err != nil {
			return err
		}
	}
	return nil
}

// Maybe applies a transform with a probability.
type Maybe struct {
	P  float64 // from 0 to 1
	Of Transform
}

// Apply implements [Transform].
func (t Maybe) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("maybe", r); err != nil {
		return err
	}
	if t.Of == nil {
		return errors.New("maybe: no transform")
	}
	happens, err := chance(r, t.P)
	if err != nil {
		return fmt.Errorf("maybe: %w", err)
	}
	if !happens {
		return nil
	}
	return t.Of.Apply(s, r)
}

// chance returns true with probability p. It draws one number from r. It returns an error if p is
// not a probability.
func chance(r *rand.Rand, p float64) (bool, error) {
	if !(p >= 0 && p <= 1) {
		return false, fmt.Errorf("probability %g: from 0 to 1 expected", p)
	}
	return r.Float64() < p, nil
}

func uniform(r *rand.Rand, from, to float64) float64 { return from + float64(r.Float64()*(to-from)) }

// checkRange returns an error unless lowest ≤ r[0] ≤ r[1] ≤ highest. The error calls the range
// `name`.
func checkRange(name string, r [2]float64, lowest, highest float64) error {
	if !(lowest <= r[0] && r[0] <= r[1] && r[1] <= highest) {
		return fmt.Errorf("%s from %g to %g: from %g to %g expected", name, r[0], r[1], lowest, highest)
	}
	return nil
}

// or returns r, or otherwise if r is zero.
func or(r, otherwise [2]float64) [2]float64 {
	if r == ([2]float64{}) {
		return otherwise
	}
	return r
}
