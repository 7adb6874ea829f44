package rt

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// scaled is a custom operator: its result is its operand times an attribute.
func scaled(c *Call) error {
	x, y, by := Data[float32](c.In[0]), Data[float32](c.Out[0]), c.Attrs.Float("by", 1)
	for i, v := range x {
		y[i] = v * by
	}
	return nil
}

// positives is a custom operator that decides an extent: how many elements are above 0,
// where they are and what.
func positives(c *Call) error {
	x, n := Data[float32](c.In[0]), 0
	for _, v := range x {
		if v > 0 {
			n++
		}
	}
	c.Out[0].Resize(n)
	c.Out[1].Resize(n, 1)
	at, values := Data[int64](c.Out[0]), Data[float32](c.Out[1])
	for i, v := range x {
		if v > 0 {
			at[len(at)-n], values[len(at)-n] = int64(i), v
			n--
		}
	}
	return nil
}

func TestCall(t *testing.T) {
	c := NewCall("test.Scaled", 1, 1, nil, Attr{"by", float32(3)})
	x, y := []float32{1, 2, 3, 4, 5, 6}, make([]float32, 6)
	CallIn(c, 0, x, 2, 3)
	CallOut(c, 0, y, 2, 3)
	if err := c.Run(scaled); err != nil {
		t.Fatal(err)
	}
	if y[0] != 3 || y[5] != 18 {
		t.Errorf("result %v", y)
	}
}

func TestCallThatDecidesExtents(t *testing.T) {
	c := NewCall("test.Positives", 1, 2, []string{"P"})
	var at Tensor[int64]
	var values Tensor[float32]
	for _, x := range [][]float32{{-1, 2, 0, 3}, {1}, {-1, 0, -2}, {1, 2, 3, 4, 5}} {
		var want []int64
		for i, v := range x {
			if v > 0 {
				want = append(want, int64(i))
			}
		}
		CallIn(c, 0, x, len(x))
		CallOpen(c, 0, &at, Sym(0))
		CallOpen(c, 1, &values, Sym(0), 1)
		if err := c.Run(positives); err != nil {
			t.Fatal(err)
		}
		if len(at.Data) != len(want) || at.Shape[0] != len(want) || values.Shape[0] != len(want) || values.Shape[1] != 1 {
			t.Fatalf("results %v and %v, %v expected", at, values, want)
		}
		for i, k := range want {
			if at.Data[i] != k || values.Data[i] != x[k] {
				t.Errorf("results %v and %v, %v expected", at, values, want)
			}
		}
	}
}

