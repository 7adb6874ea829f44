package images

import "fmt"

// Split is a part of a data set that others use in the same way.
type Split int

const (
	Train Split = iota // for training
	Test               // for evaluation
)

// check returns an error for other values.
func (s Split) check() error {
	if s != Train && s != Test {
		return fmt.Errorf("split %d: Train or Test expected", s)
	}
	return nil
}
