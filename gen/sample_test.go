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

// Results that depend on how sums are rounded are no part of the sample, others are.
func TestSampleIsSteady(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[N,3]) -> (wild: f32[N,3], calm: f32[N,3]) {
  %0 = constant {value=f32[](1e+09)} : f32[]
  %1 = mul %x, %0 : f32[N,3]
  %2 = sin %1 : f32[N,3]
  %3 = sin %x : f32[N,3]
  return %2, %3
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gen.FromModule("wild", m, gen.Options{Package: "wild"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := model.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text := string(f.Data)
		if f.Name == "model_test.go" && (strings.Contains(text, `"wild", `) || !strings.Contains(text, `"calm", `) || !strings.Contains(text, "depend on how sums are rounded")) {
			t.Errorf("%s", text)
		}
	}
}
