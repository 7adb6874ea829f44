//go:build !gpu

package main

import (
	"fmt"

	"github.com/burngen/burngen/examples/text/gpt"
)

// model is the package for the CPU, the only one in a program built without the tag gpu. See gpu.go.
type model = *gpt.Model

const firstTarget = "cpu"

// newModel returns a model with initial weights. target must be cpu.
func newModel(seed uint64, target string) (model, error) {
	if target != firstTarget {
		return nil, fmt.Errorf("-target %s: this program has the CPU only; for GPUs, run go generate -tags gpu and go run -tags gpu", target)
	}
	return gpt.New(seed), nil
}
