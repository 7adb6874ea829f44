package rt

import (
	"fmt"
	"slices"
)

// CheckItem returns an error unless shape, the shape of an element of a sequence or optional,
// matches want. An [AnyDim] in want matches any extent. A nil want matches any shape.
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

// CheckSequence returns an error if the data of a tensor in seq does not match its shape, or if
// [CheckItem] does not accept the shape. want is the argument of CheckItem.
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

// CheckOptional checks the tensor of an optional. It checks the tensor in the same way as
// [CheckSequence] checks an element. A nil x is valid.
func CheckOptional[T any](where string, x *Tensor[T], want []int) error {
	if x == nil {
		return nil
	}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return CheckItem(where, x.Shape, want)
}

// CheckOptionalSequence applies [CheckSequence] to the sequence of an optional. A nil seq is valid.
func CheckOptionalSequence[T any](where string, seq *[]Tensor[T], want []int) error {
	if seq == nil {
		return nil
	}
	return CheckSequence(where, *seq, want)
}
