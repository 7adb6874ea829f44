//go:build !amd64 || noasm

package cpu

func quotients[T Integer](_ division, _, _, _ []T) (done int, zero bool) { return 0, false }
func quotientsScalar[T Integer](_ division, _, _ []T, _ T) (done int)    { return 0 }
