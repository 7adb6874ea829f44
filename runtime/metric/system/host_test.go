package system

import (
	"path/filepath"
	"testing"
)

// TestExisting asks for folders that will exist later.
func TestExisting(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "runs"), filepath.Join(dir, "runs", "mnist", "..", "cifar")} {
		if got, err := existing(path); got != dir || err != nil {
			t.Errorf("%s: %s, %v, want %s", path, got, err, dir)
		}
	}
	t.Chdir(dir)
	want, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "runs/mnist"} {
		if got, err := existing(path); got != want || err != nil {
			t.Errorf("%q: %s, %v, want %s", path, got, err, want)
		}
	}
}
