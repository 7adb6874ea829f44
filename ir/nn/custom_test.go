package nn_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

const (
	ownPath  = "github.com/burngen/burngen/ir/nn_test."
	warpType = "(f64[N], f64[N]) -> f64[N]"
)

// Warp is x²·w times the attribute "by", (f64[N], f64[N]) -> f64[N].
func Warp(c *rt.Call) error {
	x, w, y := rt.Data[float64](c.In[0]), rt.Data[float64](c.In[1]), rt.Data[float64](c.Out[0])
	for i := range y {
		y[i] = float64(c.Attrs.Float("by", 1)) * x[i] * x[i] * w[i]
	}
	return nil
}

// WarpGrad computes the gradients of [Warp].
func WarpGrad(c *rt.Call) error {
	x, w, dy := rt.Data[float64](c.In[0]), rt.Data[float64](c.In[1]), rt.Data[float64](c.In[3])
	by := float64(c.Attrs.Float("by", 1))
	for i, g := range dy {
		if c.Wants(0) {
			rt.Data[float64](c.Out[0])[i] = 2 * by * x[i] * w[i] * g
		}
		if c.Wants(1) {
			rt.Data[float64](c.Out[1])[i] = by * x[i] * x[i] * g
		}
	}
	return nil
}

// warpGradient computes the gradients of [Warp] with by = 0.5.
func warpGradient(operands, _, gradients []nn.Value) []nn.Value {
	x, w, dy := operands[0], operands[1], gradients[0]
	return []nn.Value{x.Mul(w).Mul(dy), x.Mul(x).Mul(0.5).Mul(dy)}
}

// warp applies [Warp] with by = 0.5.
func warp(x, w nn.Value, options ...nn.CustomOption) nn.Value {
	return nn.Custom(Warp, warpType, []nn.Value{x, w}, append(options, nn.Attr("by", 0.5))...)[0]
}

// Above returns the elements of x that are positive, and their indices, (f64[N]) -> (i64[K], f64[K]).
func Above(c *rt.Call) error {
	var at []int64
	var found []float64
	for i, v := range rt.Data[float64](c.In[0]) {
		if v > 0 {
			at, found = append(at, int64(i)), append(found, v)
		}
	}
	c.Out[0].Resize(len(at))
	c.Out[1].Resize(len(at))
	copy(rt.Data[int64](c.Out[0]), at)
	copy(rt.Data[float64](c.Out[1]), found)
	return nil
}

// AboveGrad computes the gradient of [Above].
func AboveGrad(c *rt.Call) error {
	dx, dy := rt.Data[float64](c.Out[0]), rt.Data[float64](c.In[3])
	clear(dx)
	for i, k := range rt.Data[int64](c.In[1]) {
		dx[k] = dy[i]
	}
	return nil
}

// aboveGradient computes the gradient of [Above].
func aboveGradient(operands, results, gradients []nn.Value) []nn.Value {
	return []nn.Value{nn.ZerosLike(operands[0]).SelectAssign(0, results[0], gradients[1])}
}

func above(x nn.Value, options ...nn.CustomOption) []nn.Value {
	return nn.Custom(Above, "(f64[N]) -> (i64[K], f64[K])", []nn.Value{x}, options...)
}

// Fails returns an error.
func Fails(*rt.Call) error { return errors.New("too large") }

// Panics panics.
func Panics(*rt.Call) error { panic("boom") }

// functions are the functions of the tests, by the names in recordings.
var functions = map[string]func(*rt.Call) error{
	ownPath + "Warp": Warp, ownPath + "WarpGrad": WarpGrad, ownPath + "Above": Above, ownPath + "AboveGrad": AboveGrad,
}

// numbers returns f64 numbers of 48 bits, which is enough for differences.
func numbers(x ...float64) nn.Value {
	rest := slices.Clone(x)
	for i, v := range x {
		rest[i] = v - float64(float32(v))
	}
	return nn.Of(x).Cast(nn.F64).Add(nn.Of(rest).Cast(nn.F64))
}

