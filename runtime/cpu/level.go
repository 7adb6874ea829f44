package cpu

import (
	"os"
	"slices"
)

// Level is the instruction set the kernels use.
type Level int

const (
	Generic Level = iota // plain Go
	AVX2                 // amd64 with AVX2 and FMA
	AVX512               // amd64 with AVX-512 F, VL, DQ and BW
	NEON                 // arm64
)

var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String is the level's name as BURNGEN_CPU spells it.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return "unknown"
	}
	return levelNames[l]
}

// level is what every kernel's wrapper switches on.
var level = startLevel(os.Getenv("BURNGEN_CPU"))

// startLevel is the machine's best level, or the named one where the machine has it.
func startLevel(name string) Level {
	for _, l := range Levels() {
		if l.String() == name {
			return l
		}
	}
	return best()
}

// best is the highest of the machine's levels.
func best() Level {
	ls := Levels()
	return ls[len(ls)-1]
}

// CurrentLevel is the level the kernels use now.
func CurrentLevel() Level { return level }

// SetLevel makes the kernels use l, or the machine's best level where it lacks l,
// until restore is called. It is for tests: no kernel may be running.
func SetLevel(l Level) (restore func()) {
	old := level
	if level = l; !slices.Contains(Levels(), l) {
		level = best()
	}
	return func() { level = old }
}
