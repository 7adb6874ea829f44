package cpu

import (
	"errors"
	"fmt"
)

// Require returns an error that says what is not supported where got is not want.
func Require(got, want bool, what string) error {
	if got != want {
		return fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
	}
	return nil
}
