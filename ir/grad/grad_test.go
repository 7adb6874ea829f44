package grad_test

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
)

// parse reads a module. weights holds the elements of its weights, keyed by name.
func parse(t *testing.T, text string, weights map[string][]float64) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range weights {
		w := m.Weight(name)
		shape, _ := w.Type.Static()
		x := ir.NewTensor(w.Type.DType, shape...)
		for i, v := range values {
			x.SetFloat(i, v)
		}
		w.Data = x.Bytes()
	}
	return m
}

func run(t *testing.T, m *ir.Module, f *ir.Func, args ...*ir.Tensor) []*ir.Tensor {
	t.Helper()
	m.Funcs = append(m.Funcs, f)
	if err := ir.Verify(m); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	out, err := (&ir.Evaluator{Module: m}).Run(f, args)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return out
}

func near(t *testing.T, what string, got *ir.Tensor, want ...float64) {
	t.Helper()
	if got.Len() != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, got.Len(), len(want))
	}
	for i, w := range want {
		if g := got.Float(i); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
			t.Errorf("%s[%d] = %g, want %g", what, i, g, w)
		}
	}
}

const regression = `
weight "w": f64[3]
func @loss(%x: f64[3], %y: f64[]) -> (loss: f64[]) {
  %w = load {name="w"} : f64[3]
  %p = mul %w, %x : f64[3]
  %s = reduce %p {axes=[0] kind="sum"} : f64[]
  %e = sub %s, %y : f64[]
  %l = mul %e, %e : f64[]
  return %l
}
`

