//go:build (!amd64 && !arm64 && !(wasm && simd128)) || noasm

package cpu

// level is a constant here. The linker can therefore leave out code that needs assembly.
const level = Generic

// Levels returns Generic, the only level without assembly.
func Levels() []Level { return []Level{Generic} }

// SetLevel does nothing, because there is only one level.
func SetLevel(Level) (restore func()) { return func() {} }
