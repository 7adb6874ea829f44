package op

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// echo copies its operand to its result.
func echo[T rt.Element](c *rt.Call) error {
	copy(rt.Data[T](c.Out[0]), rt.Data[T](c.In[0]))
	return nil
}

// echoes has a function for each element type.
var echoes = map[ir.DType]func(*rt.Call) error{
	ir.F64: echo[float64], ir.F32: echo[float32], ir.F16: echo[rt.Float16], ir.BF16: echo[rt.BFloat16],
	ir.F8E4M3FN: echo[rt.Float8E4M3FN], ir.F8E4M3FNUZ: echo[rt.Float8E4M3FNUZ],
	ir.F8E5M2: echo[rt.Float8E5M2], ir.F8E5M2FNUZ: echo[rt.Float8E5M2FNUZ],
	ir.F8E8M0: echo[rt.Float8E8M0], ir.F4E2M1: echo[rt.Float4E2M1],
	ir.I64: echo[int64], ir.I32: echo[int32], ir.I16: echo[int16], ir.I8: echo[int8], ir.I4: echo[int8], ir.I2: echo[int8],
	ir.U64: echo[uint64], ir.U32: echo[uint32], ir.U16: echo[uint16], ir.U8: echo[uint8], ir.U4: echo[uint8], ir.U2: echo[uint8],
	ir.Bool: echo[bool], ir.String: echo[string],
}

// customOf returns a custom operator whose function is f.
func customOf(t *testing.T, typ string, f func(*rt.Call) error, attrs ...ir.Attribute) Custom {
	t.Helper()
	c, err := NewCustom("example.com/ops.F", typ, attrs, func(symbol string) string { return symbol + "_1" })
	if err != nil {
		t.Fatal(err)
	}
	return c.With(Local{Call: f})
}

// TestCustomPassesEveryElementType asserts that a function gets the elements of each type, and that
// its elements are the result.
func TestCustomPassesEveryElementType(t *testing.T) {
	if len(echoes) != len(carriers) {
		t.Errorf("%d functions for %d element types", len(echoes), len(carriers))
	}
	for d, f := range echoes {
		x := ir.NewTensor(d, 3)
		for i := range 3 {
			if d == ir.String {
				x.SetText(i, strings.Repeat("é", i))
			} else {
				x.SetNumber(i, float64(1+i%2))
			}
		}
		out, err := customOf(t, "("+d.String()+"[N]) -> "+d.String()+"[N]", f).Eval([]*ir.Tensor{x})
		if err != nil {
			t.Errorf("%s: %v", d, err)
		} else if !out[0].Equal(x) {
			t.Errorf("%s: %s, want %s", d, out[0], x)
		}
	}
}

// TestCustomDecidesExtents asserts that the extents that the function decides are the result's.
func TestCustomDecidesExtents(t *testing.T) {
	c := customOf(t, "(f32[N]) -> (i64[P], f32[P,N])", func(c *rt.Call) error {
		c.Out[0].Resize(2)
		c.Out[1].Resize(2, c.In[0].Dim(0))
		copy(rt.Data[int64](c.Out[0]), []int64{7, 8})
		clear(rt.Data[float32](c.Out[1]))
		return nil
	})
	out, err := c.Eval([]*ir.Tensor{ir.FloatTensor(ir.F32, 1, 2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if !out[0].Equal(ir.IntTensor(ir.I64, 7, 8)) || !slices.Equal(out[1].Shape, []int{2, 3}) {
		t.Errorf("results %s and %s", out[0], out[1])
	}
	fixed, err := c.Decided([]ir.Type{out[0].Type(), out[1].Type()})
	if err != nil {
		t.Fatal(err)
	}
	if want := "(f32[N]) -> (i64[2], f32[2,N])"; fixed.Type != want || len(fixed.Extents) != 0 {
		t.Errorf("the decided type is %s with extents %v, want %s", fixed.Type, fixed.Extents, want)
	}
	if again, err := fixed.Eval([]*ir.Tensor{ir.FloatTensor(ir.F32, 1, 2, 3)}); err != nil || !again[0].Equal(out[0]) {
		t.Errorf("with a decided type: %v, %v", again, err)
	}
}

// TestCustomPassesAttributes asserts that a function gets the attributes as in generated code.
func TestCustomPassesAttributes(t *testing.T) {
	text := ir.NewTensor(ir.String)
	text.SetText(0, "fast")
	c := customOf(t, "() -> f32[]", func(c *rt.Call) error {
		want := []rt.Attr{
			{Name: "i", Value: int64(3)}, {Name: "f", Value: float32(0.5)}, {Name: "s", Value: "fast"},
			{Name: "is", Value: []int64{1, 2}}, {Name: "fs", Value: []float32{}},
		}
		if got := c.Attrs.All(); !reflect.DeepEqual(got, want) {
			t.Errorf("attributes %v, want %v", got, want)
		}
		return nil
	}, ir.Attribute{Name: "i", Value: ir.IntTensor(ir.I64, 3).Reshape()}, ir.Attribute{Name: "f", Value: ir.Scalar(ir.F32, 0.5)},
		ir.Attribute{Name: "s", Value: text}, ir.Attribute{Name: "is", Value: ir.IntTensor(ir.I64, 1, 2)}, ir.Attribute{Name: "fs", Value: ir.NewTensor(ir.F32, 0)})
	if _, err := c.Eval(nil); err != nil {
		t.Error(err)
	}
}

// TestCustomReportsMistakes asserts that mistakes of a function are errors.
func TestCustomReportsMistakes(t *testing.T) {
	own := errors.New("too large")
	for name, test := range map[string]struct {
		f    func(*rt.Call) error
		want string
	}{
		"an error":               {func(*rt.Call) error { return own }, "too large"},
		"a panic":                {func(*rt.Call) error { panic("boom") }, "example.com/ops.F: panic: boom"},
		"a result that is not":   {func(c *rt.Call) error { c.Out[1].Resize(1); return nil }, "example.com/ops.F: panic: runtime error: index out of range"},
		"another element type":   {func(c *rt.Call) error { rt.Data[int64](c.In[0]); return nil }, "example.com/ops.F: operand 0 is f32, not i64"},
		"no extent":              {func(c *rt.Call) error { return nil }, "example.com/ops.F: result 0: it has no shape: Resize gives it"},
		"another rank":           {func(c *rt.Call) error { c.Out[0].Resize(1, 1); return nil }, "example.com/ops.F: result 0: shape [1 1], rank 1 expected"},
		"a function not known":   {nil, "custom operator example.com/ops.F: the description does not pass the function example.com/ops.F"},
		"more than memory holds": {func(c *rt.Call) error { c.Out[0].Resize(1 << 60); return nil }, "example.com/ops.F: result 0: "},
	} {
		_, err := customOf(t, "(f32[N]) -> f32[P]", test.f).Eval([]*ir.Tensor{ir.FloatTensor(ir.F32, 1)})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
