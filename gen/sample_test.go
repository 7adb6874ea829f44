package gen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestSampleOfHugeElements asserts that the sample does not make tensors of a huge size that only a
// file declares, in containers either. The package is generated without a sample.
func TestSampleOfHugeElements(t *testing.T) {
	for _, typ := range []string{"seq<f32[1099511627776]>", "opt<f32[1099511627776]>", "opt<seq<f32[1099511627776,4]>>"} {
		text := sampleTest(t, "huge", "func @forward(%x: "+typ+") -> (y: "+typ+") {\n  return %x\n}\n")
		if !strings.Contains(text, "TestLoad") {
			t.Errorf("%s: the bundled test runs the model:\n%s", typ, text)
		}
	}
}

// TestSampleOfMuchWork asserts that the sample takes at most a few seconds. This holds for one
// product, whose operations are known before it runs, and for a loop, whose iterations are not.
func TestSampleOfMuchWork(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"a product": {`func @forward(%x: f32[2048,2048]) -> (y: f32[2048,2048]) {
  %0 = mat_mul %x, %x : f32[2048,2048]
  return %0
}
`, "TestLoad"},
		"a small product": {`func @forward(%x: f32[20,20]) -> (y: f32[20,20]) {
  %0 = mat_mul %x, %x : f32[20,20]
  return %0
}
`, "TestSample"},
		"a loop":       {loopOfProducts(1 << 12), "TestLoad"},
		"a short loop": {loopOfProducts(1), "TestSample"},
	} {
		t.Run(name, func(t *testing.T) {
			text := sampleTest(t, "long", c.text)
			if !strings.Contains(text, "func "+c.want+"(") || strings.Contains(text, "no error") {
				t.Errorf("no %s in\n%s", c.want, text)
			}
		})
	}
}

// loopOfProducts returns a model that multiplies a matrix with itself again and again.
func loopOfProducts(trips int) string {
	return fmt.Sprintf(`func @forward(%%x: f32[256,256]) -> (y: f32[256,256]) {
  %%n = constant {value=i64[](%d)} : i64[]
  %%y = loop %%n, _, %%x : f32[256,256]
    region (%%i: i64[], %%going: bool[], %%v: f32[256,256]) {
      %%w = mat_mul %%v, %%x : f32[256,256]
      return %%going, %%w
    }
  return %%y
}
`, trips)
}

// Results that depend on how sums are rounded are not part of the sample, others are.
func TestSampleIsSteady(t *testing.T) {
	text := sampleTest(t, "wild", `func @forward(%x: f32[N,3]) -> (wild: f32[N,3], calm: f32[N,3]) {
  %0 = constant {value=f32[](1e+09)} : f32[]
  %1 = mul %x, %0 : f32[N,3]
  %2 = sin %1 : f32[N,3]
  %3 = sin %x : f32[N,3]
  return %2, %3
}
`)
	if strings.Contains(text, `"wild", `) || !strings.Contains(text, `"calm", `) || !strings.Contains(text, "depend on how sums are rounded") {
		t.Errorf("%s", text)
	}
}

// sampleTest returns the bundled test of a module's package.
func sampleTest(t *testing.T, name, module string) string {
	t.Helper()
	m, err := ir.Parse(module, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gen.FromModule(name, m, gen.Options{Package: name})
	if err != nil {
		t.Fatal(err)
	}
	files, err := model.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name == "model_test.go" {
			return string(f.Data)
		}
	}
	t.Fatal("no model_test.go")
	return ""
}

// TestSampleInPrecisions asserts that the bundled test of a transformer compares its results in each precision,
// with the tolerance of the precision.
func TestSampleInPrecisions(t *testing.T) {
	for p := range gpu.Precisions {
		target := cuda.Target()
		target.Precision = gpu.Precision(p)
		m, err := gen.FromModule("net", drawn(t, transformer), gen.Options{Target: target, Package: "net"})
		if err != nil {
			t.Fatal(err)
		}
		files, err := m.Files()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f emit.File) bool { return f.Name == "model_test.go" })
		text := string(files[i].Data)
		if want := target.Precision != gpu.F32; !strings.Contains(text, "func TestSample(") || strings.Contains(text, "Rounding: ") != want || strings.Contains(text, "are not compared") {
			t.Errorf("%s:\n%s", target.Precision, text)
		}
	}
}