// Of (w·x − y)² the gradient is 2(w·x − y)x.
func TestStepOfARegression(t *testing.T) {
	m := parse(t, regression, map[string][]float64{"w": {0.5, -0.3, 0.8}})
	f, err := grad.Step(m, m.Func("loss"), "step", []string{"w"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.ResultNames, " "); got != "loss grad/w" {
		t.Errorf("results %s", got)
	}
	out := run(t, m, f, ir.FloatTensor(ir.F64, 1, 2, 3), ir.Scalar(ir.F64, 2.5))
	near(t, "loss", out[0], 0.04)
	near(t, "grad/w", out[1], -0.4, -0.8, -1.2)
}

// TestScaledStep asserts that a loss scale multiplies the gradient of the loss, and its inverse the gradients of
// the weights, except zeros.
func TestScaledStep(t *testing.T) {
	m := parse(t, strings.Replace(regression, "func", "weight \"v\": f64[2]\nfunc", 1), map[string][]float64{"w": {0.5, -0.3, 0.8}, "v": {1, 1}})
	f, err := grad.ScaledStep(m, m.Func("loss"), "step", []string{"w", "v"})
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Params[len(f.Params)-1]; p.Name != grad.ScaleName || p.Type.String() != "f32[2]" {
		t.Errorf("the last parameter is %s: %s", p, p.Type)
	}
	if !grad.IsZero(f.Results[2]) {
		t.Errorf("the gradient of an unused weight is %s", f.Results[2].Def)
	}
	out := run(t, m, f, ir.FloatTensor(ir.F64, 1, 2, 3), ir.Scalar(ir.F64, 2.5), ir.FloatTensor(ir.F32, 8, 0.25))
	near(t, "loss", out[0], 0.04)
	near(t, "grad/w", out[1], -0.8, -1.6, -2.4) // 8 · 0.25 = 2 times the gradient
}

const normalised = `
weight "gamma": f64[2]
weight "beta": f64[2]
weight "mean": f64[2]
weight "var": f64[2]
func @loss(%x: f64[N,2]) -> (loss: f64[], y: f64[N,2]) {
  %g = load {name="gamma"} : f64[2]
  %b = load {name="beta"} : f64[2]
  %m = load {name="mean"} : f64[2]
  %v = load {name="var"} : f64[2]
  %y = batch_normalization %x, %g, %b, %m, %v {epsilon=0 momentum=0.9} : f64[N,2]
  %l = reduce %y {axes=[0,1] kind="sum_square"} : f64[]
  return %l, %y
}
`

func TestStepUsesTheStatisticsOfTheBatch(t *testing.T) {
	weights := map[string][]float64{"gamma": {1, 2}, "beta": {0, 1}, "mean": {5, 5}, "var": {1, 1}}
	x := ir.FloatTensor(ir.F64, 1, 10, 3, 30).Reshape(2, 2)

	m := parse(t, normalised, weights)
	f, err := grad.Step(m, m.Func("loss"), "step", []string{"gamma", "beta"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.ResultNames, " "); got != "loss y grad/gamma grad/beta state/mean state/var" {
		t.Errorf("results %s", got)
	}
	out := run(t, m, f, x)
	near(t, "y", out[1], -1, -1, 1, 3)
	near(t, "grad/gamma", out[2], 4, 8)
	near(t, "grad/beta", out[3], 0, 4)
	near(t, "state/mean", out[4], 4.7, 6.5)
	near(t, "state/var", out[5], 1.1, 20.9) // of a sample: 2 and 200

	m = parse(t, normalised, weights)
	f, err = grad.Step(m, m.Func("loss"), "step", []string{"beta"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.ResultNames, " "); got != "loss y grad/beta" {
		t.Errorf("with a frozen scale, results %s", got)
	}
	near(t, "frozen y", run(t, m, f, x)[1], -4, 11, -2, 51)
}

const dropped = `
weight "w": f64[1000]
func @loss(%x: f64[1000]) -> (loss: f64[]) {
  %w = load {name="w"} : f64[1000]
  %p = mul %w, %x : f64[1000]
  %d = dropout %p {rate=0.25 site=7} : f64[1000]
  %l = reduce %d {axes=[0] kind="sum"} : f64[]
  return %l
}
`

func TestDropoutDropsOtherElementsAtEachStep(t *testing.T) {
	ones := make([]float64, 1000)
	for i := range ones {
		ones[i] = 1
	}
	gradient := func(seed, step int64) *ir.Tensor {
		m := parse(t, dropped, map[string][]float64{"w": ones})
		f, err := grad.Step(m, m.Func("loss"), "step", []string{"w"})
		if err != nil {
			t.Fatal(err)
		}
		return run(t, m, f, ir.FloatTensor(ir.F64, ones...), ir.IntTensor(ir.I64, seed, step))[1]
	}
	first := gradient(1, 1)
	zeros := 0
	for i := range first.Len() {
		switch first.Float(i) {
		case 0:
			zeros++
		case 1 / 0.75:
		default:
			t.Fatalf("element %d is %g", i, first.Float(i))
		}
	}
	if zeros < 200 || zeros > 300 {
		t.Errorf("%d of 1000 elements are dropped", zeros)
	}
	if !first.Equal(gradient(1, 1)) {
		t.Error("the same step drops other elements")
	}
	if first.Equal(gradient(1, 2)) || first.Equal(gradient(2, 1)) {
		t.Error("another step or seed drops the same elements")
	}
}

func TestWhatCannotBeDifferentiatedIsReportedAtOnce(t *testing.T) {
	m := parse(t, `
weight "w": f64[3]
func @loss(%x: f64[3]) -> (loss: f64[]) {
  %w = load {name="w"} : f64[3]
  %a = hardmax %w {axis=0} : f64[3] // "first"
  %b = hardmax %w {axis=0} : f64[3] // "second"
  %c = add %a, %b : f64[3]
  %l = reduce %c {axes=[0] kind="sum"} : f64[]
  return %l
}
`, nil)
	_, err := grad.Step(m, m.Func("loss"), "step", []string{"w"})
	for _, want := range []string{"first", "second", "no derivative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
	if _, err := grad.Step(m, m.Func("loss"), "step", []string{"v"}); err == nil || !strings.Contains(err.Error(), `"v" is not a float weight`) {
		t.Errorf("%v", err)
	}
}

const quantised = `
weight "s": f32[2]
weight "w": f32[2]
func @loss() -> (loss: f32[]) {
  %q = constant {value=u8[2,2](1, 2, 3, 4)} : u8[2,2]
  %z = constant {value=u8[2](1, 1)} : u8[2]
  %s = load {name="s"} : f32[2]
  %w = load {name="w"} : f32[2]
  %x = dequantize_linear %q, %s, %z {granularity={axis=1} to=f32} : f32[2,2]
  %d = detach %w : f32[2]
  %p = mul %x, %d : f32[2,2]
  %y = mul %p, %w : f32[2,2]
  %l = reduce %y {axes=[0,1] kind="sum"} : f32[]
  return %l
}
`

// TestStepOfScalesAndDetachedValues differentiates Σ (q − z)·s·w². The gradient of s is Σ (q −
// z)·w². The gradient of w is Σ (q − z)·s·w, because one of the two factors w is detached.
func TestStepOfScalesAndDetachedValues(t *testing.T) {
	m := parse(t, quantised, map[string][]float64{"s": {0.5, 2}, "w": {3, -1}})
	f, err := grad.Step(m, m.Func("loss"), "step", []string{"s", "w"})
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, m, f)
	near(t, "loss", out[0], 2*0.5*9+4*2*1)
	near(t, "grad/s", out[1], 2*9, 4*1)
	near(t, "grad/w", out[2], 2*0.5*3, 4*2*-1)
}
