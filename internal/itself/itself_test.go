package itself

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNeed(t *testing.T) {
	if !t.Run("this program", func(t *testing.T) { Need(t) }) {
		t.Error("it cannot run itself")
	}
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("not for this processor"), 0o777); err != nil {
		t.Fatal(err)
	}
	own := os.Args[0]
	defer func() { os.Args[0] = own }()
	os.Args[0] = file
	skipped := false
	t.Run("another processor's", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Need(t)
	})
	if !skipped {
		t.Error("a program of another processor is not noticed")
	}
}
