package cpu

import (
	"errors"
	"fmt"
)

// Require returns nil if got equals want. Otherwise it returns an error that wraps
// [errors.ErrUnsupported] and says that `what`, a feature, is not supported.
func Require(got, want bool, what string) error {
	if got != want {
		return fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
	}
	return nil
}
