package gpu_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/targettest"
)

// TestAgree compares interpreted kernels, and what the host computes, with the definitions.
func TestAgree(t *testing.T) {
	targettest.Agree(t, interpreted)
}
