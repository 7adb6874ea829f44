package exec

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed table of kernels must be what its generator writes.
func TestKernelsAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	file := filepath.Join(t.TempDir(), "kernels.go")
	if out, err := exec.Command("go", "run", "./internal/kernels", "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("kernels.go"); err != nil || !bytes.Equal(got, want) {
		t.Error("kernels.go is out of date: run go generate in gen/exec")
	}
}
