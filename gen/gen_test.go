package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestWarnings loads a model that is read with warnings: each is printed once.
func TestWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.onnx")
	m := onnxtest.New(17).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/a", "com.microsoft:QuickGelu", list("x"), list("h"), attr("beta", 2)).Node("/b", "com.microsoft:QuickGelu", list("h"), list("y"), attr("beta", 3))
	if err := os.WriteFile(path, m.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if _, err := gen.Load(path, gen.Options{Stderr: &printed}); err != nil {
		t.Fatal(err)
	}
	want := `model.onnx: warning: the model imports no opset of domain "com.microsoft": the newest is taken
model.onnx: warning: node 0 "/a" (com.microsoft.QuickGelu): it has no attribute "beta", which is ignored
`
	if got := printed.String(); got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
	if _, err := gen.Load(path, gen.Options{}); err != nil {
		t.Error(err)
	}
}
