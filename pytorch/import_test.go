package pytorch

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reach lists what could touch files, processes or the network, or could call a function by a
// computed name.
var reach = []string{"os", "io/fs", "net", "plugin", "syscall", "unsafe", "runtime", "go", "testing", "path/filepath"}

// TestReach asserts that the reader of a file cannot touch anything else. Its imports reach only
// memory, except package rt, which maps the file.
func TestReach(t *testing.T) {
	for _, pattern := range []string{"*.go", "pickle/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 4 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				first, _, _ := strings.Cut(path, "/")
				if slices.Contains(reach, path) || slices.Contains(reach, first) {
					t.Errorf("%s imports %s", file, path)
				}
			}
		}
	}
}
