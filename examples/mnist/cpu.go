//go:build !gpu

package main

import (
	"fmt"

	"github.com/burngen/burngen/examples/mnist/cnn"
)

// Without the tag gpu, the program has only the package for the CPU. With the tag, the program has the packages of
// all targets: see gpu.go.
type (
	model   = *cnn.Model
	trainer = *cnn.Trainer
)

const firstTarget = "cpu"

// newModel returns a model with initial weights. target must be cpu.
func newModel(seed uint64, target string) (model, error) {
	if target != firstTarget {
		return nil, fmt.Errorf("-target %s: this program has the CPU only; for GPUs, run go generate -tags gpu and go run -tags gpu", target)
	}
	return cnn.New(seed), nil
}
