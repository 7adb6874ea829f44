package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportPath finds the import paths of folders that exist and that do not, in modules whose lines are
// written in several ways.
func TestImportPath(t *testing.T) {
	for _, line := range []string{"module example.com/nets", "module \"example.com/nets\" // of the nets", "// module other\nmodule\texample.com/nets\r"} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(line+"\n\ngo 1.26\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, "internal"), 0o777); err != nil {
			t.Fatal(err)
		}
		for dir, want := range map[string]string{
			"": "example.com/nets", "internal": "example.com/nets/internal", "internal/a/b": "example.com/nets/internal/a/b",
		} {
			if got, err := ImportPath(filepath.Join(root, dir)); err != nil || got != want {
				t.Errorf("%q, %q: %q, %v, want %q", line, dir, got, err, want)
			}
		}
	}
	if _, err := ImportPath(filepath.Join(t.TempDir(), "out")); err == nil || !strings.Contains(err.Error(), "is in no module") {
		t.Errorf("without a module: %v", err)
	}
}
