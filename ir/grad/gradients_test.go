package grad_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// product is a loss Σ x·w·w. A custom operator, whose gradient is a function, computes each product.
const product = `
weight "w": f64[3]
func @gradient.B(%x: f64[N], %w: f64[N], %y: f64[N], %dy: f64[N]) -> (dx: f64[N], dw: f64[N]) {
  %a = mul %dy, %w : f64[N]
  %b = mul %dy, %x : f64[N]
  return %a, %b
}
func @loss(%x: f64[3]) -> (loss: f64[]) {
  %w = load {name="w"} : f64[3]
  %y = custom %x, %w {name="a.B" func="ops.B" type="(f64[N], f64[N]) -> f64[N]" gradient="gradient.B"} : f64[3]
  %z = custom %y, %w {name="a.B" func="ops.B" type="(f64[N], f64[N]) -> f64[N]" gradient="gradient.B"} : f64[3]
  %l = reduce %z {axes=[0] kind="sum"} : f64[]
  return %l
}
`

// multiply computes the operator of product.
func multiply(c *rt.Call) error {
	x, w, y := rt.Data[float64](c.In[0]), rt.Data[float64](c.In[1]), rt.Data[float64](c.Out[0])
	for i := range y {
		y[i] = x[i] * w[i]
	}
	return nil
}

// TestGradientsOfCustomOperatorsAreInlined asserts that a step has the nodes of the functions that
// compute gradients: the gradient of Σ x·w² is 2·x·w.
func TestGradientsOfCustomOperatorsAreInlined(t *testing.T) {
	m := parse(t, product, map[string][]float64{"w": {2, 3, -1}})
	for n := range m.Func("loss").All() {
		if c, ok := n.Op.(op.Custom); ok {
			n.Op = c.With(op.Local{Call: multiply})
		}
	}
	f, err := grad.Step(m, m.Func("loss"), "step", []string{"w"})
	if err != nil {
		t.Fatal(err)
	}
	if text := f.String(); strings.Count(text, "= custom ") != 2 || !strings.Contains(text, "= mul ") {
		t.Errorf("the step is\n%s", text)
	}
	out := run(t, m, f, ir.FloatTensor(ir.F64, 1, 4, 5))
	near(t, "loss", out[0], 4+36+5)
	near(t, "grad/w", out[1], 2*1*2, 2*4*3, 2*5*-1)
}

func TestStepWithoutTheFunctionOfAGradient(t *testing.T) {
	m := parse(t, product, nil)
	m.Funcs = slices.DeleteFunc(m.Funcs, func(f *ir.Func) bool { return f.Name == "gradient.B" })
	if _, err := grad.Step(m, m.Func("loss"), "step", []string{"w"}); err == nil || !strings.Contains(err.Error(), "no function @gradient.B") {
		t.Errorf("%v", err)
	}
}

// TestForget asserts that only functions of gradients go, and that nothing names them.
func TestForget(t *testing.T) {
	m := parse(t, product, nil)
	if named := grad.Named(m); len(named) != 1 || !named["gradient.B"] {
		t.Errorf("the functions are %v", named)
	}
	grad.Forget(m)
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	if text := m.String(); len(m.Funcs) != 1 || strings.Contains(text, "gradient") || strings.Count(text, "= custom ") != 2 {
		t.Errorf("the module is\n%s", text)
	}
}
