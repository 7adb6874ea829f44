package kernel_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed files must equal the generator's output.
func TestKernelsAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	args := []string{"run", "./internal/generate"}
	files := map[string]string{"constructors": "zkernels.go", "composites": "zcomposites.go", "formulas": "zformulas.go", "instances": "../instance/zinstances.go"}
	for name := range files {
		args = append(args, "-"+name, filepath.Join(dir, name))
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, file := range files {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate in gen/target/cpu/kernel", file)
		}
	}
}
