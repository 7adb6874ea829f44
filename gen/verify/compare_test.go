package verify

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

func TestCheckTensor(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want *ir.Tensor
		strict    bool
		weights   ir.DType
		rounding  float64
		why       string // "" for equal
	}{
		{name: "equal", got: ir.FloatTensor(ir.F32, 1, 2), want: ir.FloatTensor(ir.F32, 1, 2)},
		{name: "within the relative limit", got: ir.FloatTensor(ir.F32, 1000.9), want: ir.FloatTensor(ir.F32, 1000), strict: true},
		{name: "beyond the relative limit", got: ir.FloatTensor(ir.F32, 1001.1), want: ir.FloatTensor(ir.F32, 1000), strict: true,
			why: `output "y": element 0 [0] is 1001.1, want 1000`},
		{name: "small beside large is allowed for", got: ir.FloatTensor(ir.F32, 1000, 0.05), want: ir.FloatTensor(ir.F32, 1000, 0)},
		{name: "small beside large is not, when strict", got: ir.FloatTensor(ir.F32, 1000, 0.05), want: ir.FloatTensor(ir.F32, 1000, 0), strict: true,
			why: `element 1 [1] is 0.05, want 0`},
		{name: "the absolute limit", got: ir.FloatTensor(ir.F32, 0.9e-5), want: ir.FloatTensor(ir.F32, 0)},
		{name: "beyond the absolute limit", got: ir.FloatTensor(ir.F32, 1.1e-5), want: ir.FloatTensor(ir.F32, 0), why: "element 0"},
		{name: "NaN is NaN", got: ir.FloatTensor(ir.F32, nan), want: ir.FloatTensor(ir.F32, nan)},
		{name: "NaN is not a number", got: ir.FloatTensor(ir.F32, nan), want: ir.FloatTensor(ir.F32, 1), why: "is NaN, want 1"},
		{name: "a number is not a NaN", got: ir.FloatTensor(ir.F32, 1), want: ir.FloatTensor(ir.F32, nan), why: "is 1, want NaN"},
		{name: "infinities by sign", got: ir.FloatTensor(ir.F32, inf, -inf), want: ir.FloatTensor(ir.F32, inf, -inf)},
		{name: "infinities of other signs", got: ir.FloatTensor(ir.F32, -inf), want: ir.FloatTensor(ir.F32, inf), why: "is -Inf, want +Inf"},
		{name: "infinity is not large", got: ir.FloatTensor(ir.F32, inf), want: ir.FloatTensor(ir.F32, 3e38), why: "is +Inf"},
		{name: "f16 within a hundredth", got: ir.FloatTensor(ir.F16, 1.0078), want: ir.FloatTensor(ir.F16, 1)},
		{name: "f16 of the largest", got: ir.FloatTensor(ir.F16, 100, 0.09), want: ir.FloatTensor(ir.F16, 100, 0)},
		{name: "f16 beyond", got: ir.FloatTensor(ir.F16, 1.02), want: ir.FloatTensor(ir.F16, 1), why: "want 1"},
		{name: "bf16 has four times as much", got: ir.FloatTensor(ir.BF16, 1.03), want: ir.FloatTensor(ir.BF16, 1)},
		{name: "bf16 beyond", got: ir.FloatTensor(ir.BF16, 1.06), want: ir.FloatTensor(ir.BF16, 1), why: "want 1"},
		{name: "f32 of f16 weights", got: ir.FloatTensor(ir.F32, 1.008, 1e-4), want: ir.FloatTensor(ir.F32, 1, 1e-3), weights: ir.F16},
		{name: "f32 of f16 weights beyond", got: ir.FloatTensor(ir.F32, 1.02), want: ir.FloatTensor(ir.F32, 1), weights: ir.F16, why: "want 1"},
		{name: "f32 of bf16 weights", got: ir.FloatTensor(ir.F32, 1.03), want: ir.FloatTensor(ir.F32, 1), weights: ir.BF16},
		{name: "f32 of f32 weights", got: ir.FloatTensor(ir.F32, 1.008), want: ir.FloatTensor(ir.F32, 1), weights: ir.F32, why: "want 1"},
		{name: "rounded products", got: ir.FloatTensor(ir.F32, 1.01, 0.005), want: ir.FloatTensor(ir.F32, 1, 0), strict: true, rounding: 0x1p-6},
		{name: "rounded products beyond", got: ir.FloatTensor(ir.F32, 1.04), want: ir.FloatTensor(ir.F32, 1), rounding: 0x1p-6, why: "want 1"},
		{name: "f8 is exact", got: ir.FloatTensor(ir.F8E5M2, 1.25), want: ir.FloatTensor(ir.F8E5M2, 1), why: "is 1.25, want 1"},
		{name: "integers are exact", got: ir.IntTensor(ir.I64, 1, 3, 2), want: ir.IntTensor(ir.I64, 1, 2, 3), why: "element 1 [1] is 3, want 2 (2 of 3 differ)"},
		{name: "another type", got: ir.IntTensor(ir.I32, 1), want: ir.IntTensor(ir.I64, 1), why: "i32[1], want i64[1]"},
		{name: "another shape", got: ir.FloatTensor(ir.F32, 1, 2), want: ir.FloatTensor(ir.F32, 1, 2).Reshape(2, 1), why: "f32[2], want f32[2,1]"},
		{name: "indexes", got: ir.FloatTensor(ir.F32, 0, 0, 0, 0, 9, 0).Reshape(2, 3), want: ir.NewTensor(ir.F32, 2, 3), why: "element 4 [1 1] is 9, want 0"},
		{name: "strings", got: words("a", "c"), want: words("a", "b"), why: `is "c", want "b"`},
		{name: "nothing", got: ir.NewTensor(ir.F32, 0, 3), want: ir.NewTensor(ir.F32, 0, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &judge{ports: &ports{results: []port{{name: "y"}}, rounding: c.rounding}, strict: c.strict, weights: c.weights}
			w := trialOf(c.want)
			w.name, w.output = "y", 0
			why := j.check(&onnx.Value{Tensor: c.got}, w)
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("got %q, want %q", why, c.why)
			}
		})
	}
}

