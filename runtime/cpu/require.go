package cpu

import (
	"errors"
	"fmt"
)

// Require returns an error that names the unsupported feature if got is not want.
func Require(got, want bool, what string) error {
	if got != want {
		return fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
	}
	return nil
}
