package emit_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// TestNamesStay prints a package, a second package for measuring, and the first package again.
// Names that were once given must not change.
func TestNamesStay(t *testing.T) {
	for _, s := range oddNames {
		src, err := onnx.Read("model.onnx", named(s, "y", s, s, "N", "", true).Bytes(), nil, onnx.Options{})
		if err != nil {
			continue
		}
		m, err := gen.Compile(src, gen.Options{Package: "model"})
		if err != nil {
			t.Fatal(err)
		}
		first := textOf(t, m)
		if _, err := ir.Parse(m.Module.String(), storage.Set); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if _, err := m.Timed("timed", func(program.Step) int { return 1 }); err != nil {
			t.Fatal(err)
		}
		if second := textOf(t, m); first != second {
			t.Errorf("%q: the package is another one the second time:\n%s\n%s", s, first, second)
		}
	}
}

// textOf returns the text of a package's files.
func textOf(t *testing.T, m *gen.Model) string {
	t.Helper()
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".safetensors") {
			b.Write(f.Data)
		}
	}
	return b.String()
}
