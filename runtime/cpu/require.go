package cpu

import "errors"

// Require returns an error that says what is wrong where got is not want.
func Require(got, want bool, what string) error {
	if got != want {
		return errors.New(what)
	}
	return nil
}
