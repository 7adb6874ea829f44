package rt

import (
	"fmt"
	"slices"
)

// CheckItem checks the shape of a container's element against want, where [AnyDim]
// takes any extent, and a nil want any shape.
func CheckItem(where string, shape, want []int) error {
	if want == nil {
		return nil
	}
	fits := func(n, w int) bool { return n == w || w == AnyDim }
	if !slices.EqualFunc(shape, want, fits) {
		return fmt.Errorf("%s: shape %v: %s expected", where, slices.Clone(shape), (&Symbols{}).format(want))
	}
	return nil
}

// CheckSequence checks the tensors of a sequence: that their data fills their
// shapes, and that these are as [CheckItem] wants them.
func CheckSequence[T any](where string, seq []Tensor[T], want []int) error {
	for i, t := range seq {
		if err := t.Check(); err != nil {
			return fmt.Errorf("%s: element %d: %w", where, i, err)
		}
		if err := CheckItem(fmt.Sprintf("%s: element %d", where, i), t.Shape, want); err != nil {
			return err
		}
	}
	return nil
}

// CheckOptional is [CheckSequence] of the one tensor of an optional, if it has one.
func CheckOptional[T any](where string, x *Tensor[T], want []int) error {
	if x == nil {
		return nil
	}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return CheckItem(where, x.Shape, want)
}

// CheckOptionalSequence is [CheckSequence] of the sequence of an optional, if it has
// one.
func CheckOptionalSequence[T any](where string, seq *[]Tensor[T], want []int) error {
	if seq == nil {
		return nil
	}
	return CheckSequence(where, *seq, want)
}
