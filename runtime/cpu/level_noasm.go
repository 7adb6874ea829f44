//go:build (!amd64 && !arm64) || noasm

package cpu

// Levels lists the only level there is without assembly.
func Levels() []Level { return []Level{Generic} }