func words(list ...string) *ir.Tensor {
	t := ir.NewTensor(ir.String, len(list))
	for i, s := range list {
		t.SetText(i, s)
	}
	return t
}

func TestRandomOutputsByType(t *testing.T) {
	j := &judge{ports: &ports{results: []port{{name: "y", random: true}}}}
	w := trialOf(ir.FloatTensor(ir.F32, 1, 2))
	w.output = 0
	if why := j.check(&onnx.Value{Tensor: ir.FloatTensor(ir.F32, 3, 4)}, w); why != "" {
		t.Error(why)
	}
	if why := j.check(&onnx.Value{Tensor: ir.FloatTensor(ir.F32, 3)}, w); why == "" {
		t.Error("another shape is accepted")
	}
}

// TestQuantised asserts that quantised values may be off by one quantum in few places, if the
// evaluator computes the same values.
func TestQuantised(t *testing.T) {
	const n, places = 200, 0.01 * 200
	for _, d := range []struct {
		name    string
		dtype   ir.DType
		quantum float64
	}{{"integers", ir.U8, 1}, {"floats", ir.F32, 0.3}} {
		// with returns 100 quanta everywhere, and more at the first few places.
		with := func(count int, more float64) *ir.Tensor {
			v := ir.NewTensor(ir.F64, n)
			for i := range n {
				v.SetFloat(i, 100)
				if i < count {
					v.SetFloat(i, 100+more)
				}
			}
			y := ir.NewTensor(d.dtype, n)
			for i := range n {
				if d.dtype.IsInt() {
					y.SetInt(i, int64(v.Float(i)))
				} else {
					y.SetFloat(i, float64(float32(v.Float(i))*float32(d.quantum)))
				}
			}
			return y
		}
		want, off := with(0, 0), with(places, 1)
		for _, c := range []struct {
			name      string
			got, eval *ir.Tensor
			quantum   float64
			ok        bool
		}{
			{"few are off", off, off, d.quantum, true},
			{"below", with(1, -1), with(1, -1), d.quantum, true},
			{"the output is not quantised", off, off, 0, false},
			{"a smaller quantum", off, off, d.quantum * 0.99, false},
			{"the evaluator does not agree", off, want, d.quantum, false},
			{"by more than one", with(1, 2), with(1, 2), d.quantum, false},
			{"too many", with(places+1, 1), with(places+1, 1), d.quantum, false},
		} {
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				j := &judge{
					ports: &ports{results: []port{{name: "y", quantum: c.quantum}}},
					eval:  func() ([]*onnx.Value, error) { return []*onnx.Value{{Tensor: c.eval}}, nil },
				}
				w := trialOf(want)
				w.output = 0
				if why := j.check(&onnx.Value{Tensor: c.got}, w); (why == "") != c.ok {
					t.Errorf("got %q", why)
				}
			})
		}
	}
}