func equalNumbers(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i, w := range want {
		if math.Abs(got[i]-w) > tolerance*(1+math.Abs(w)) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

func TestCustomCallsTheFunction(t *testing.T) {
	y := warp(numbers(1, 2, 3), numbers(4, 5, 6))
	equalNumbers(t, "values", y.Floats(), []float64{2, 10, 27}, 0)
	found := above(numbers(-1, 2, 0, 7))
	equalNumbers(t, "indices", found[0].Floats(), []float64{1, 3}, 0)
	equalNumbers(t, "elements", found[1].Mul(2).Floats(), []float64{4, 14}, 0)
	if got := found[1].Is("f64[2]").Dim(0).Int(); got != 2 {
		t.Errorf("the extent is %d", got)
	}
}

func TestCustomPassesAttributes(t *testing.T) {
	f := nn.Custom(Warp, warpType, []nn.Value{numbers(1), numbers(2)},
		nn.Attr("by", float32(3)), nn.Attr("n", 1), nn.Attr("m", int64(2)), nn.Attr("s", "t"),
		nn.Attr("is", []int64{1}), nn.Attr("fs", []float32{2}), nn.Attr("ss", []string{"u", "v"}))[0]
	equalNumbers(t, "values", f.Floats(), []float64{6}, 0)
}

// gradientTests are functions of two vectors. The result is a scalar.
var gradientTests = map[string]func(x, w nn.Value) nn.Value{
	"a function": func(x, w nn.Value) nn.Value { return warp(x.Sin(), w, nn.GradientFunc(WarpGrad)).Exp().Sum() },
	"operators":  func(x, w nn.Value) nn.Value { return warp(x.Sin(), w, nn.Gradient(warpGradient)).Exp().Sum() },
	"one operand twice": func(x, w nn.Value) nn.Value {
		return warp(x, x, nn.Gradient(warpGradient)).Mul(w).Sum()
	},
	"one after the other": func(x, w nn.Value) nn.Value {
		y := warp(x, w, nn.Gradient(warpGradient))
		return warp(w, y, nn.Gradient(warpGradient)).Sum()
	},
	"turns of a loop": func(x, w nn.Value) nn.Value {
		last, _ := nn.Scan(x, numbers(0.5, -0.4, 0.8), func(h, x nn.Value) (nn.Value, nn.Value) {
			h = warp(h, w, nn.Gradient(warpGradient)).Add(x).Tanh()
			return h, h
		})
		return last.Sum()
	},
	"a zero gradient": func(x, w nn.Value) nn.Value {
		zero := func(operands, results, gradients []nn.Value) []nn.Value {
			return []nn.Value{warpGradient(operands, results, gradients)[0], {}}
		}
		return warp(x, w, nn.Gradient(zero)).Add(w).Sum()
	},
	"extents that a function decides": func(x, w nn.Value) nn.Value {
		return above(x, nn.GradientFunc(AboveGrad))[1].Exp().Sum().Add(w.Sum())
	},
	"extents that operators see": func(x, w nn.Value) nn.Value {
		return above(x, nn.Gradient(aboveGradient))[1].Exp().Sum().Add(w.Sum())
	},
}

// TestCustomGradients compares gradients with differences, of values and of recordings.
func TestCustomGradients(t *testing.T) {
	x, w := []float64{0.3, -0.7, 0.5}, []float64{1.1, 0.4, -0.6}
	for name, f := range gradientTests {
		t.Run(name, func(t *testing.T) {
			value := func(x, w []float64) float64 { return f(numbers(x...), numbers(w...)).Item() }
			slopes := func(at []float64, f func() float64) []float64 {
				out := make([]float64, len(at))
				for i, v := range at {
					const h = 1e-5
					at[i] = v + h
					up := f()
					at[i] = v - h
					out[i] = (up - f()) / (2 * h)
					at[i] = v
				}
				return out
			}
			a, b := slices.Clone(x), slices.Clone(w)
			dx := slopes(a, func() float64 { return value(a, b) })
			dw := slopes(b, func() float64 { return value(a, b) })
			if name == "a zero gradient" {
				dw = []float64{1, 1, 1}
			}
			inputs := []nn.Value{numbers(x...), numbers(w...)}
			grads := nn.Grad(f(inputs[0], inputs[1]), inputs...)
			equalNumbers(t, "dx", grads[0].Floats(), dx, 1e-6)
			equalNumbers(t, "dw", grads[1].Floats(), dw, 1e-6)

			m := recordedCustom(t, func(in []nn.Value) []nn.Value {
				y := f(in[0], in[1])
				return append([]nn.Value{y}, nn.Grad(y, in...)...)
			}, 3, "f64[3]", "f64[3]")
			out := evaluatedCustom(t, m, m.Func("forward"), tensor(inputs[0]), tensor(inputs[1]))
			equalNumbers(t, "recorded value", floatsOf(out[0]), []float64{value(x, w)}, 1e-12)
			equalNumbers(t, "recorded dx", floatsOf(out[1]), grads[0].Floats(), 1e-12)
			equalNumbers(t, "recorded dw", floatsOf(out[2]), grads[1].Floats(), 1e-12)
		})
	}
}

// recordedCustom records a function of inputs of these types, and gives the operators of what is read
// their Go functions.
func recordedCustom(t *testing.T, f func([]nn.Value) []nn.Value, results int, types ...string) *ir.Module {
	t.Helper()
	s, err := ir.ParseSignature("(" + strings.Join(types, ", ") + ") -> ()")
	if err != nil {
		t.Fatal(err)
	}
	m, err := recorded(nil, s.Params, f, results)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Module.Funcs {
		withFunctions(t, f)
	}
	return m.Module
}

// withFunctions gives the custom operators in f their Go functions.
func withFunctions(t *testing.T, f *ir.Func) {
	t.Helper()
	for n := range f.All() {
		if c, ok := n.Op.(op.Custom); ok {
			if functions[c.Func] == nil {
				t.Fatalf("%s is not a function of the tests", c.Func)
			}
			l := c.Local()
			l.Call = functions[c.Func]
			n.Op = c.With(l)
		}
	}
}

func evaluatedCustom(t *testing.T, m *ir.Module, f *ir.Func, args ...*ir.Tensor) []*ir.Tensor {
	t.Helper()
	out, err := (&ir.Evaluator{Module: m}).Run(f, args)
	if err != nil {
		t.Fatalf("%v\n%s", err, m)
	}
	return out
}

func floatsOf(x *ir.Tensor) []float64 {
	out := make([]float64, x.Len())
	for i := range out {
		out[i] = x.Float(i)
	}
	return out
}

// TestCustomIsRecorded asserts what the recording of a custom operator has: the function's name, the
// declared type, attributes, and one function for all gradients that are equal.
func TestCustomIsRecorded(t *testing.T) {
	recordedCustom(t, func(in []nn.Value) []nn.Value { // names do not depend on the functions of another recording
		return []nn.Value{warp(in[0], in[1], nn.Gradient(func(operands, results, gradients []nn.Value) []nn.Value {
			return []nn.Value{warpGradient(operands, results, gradients)[0], {}}
		}))}
	}, 1, "f64[S]", "f64[S]")
	m := recordedCustom(t, func(in []nn.Value) []nn.Value {
		y := warp(in[0], in[1], nn.Gradient(warpGradient))
		found := above(warp(y, in[1], nn.Gradient(warpGradient)))
		again := above(found[1], nn.Gradient(aboveGradient))
		return []nn.Value{found[0], again[1].Mul(2)}
	}, 2, "f64[S]", "f64[S]")
	text := m.String()
	for want, n := range map[string]int{
		`func="` + ownPath + `Warp" type="` + warpType + `"`: 2, `gradient="gradient.Warp"`: 2,
		"func @gradient.Warp(": 1, "func @gradient.Above(": 1, `gradient="gradient.Above"`: 1, `symbol="K_1"`: 1, `symbol="K_2"`: 1,
	} {
		if strings.Count(text, want) != n {
			t.Errorf("%q is not there %d times:\n%s", want, n, text)
		}
	}
	out := evaluatedCustom(t, m, m.Func("forward"), ir.FloatTensor(ir.F64, 1, -2, 3), ir.FloatTensor(ir.F64, 2, 2, -2))
	if !out[0].Equal(ir.IntTensor(ir.I64, 0, 1)) || !out[1].Equal(ir.FloatTensor(ir.F64, 2, 32)) {
		t.Errorf("results %v", out)
	}
}

// TestRecordedGradientIsDifferentiated asserts that the compiler's differentiation computes what
// [nn.Grad] computes, and that it calls no function for a gradient of operators.
func TestRecordedGradientIsDifferentiated(t *testing.T) {
	model := struct{ W nn.Param }{nn.ParamOf(numbers(1.1, 0.4, -0.6))}
	for name, option := range map[string]nn.CustomOption{"WarpGrad": nn.GradientFunc(WarpGrad), "mul": nn.Gradient(warpGradient)} {
		f := func(in []nn.Value) []nn.Value { return []nn.Value{warp(in[0], model.W.Value(), option).Exp().Sum()} }
		m, err := recorded(&model, []ir.Type{ir.StaticTensor(ir.F64, 3)}, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := numbers(0.3, -0.7, 0.5)
		want := nn.Grad(f([]nn.Value{x})[0], model.W.Value())[0].Floats()
		m.Module.Weights[0].Data = tensor(model.W.Value()).Bytes()
		step, err := grad.Step(m.Module, m.Module.Func("forward"), "step", []string{"w"})
		if err != nil {
			t.Fatal(err)
		}
		if text := step.String(); !strings.Contains(text, name) || strings.Contains(text, "WarpGrad") != (name == "WarpGrad") {
			t.Errorf("%s: the step is\n%s", name, text)
		}
		withFunctions(t, step)
		m.Module.Funcs = append(m.Module.Funcs, step)
		out := evaluatedCustom(t, m.Module, step, tensor(x))
		equalNumbers(t, name, floatsOf(out[1]), want, 1e-12)
	}
}

// holder has methods.
type holder struct{}

func (holder) Warp(*rt.Call) error { return nil }

func hidden(*rt.Call) error { return nil }

func instance[T any](*rt.Call) error { return nil }

// TestCustomMistakes asserts that each mistake is an error at the line of the description.
func TestCustomMistakes(t *testing.T) {
	x, k := numbers(1, 2, 3), nn.Of([]int64{1, 2, 3})
	param := nn.ParamOf(numbers(1, 2, 3))
	apply := func(f func(*rt.Call) error, typ string, operands []nn.Value, options ...nn.CustomOption) func() {
		return func() { nn.Custom(f, typ, operands, options...)[0].Floats() }
	}
	gradient := func(f func(x, dy nn.Value) []nn.Value) func() {
		return apply(Warp, "(f64[N], i64[N]) -> f64[N]", []nn.Value{x, k}, nn.Gradient(func(operands, _, gradients []nn.Value) []nn.Value {
			return f(operands[0], gradients[0])
		}))
	}
	two := []nn.Value{x, x}
	const byName = "generated code calls the function by its name, so it has to be an exported function of a package other than main, not a closure or a method"
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"no function":           {apply(nil, warpType, two), "Custom: the function is nil"},
		"a closure":             {apply(func(*rt.Call) error { return nil }, warpType, two), byName},
		"a method":              {apply(holder{}.Warp, warpType, two), byName},
		"an instance":           {apply(instance[int], warpType, two), byName},
		"an unexported one":     {apply(hidden, warpType, two), byName},
		"no type":               {apply(Warp, "f64[N]", two), `Custom: type "f64[N]": `},
		"no result":             {apply(Warp, "(f64[N], f64[N]) -> ()", two), "a result is missing"},
		"an extent not decided": {apply(Warp, "(f64[N], f64[N]) -> f64[2*K]", two), "the function decides K, which has to stand alone"},
		"too few operands":      {apply(Warp, warpType, two[:1]), "Custom: 1 operands, 2 expected"},
		"another element type":  {apply(Warp, warpType, []nn.Value{x, k}), "Custom: operand 1 is i64[3], declared as f64[N]"},
		"extents that differ":   {apply(Warp, warpType, []nn.Value{x, numbers(1)}), "Custom: operand 1, axis 0, declared as N: 1 is not 3"},
		"a zero value":          {apply(Warp, warpType, []nn.Value{x, {}}), "Custom: operand 1 is the zero nn.Value"},
		"an attribute twice":    {apply(Warp, warpType, two, nn.Attr("by", 1), nn.Attr("by", 2)), `Custom: attribute "by" is given twice`},
		"an attribute's name":   {apply(Warp, warpType, two, nn.Attr("want_gradients", 1)), `Custom: "want_gradients" cannot be the name of an attribute`},
		"an attribute's kind":   {apply(Warp, warpType, two, nn.Attr("by", 1)), `custom: ` + ownPath + `Warp: attribute "by" is int64, not float32`},
		"an error":              {apply(Fails, warpType, two), "custom: too large"},
		"a panic":               {apply(Panics, warpType, two), "custom: " + ownPath + "Panics: panic: boom"},
		"an error at once":      {apply(Fails, "() -> f64[K]", nil), "Custom: too large"},
		"fewer results":         {apply(Above, "(f64[N]) -> f64[K]", two[:1]), "Custom: " + ownPath + "Above: "},
		"another function":      {apply(Warp, warpType, two, nn.GradientFunc(AboveGrad)), "Custom: the function of the gradients is " + ownPath + "AboveGrad, not " + ownPath + "WarpGrad"},
		"two gradients":         {apply(Warp, warpType, two, nn.GradientFunc(WarpGrad), nn.Gradient(warpGradient)), "Custom: GradientFunc and Gradient exclude each other"},
		"no gradient": {func() { nn.Grad(warp(x, x).Sum(), x)[0].Floats() },
			"custom operator " + ownPath + "WarpGrad: the description does not pass the function " + ownPath + "WarpGrad"},
		"one gradient of two":       {gradient(func(x, _ nn.Value) []nn.Value { return []nn.Value{x} }), "Custom: the gradient returns 1 values for 2 operands"},
		"another type":              {gradient(func(_, dy nn.Value) []nn.Value { return []nn.Value{dy.Sum(), {}} }), "Custom: the gradient of operand 0 is f64[], the operand is f64[N]"},
		"a gradient of integers":    {gradient(func(x, _ nn.Value) []nn.Value { return []nn.Value{x, x} }), "Custom: operand 1 is i64[N] and has no gradient: return the zero nn.Value"},
		"a gradient with parameter": {gradient(func(_, dy nn.Value) []nn.Value { return []nn.Value{dy.Mul(param.Value().Sum()), {}} }), "the gradient uses parameter "},
		"a gradient with chance":    {gradient(func(_, dy nn.Value) []nn.Value { return []nn.Value{dy.Mul(nn.RandomLike(dy).Cast(nn.F64)), {}} }), "the gradient has a random_uniform, which draws random numbers or differs in training"},
		"a gradient that finds": {gradient(func(x, dy nn.Value) []nn.Value { return []nn.Value{dy.Mul(x.MaskSelect(x.Greater(0)).Sum()), {}} }),
			"the gradient has extents that are known only when the model runs"},
		"a mistake in a gradient": {gradient(func(_, dy nn.Value) []nn.Value { return []nn.Value{dy.Sum(3), {}} }), "Sum: axis 3 out of range for rank 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var at *nn.Error
			err := nn.Try(c.f)
			if !errors.As(err, &at) || !strings.Contains(at.Msg, c.want) {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			if !strings.Contains(at.Pos, "custom_test.go:") {
				t.Errorf("the error is at %s", at.Pos)
			}
		})
	}
}

// TestGradientSeesOnlyItsOperands asserts that the gradient of a recorded operator cannot use inputs
// of the method.
func TestGradientSeesOnlyItsOperands(t *testing.T) {
	_, err := recorded(nil, []ir.Type{ir.StaticTensor(ir.F64, 3)}, func(in []nn.Value) []nn.Value {
		return []nn.Value{warp(in[0], in[0], nn.Gradient(func(_, _, gradients []nn.Value) []nn.Value {
			return []nn.Value{gradients[0].Mul(in[0].Sum()), {}}
		}))}
	}, 1)
	if err == nil || !strings.Contains(err.Error(), "the value depends on input x0, and is used outside of it") {
		t.Errorf("error %v", err)
	}
}
