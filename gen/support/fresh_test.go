package support

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed list of kernels with assembly must be what its generator writes.
func TestAssemblyIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	file := filepath.Join(t.TempDir(), "assembly.go")
	if out, err := exec.Command("go", "run", "./internal/assembly", "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("assembly.go"); err != nil || !bytes.Equal(got, want) {
		t.Error("assembly.go is out of date: run go generate in gen/support")
	}
}
