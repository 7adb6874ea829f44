package data

import (
	"errors"
	"math/rand/v2"

	"github.com/burngen/burngen/runtime/rt"
)

// Random makes a generator a part of what [rt.SaveState] saves, so that training which
// goes on later shuffles as it would have.
func Random(pcg *rand.PCG) rt.Stater { return &random{pcg: pcg} }

type random struct {
	pcg  *rand.PCG
	text [20]uint8 // as PCG writes itself
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
