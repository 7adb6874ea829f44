package rt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReplaceFile asserts that a file is replaced as a whole or not at all, and that nothing
// temporary is left.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	write := func(text string, err error) error {
		return ReplaceFile(path, func(out *os.File) error {
			if _, failed := out.WriteString(text); failed != nil {
				t.Fatal(failed)
			}
			return err
		})
	}
	full := errors.New("disk full")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"one", nil, "one"}, {"two", nil, "two"}, {"thr", full, "two"}, {"", nil, ""}} {
		if err := write(c.text, c.err); err != c.err {
			t.Errorf("writing %q: error %v, want %v", c.text, err, c.err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != c.want {
			t.Errorf("after writing %q: %q, error %v, want %q", c.text, data, err, c.want)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("after writing %q: files %v, error %v", c.text, entries, err)
		}
	}
	if err := ReplaceFile(filepath.Join(dir, "missing", "state"), func(*os.File) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that does not exist: error %v", err)
	}
}
