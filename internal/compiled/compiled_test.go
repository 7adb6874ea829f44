package compiled

import (
	"go/token"
	"strings"
	"testing"
)

func TestImporter(t *testing.T) {
	from := Importer(token.NewFileSet())
	for path, name := range map[string]string{
		"strings": "Cut",
		"github.com/burngen/burngen/internal/compiled": "Importer",
	} {
		pkg, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		if pkg.Scope().Lookup(name) == nil {
			t.Errorf("%s has no %s", path, name)
		}
	}
	for _, path := range []string{"no/such/package", "-version"} {
		if _, err := from.Import(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
