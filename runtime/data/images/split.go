package images

import "fmt"

// Split selects a part of a data set whose authors have divided it.
type Split int

const (
	Train Split = iota // for training
	Test               // for evaluation
)

// check returns an error unless s is one of the package's splits.
func (s Split) check() error {
	if s != Train && s != Test {
		return fmt.Errorf("split %d: Train or Test expected", s)
	}
	return nil
}
