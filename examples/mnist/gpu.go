//go:build gpu

package main

import (
	"os"

	"github.com/burngen/burngen/examples/mnist/cnn/auto"
)

// The packages for GPUs are large and not in the repository. "go generate -tags gpu" writes them beside the
// package for the CPU.

//go:generate go run ../../cmd/burngen ./model -train -set Classes=10 -o ./cnn -target auto

// With the tag gpu, the program chooses a target at run time. See cpu.go for a build without the tag.
type (
	model   = auto.Model
	trainer = auto.Trainer
)

// firstTarget is the default of -target: the first target that the machine has.
const firstTarget = "auto"

// newModel returns a model with initial weights for a target.
func newModel(seed uint64, target string) (model, error) {
	if target != firstTarget {
		os.Setenv("BURNGEN_TARGET", target)
	}
	return auto.New(seed)
}
