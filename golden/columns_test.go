package golden

import (
	"path"
	"strings"
	"testing"
)

// maxColumn is the length of the longest line of generated code, with tabs of four columns.
const maxColumn = 140

// TestColumns asserts that the lines of schedules, plans and skeletons can be read, in the
// examples and in the goldens: the generator breaks lists. Comments are not counted.
func TestColumns(t *testing.T) {
	sources := generatedGo(t)
	for _, f := range goFiles(t) {
		if f.isGenerated() && !strings.HasPrefix(path.Base(f.path), "config") {
			sources[f.path] = f.data
		}
	}
	for name, data := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for i, line := range strings.Split(string(data), "\n") {
			code, _, _ := strings.Cut(line, "// ")
			if n := len(code) + 3*strings.Count(code, "\t"); n > maxColumn {
				t.Errorf("%s:%d: %d columns", name, i+1, n)
			}
		}
	}
}
