package cpu_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly must be what its generator writes.
func TestAssemblyIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	cmd := exec.Command("go", "run", ".", dir)
	cmd.Dir = "_asm"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("the generator has written %d files: %v", len(files), err)
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go run . in runtime/cpu/_asm", f.Name())
		}
	}
}
