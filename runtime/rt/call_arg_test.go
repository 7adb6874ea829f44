package rt

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

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

// TestArg asserts what a function can ask of its operands.
func TestArg(t *testing.T) {
	c := NewCall("test.F", 2, 1, nil)
	CallIn(c, 0, make([]float32, 6), 2, 3)
	CallIn(c, 1, []string{"a"})
	CallOut(c, 0, make([]Float16, 2), 2)
	err := c.Run(func(c *Call) error {
		for i, want := range []string{"f32", "string"} {
			if got := c.In[i].DType(); got != want {
				t.Errorf("operand %d is %s, want %s", i, got, want)
			}
		}
		if got := c.Out[0].DType(); got != "f16" {
			t.Errorf("the result is %s", got)
		}
		if x := c.In[0]; !slices.Equal(x.Shape(), []int{2, 3}) || x.Dim(0) != 2 || x.Dim(1) != 3 {
			t.Errorf("operand 0 has shape %v", x.Shape())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if got := (*Arg)(nil).DType(); got != "" {
		t.Errorf("an operand that is absent is %s", got)
	}
}
