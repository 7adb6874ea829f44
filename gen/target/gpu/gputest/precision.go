package gputest

import (
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
)

// InPrecisions runs a test of a target in each precision below f32.
func InPrecisions(t *testing.T, x gpu.Target, test func(t *testing.T, x gpu.Target)) {
	for p := range gpu.Precisions {
		if x.Precision = gpu.Precision(p); x.Precision != gpu.F32 {
			t.Run(x.Precision.String(), func(t *testing.T) { test(t, x) })
		}
	}
}
