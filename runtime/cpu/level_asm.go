//go:build (amd64 || arm64 || (wasm && simd128)) && !noasm

package cpu

import (
	"os"
	"slices"
)

// level is the current level, on which every kernel's wrapper switches.
var level = startLevel(os.Getenv("BURNGEN_CPU"))

// startLevel returns the level called `name` if the machine supports it, and otherwise the
// machine's best level.
func startLevel(name string) Level {
	for _, l := range Levels() {
		if l.String() == name {
			return l
		}
	}
	return best()
}

// SetLevel makes the kernels use level l until `restore` is called. If the machine does not support
// l, the kernels use the machine's best level. SetLevel is for tests. It must not be called while a
// kernel is running.
func SetLevel(l Level) (restore func()) {
	old := level
	if level = l; !slices.Contains(Levels(), l) {
		level = best()
	}
	return func() { level = old }
}
