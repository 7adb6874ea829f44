package op

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// composed is a module with a custom operator whose gradient is a function.
const composed = `func @f(%a: f32[S], %k: i64[S]) -> (y: f32[S]) {
  %y = custom %a, %k {name="a.B" func="ops.B" type="(f32[N], i64[N]) -> f32[N]" gradient="gradient.B"} : f32[S]
  return %y
}

func @gradient.B(%x: f32[N], %k: i64[N], %y: f32[N], %dy: f32[N]) -> (dx: f32[N]) {
  %dx = mul %dy, %y : f32[N]
  return %dx
}
`

// TestNamedGradientInText asserts that the name of a gradient is part of the text form.
func TestNamedGradientInText(t *testing.T) {
	m, err := ir.Parse(composed, Set)
	if err != nil {
		t.Fatal(err)
	}
	if text := m.String(); strings.TrimSpace(text) != strings.TrimSpace(composed) {
		t.Errorf("it is printed as\n%s", text)
	}
}

// TestNamedGradientMustFit asserts that the function of a gradient has the type that the operator
// requires.
func TestNamedGradientMustFit(t *testing.T) {
	const typ = "(f32[N], i64[N], f32[N], f32[N]) -> f32[N]"
	for name, test := range map[string]struct{ old, new, want string }{
		"no function":         {`gradient="gradient.B"`, `gradient="gradient.C"`, "no function @gradient.C"},
		"a parameter less":    {"%k: i64[N], %y: f32[N], %dy", "%y: f32[N], %dy", "the gradient @gradient.B is (f32[N], f32[N], f32[N]) -> f32[N], not " + typ},
		"another symbol":      {"%x: f32[N], %k", "%x: f32[M], %k", "the gradient @gradient.B is (f32[M], i64[N], f32[N], f32[N]) -> f32[N], not " + typ},
		"another declaration": {"(f32[N], i64[N]) -> f32[N]", "(f32[N], i64[N]) -> f32[N] ", ""},
		"symbols of its own":  {"  %dx = mul", "  %p = non_zero %x {count=\"P\"} : i64[1,P]\n  %dx = mul", "the gradient @gradient.B has extents that are known only when the model runs"},
	} {
		text := strings.Replace(composed, test.old, test.new, 1)
		if text == composed {
			t.Fatalf("%s: nothing is replaced", name)
		}
		_, err := ir.Parse(text, Set)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// TestGradientType asserts which operands and results functions of gradients have.
func TestGradientType(t *testing.T) {
	c := Custom{Name: "a.B", Func: "ops.B", Type: "(f32[N,4], i64[N], f64[]) -> (i64[K], f32[K,N])"}
	got, err := c.GradientType()
	if err != nil {
		t.Fatal(err)
	}
	if want := "(f32[N,4], i64[N], f64[], i64[K], f32[K,N], f32[K,N]) -> (f32[N,4], f64[])"; got.String() != want {
		t.Errorf("%s, want %s", got, want)
	}
}
