package testmodels

import (
	"os/exec"
	"testing"

	"github.com/burngen/burngen/internal/itself"
)

// TestFresh asserts that the packages are what burngen writes now.
func TestFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	itself.Need(t)
	c := exec.Command("go", "run", "./cmd/burngen", "examples/digits/digits.onnx", "-o", "runtime/serve/internal/testmodels/digits", "-serve", "-weights-keep", "raw", "-check")
	c.Dir = "../../../.."
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("run go generate: %v\n%s", err, out)
	}
}
