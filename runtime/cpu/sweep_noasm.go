//go:build !amd64 || noasm

package cpu

func compareFast[T any](_ []T, _ relation) (s sweep, ok bool) { return s, false }
func whereFast[T any](_ []T) (s sweep, ok bool)               { return s, false }
func convertFast[D, S any](_ []D, _ []S) int                  { return 0 }
