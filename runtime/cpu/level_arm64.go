//go:build !noasm

package cpu

// Levels lists the levels that the processor supports. The slowest comes first. Every arm64
// processor that Go runs on has NEON.
func Levels() []Level { return []Level{Generic, NEON} }