func TestCallDoesNotAllocate(t *testing.T) {
	c := NewCall("test.Scaled", 1, 1, nil)
	open := NewCall("test.Positives", 1, 2, []string{"P"})
	x, y := make([]float32, 6), make([]float32, 6)
	x[3] = 1
	var at Tensor[int64]
	var values Tensor[float32]
	n := testing.AllocsPerRun(100, func() {
		CallIn(c, 0, x, 2, 3)
		CallOut(c, 0, y, 2, 3)
		CallIn(open, 0, x, 6)
		CallOpen(open, 0, &at, Sym(0))
		CallOpen(open, 1, &values, Sym(0), 1)
		if err := errors.Join(c.Run(scaled), open.Run(positives)); err != nil {
			t.Error(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCallKeepsNothing checks that a session does not keep its caller's memory alive.
func TestCallKeepsNothing(t *testing.T) {
	c := NewCall("test.Scaled", 1, 1, nil)
	CallIn(c, 0, make([]float32, 1), 1)
	CallOut(c, 0, make([]float32, 1), 1)
	var kept *Call
	if err := c.Run(func(c *Call) error { kept = c; return scaled(c) }); err != nil {
		t.Fatal(err)
	}
	if x := Data[float32](kept.In[0]); x != nil || kept.Err() == nil {
		t.Errorf("after the call, operand 0 is %v and the error %v", x, kept.Err())
	}
}

// sizes gives the results of TestMistakesInCalls shapes.
func sizes(c *Call, first, last int) {
	c.Out[0].Resize(first)
	c.Out[1].Resize(2, 4)
	c.Out[2].Resize(last)
}

// TestMistakesInCalls checks what is said about functions that do not fit what they are
// given: nothing panics.
func TestMistakesInCalls(t *testing.T) {
	own := errors.New("too long")
	for name, test := range map[string]struct {
		f    func(*Call) error
		want string // "" for none
	}{
		"none":                          {func(c *Call) error { sizes(c, 3, 3); return nil }, ""},
		"the function's own error":      {func(c *Call) error { return own }, "too long"},
		"its own error comes first":     {func(c *Call) error { Data[int8](c.In[0]); return own }, "too long"},
		"another element type":          {func(c *Call) error { Data[float64](c.In[0]); return nil }, "test.F: operand 0 is f32, not f64"},
		"the first of two mistakes":     {func(c *Call) error { Data[int8](c.In[0]); Data[int16](c.In[0]); return nil }, "test.F: operand 0 is f32, not i8"},
		"a mistake that is passed on":   {func(c *Call) error { Data[int8](c.In[0]); return c.Err() }, "test.F: operand 0 is f32, not i8"},
		"a mistake that makes it panic": {func(c *Call) error { _ = Data[int8](c.In[0])[3]; return nil }, "test.F: operand 0 is f32, not i8"},
		"a panic":                       {func(c *Call) error { panic("over") }, "test.F: panic: over"},
		"an operand that is not there":  {func(c *Call) error { Data[float32](c.In[7]); return nil }, "test.F: panic: runtime error: index out of range"},
		"no operand":                    {func(c *Call) error { Data[float32](nil); (*Arg)(nil).Resize(1); return (*Arg)(nil).call.Err() }, "panic"},
		"an axis that is not there":     {func(c *Call) error { c.In[0].Dim(2); return nil }, "test.F: operand 0: axis 2 of a tensor of rank 2"},
		"a negative axis":               {func(c *Call) error { c.In[0].Dim(-1); return nil }, "test.F: operand 0: axis -1 of a tensor of rank 2"},
		"an attribute of another kind":  {func(c *Call) error { c.Attrs.Ints("mode", nil); return nil }, `test.F: attribute "mode" is string, not []int64`},
		"no shape":                      {func(c *Call) error { return nil }, "test.F: result 0: it has no shape: Resize gives it"},
		"data before the shape":         {func(c *Call) error { Data[int64](c.Out[0]); return nil }, "test.F: result 0 has no shape yet: Resize gives it"},
		"an operand is resized":         {func(c *Call) error { c.In[0].Resize(1); return nil }, "test.F: operand 0 cannot be resized"},
		"another rank":                  {func(c *Call) error { c.Out[0].Resize(1, 1); return nil }, "test.F: result 0: shape [1 1], rank 1 expected"},
		"another extent":                {func(c *Call) error { c.Out[1].Resize(1, 5); return nil }, "test.F: result 1: shape [1 5], [?,4] expected"},
		"a negative extent":             {func(c *Call) error { c.Out[0].Resize(-1); return nil }, "test.F: result 0: shape [-1], [P] expected"},
		"an extent that no memory has":  {func(c *Call) error { c.Out[0].Resize(math.MaxInt); return nil }, "test.F: result 0: "},
		"extents that differ":           {func(c *Call) error { sizes(c, 3, 2); return nil }, "test.F: result 2: shape [2]: [P] expected, and P is 3 elsewhere"},
		"a shape that is changed":       {func(c *Call) error { sizes(c, 3, 2); c.Out[0].Shape()[0] = 2; return nil }, "test.F: result 0: tensor: shape [2] has 2 elements: data has 3"},
	} {
		t.Run(name, func(t *testing.T) {
			call := NewCall("test.F", 1, 3, []string{"P"}, Attr{"mode", "fast"})
			CallIn(call, 0, make([]float32, 6), 2, 3)
			var open [3]Tensor[int64]
			CallOpen(call, 0, &open[0], Sym(0))
			CallOpen(call, 1, &open[1], AnyDim, 4)
			CallOpen(call, 2, &open[2], Sym(0))
			err := call.Run(test.f)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, %q expected", err, test.want)
			}
			if strings.HasPrefix(test.want, "too long") && !errors.Is(err, own) {
				t.Errorf("%v is not the function's error", err)
			}
		})
	}
}

// TestCallsThatAreNotPassed checks what tests of functions may do wrong.
func TestCallsThatAreNotPassed(t *testing.T) {
	c := NewCall("test.Scaled", 1, 1, nil)
	CallIn(c, 1, []float32{1}, 1)
	CallOpen[float32](c, 0, nil, 1)
	if err := c.Run(scaled); err == nil || err.Error() != "test.Scaled: operand 0: it is not passed" {
		t.Errorf("error %v", err)
	}
	CallIn(c, 0, []float32{1}, 2)
	if err := c.Run(scaled); err == nil || !strings.Contains(err.Error(), "operand 0: tensor: shape [2]") {
		t.Errorf("error %v", err)
	}
}

func TestAttrs(t *testing.T) {
	c := NewCall("test.F", 0, 0, nil,
		Attr{"i", int64(1)}, Attr{"f", float32(2)}, Attr{"s", "three"},
		Attr{"is", []int64{1}}, Attr{"fs", []float32{2}}, Attr{"ss", []string{"three"}})
	a := c.Attrs
	if a.Int("i", 0) != 1 || a.Float("f", 0) != 2 || a.Text("s", "") != "three" ||
		a.Ints("is", nil)[0] != 1 || a.Floats("fs", nil)[0] != 2 || a.Texts("ss", nil)[0] != "three" {
		t.Error("an attribute is not what it was given as")
	}
	if a.Int("none", 7) != 7 || a.Text("none", "seven") != "seven" || len(a.Ints("none", []int64{7})) != 1 || a.Has("none") || !a.Has("ss") {
		t.Error("an attribute that is not there has no default")
	}
	if len(a.All()) != 6 || a.All()[2].Name != "s" || (Attrs{}).Has("i") {
		t.Errorf("attributes %v", a.All())
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}
