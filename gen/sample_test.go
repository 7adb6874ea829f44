package gen_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// The sample makes no tensors of a size that only a file says, in containers either:
// the package is generated without one.
func TestSampleOfHugeElements(t *testing.T) {
	for _, typ := range []string{"seq<f32[1099511627776]>", "opt<f32[1099511627776]>", "opt<seq<f32[1099511627776,4]>>"} {
		m, err := ir.Parse("func @forward(%x: "+typ+") -> (y: "+typ+") {\n  return %x\n}\n", op.Set)
		if err != nil {
			t.Fatal(err)
		}
		model, err := gen.FromModule("huge", m, gen.Options{Package: "huge"})
		if err != nil {
			t.Fatal(err)
		}
		files, err := model.Files()
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		for _, f := range files {
			if f.Name == "model_test.go" && !strings.Contains(string(f.Data), "TestLoad") {
				t.Errorf("%s: the bundled test runs the model:\n%s", typ, f.Data)
			}
		}
	}
}
