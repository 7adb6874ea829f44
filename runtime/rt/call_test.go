package rt

import (
	"errors"
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

// positives is a custom operator that decides an extent. It returns the number of elements above 0,
// their indices, and their values.
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

func TestCallWants(t *testing.T) {
	all := NewCall("test.Grad", 1, 2, nil, Attr{"by", float32(3)})
	some := NewCall("test.Grad", 1, 2, nil, Attr{WantAttr, []int64{0, 1}})
	odd := NewCall("test.Grad", 1, 2, nil, Attr{WantAttr, "x"})
	for _, c := range []struct {
		call *Call
		at   int
		want bool
	}{{all, 0, true}, {all, 1, true}, {all, 2, false}, {all, -1, false}, {some, 0, false}, {some, 1, true}, {odd, 1, true}} {
		if got := c.call.Wants(c.at); got != c.want {
			t.Errorf("%v: result %d is wanted: %t", c.call.attrs, c.at, got)
		}
	}
}
