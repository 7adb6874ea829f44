package cpu

import (
	"errors"
	"fmt"
)

// Require returns an error unless got is want. The error names the unsupported feature.
func Require(got, want bool, what string) error {
	if got != want {
		return fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
	}
	return nil
}
