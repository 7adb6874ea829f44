package data

import (
	"errors"
	"math/rand/v2"

	"github.com/burngen/burngen/runtime/rt"
)

// Random returns a [rt.Stater] for a generator. [rt.SaveState] then saves the generator, so that
// resumed training shuffles in the same order as uninterrupted training.
func Random(pcg *rand.PCG) rt.Stater { return &random{pcg: pcg} }

type random struct {
	pcg  *rand.PCG
	text [20]uint8 // in PCG's binary form
}

// State registers the generator.
func (r *random) State(s *rt.State) {
	rt.StateTensor(s, "pcg", r.text[:], len(r.text))
	rt.StateFunc(s, func() error {
		if r.pcg == nil {
			return errors.New("no generator")
		}
		text, err := r.pcg.MarshalBinary()
		if err == nil && copy(r.text[:], text) != len(text) {
			err = errors.New("the generator's state does not fit")
		}
		return err
	}, func() error {
		if r.pcg == nil {
			return errors.New("no generator")
		}
		return r.pcg.UnmarshalBinary(r.text[:])
	})
}
