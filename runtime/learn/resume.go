package learn

import "fmt"

// Resumption is the behaviour of a run whose folder has a run already.
type Resumption int

const (
	// Refuse makes Fit return an error.
	Refuse Resumption = 0
	// Continue goes on where the last saved state ends. It begins anew if nothing was saved.
	Continue Resumption = -1
	// Fresh deletes the files of the old run and begins anew. Files that a run does not write stay.
	Fresh Resumption = -2
)

// From returns the Resumption that goes on after an epoch whose checkpoint is kept. Epochs count
// from 1, as in the names of the files. [New] refuses an epoch below 1.
func From(epoch int) Resumption {
	if epoch < 1 {
		return Fresh - 1 // which New refuses
	}
	return Resumption(epoch)
}

// String returns the name, as in a program.
func (r Resumption) String() string {
	switch {
	case r == Refuse:
		return "Refuse"
	case r == Continue:
		return "Continue"
	case r == Fresh:
		return "Fresh"
	case r > 0:
		return fmt.Sprintf("From(%d)", int(r))
	}
	return "invalid"
}
