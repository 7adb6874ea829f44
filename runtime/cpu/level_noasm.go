//go:build (!amd64 && !arm64) || noasm

package cpu

// level is a constant, so that what needs assembly is not linked.
const level = Generic

// Levels lists the only level there is without assembly.
func Levels() []Level { return []Level{Generic} }

// SetLevel does nothing, for there is one level.
func SetLevel(Level) (restore func()) { return func() {} }