// TestQuantisedExtremes asserts that the extremes of a quantised output may be off by as much as
// its elements. The reference holds only a part of this output.
func TestQuantisedExtremes(t *testing.T) {
	w := want{
		name: "y", dtype: ir.F32, shape: []int{3},
		parts: []part{{1, ir.FloatTensor(ir.F32, 0)}},
		stats: &stats{Count: 3, SumSq: 4, Min: 0, Max: 2},
	}
	for _, c := range []struct {
		name    string
		quantum float64
		highest float64
		eval    float64
		ok      bool
	}{
		{"one quantum", 0.5, 2.5, 2.5, true},
		{"two quanta", 0.5, 3, 3, false},
		{"not quantised", 0, 2.5, 2.5, false},
		{"the evaluator does not agree", 0.5, 2.5, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &judge{
				ports: &ports{results: []port{{name: "y", quantum: c.quantum}}},
				eval: func() ([]*onnx.Value, error) {
					return []*onnx.Value{{Tensor: ir.FloatTensor(ir.F32, 0, 1, c.eval)}}, nil
				},
			}
			if why := j.check(&onnx.Value{Tensor: ir.FloatTensor(ir.F32, 0, 1, c.highest)}, w); (why == "") != c.ok {
				t.Errorf("got %q", why)
			}
		})
	}
}

func TestCheckContainers(t *testing.T) {
	one := func(v ...float64) *onnx.Value { return &onnx.Value{Tensor: ir.FloatTensor(ir.F32, v...)} }
	list := func(items ...*onnx.Value) *onnx.Value { return &onnx.Value{Items: items} }
	j := &judge{ports: &ports{results: []port{{name: "y"}}}}
	for _, c := range []struct {
		name      string
		got, want *onnx.Value
		why       string
	}{
		{"equal", list(one(1), one(2, 3)), list(one(1), one(2, 3)), ""},
		{"empty", list(), list(), ""},
		{"a longer sequence", list(one(1)), list(), "1 elements, want 0"},
		{"another element", list(one(1), one(2, 4)), list(one(1), one(2, 3)), "item 1: element 1"},
		{"a tensor", one(1), list(one(1)), "container expected"},
		{"no tensor", list(list()), list(one(1)), "item 0: not a tensor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			why := j.check(c.got, want{name: "y", value: c.want})
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("got %q, want %q", why, c.why)
			}
		})
	}
}

// What is known of a large output only in parts is compared in parts.
func TestParts(t *testing.T) {
	full := ir.NewTensor(ir.F32, 10)
	for i := range 10 {
		full.SetFloat(i, float64(i))
	}
	w := want{
		name: "y", dtype: ir.F32, shape: []int{10},
		parts: []part{{1, ir.FloatTensor(ir.F32, 0, 1)}, {3, ir.FloatTensor(ir.F32, 0, 3, 6, 9)}},
		stats: &stats{Count: 10, SumSq: 285, Min: 0, Max: 9},
	}
	j := &judge{ports: &ports{results: []port{{name: "y"}}}}
	for _, c := range []struct {
		name string
		at   int
		to   float64
		why  string
	}{
		{"right", 0, 0, ""},
		{"in the head", 1, 7, "element 1 [1] is 7, want 1"},
		{"on the stride", 6, 5, "element 6 [6] is 5, want 6"},
		{"where nothing is known", 7, 5, ""},
		{"the largest", 8, 11, "the largest element is 11, want 9"},
		{"the smallest", 8, -1, "the smallest element is -1, want 0"},
		{"a NaN", 8, math.NaN(), "1 NaNs, want 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ir.NewTensor(ir.F32, 10)
			for i := range 10 {
				got.Copy(i, full, i)
			}
			got.SetFloat(c.at, c.to)
			why := j.check(&onnx.Value{Tensor: got}, w)
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("got %q, want %q", why, c.why)
			}
		})
	}
}
