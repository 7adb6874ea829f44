package cpu_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAssemblyIsFresh asserts that the committed assembly equals the generator's output. No other
// file may have a name that begins with z, as the generator's files do.
func TestAssemblyIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	const module = "simd128/kernels.wasm"
	if err := os.Mkdir(filepath.Join(dir, "simd128"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".", dir)
	cmd.Dir = "_asm"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "z*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the generator has written %d files: %v", len(files), err)
	}
	committed, err := filepath.Glob("z*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range committed {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the generator does not write %s", name)
		}
	}
	for _, f := range append(files, filepath.Join(dir, module)) {
		name, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go run . in runtime/cpu/_asm", name)
		}
	}
}
