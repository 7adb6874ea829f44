//go:build !amd64 || noasm

package cpu

// best is the only level there is without assembly.
func best() Level { return Generic }
