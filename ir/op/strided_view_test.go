package op

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestAfter compares copies of copies, and of reshapes of them, with one copy.
func TestAfter(t *testing.T) {
	merged := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(of []int, what string) (StridedCopy, []int) {
			c := StridedCopy{}
			from := RowMajor(dim.Consts(of...))
			var shape []int
			for _, axis := range rapid.Permutation(AllAxes(len(of))).Draw(t, what) {
				n := rapid.IntRange(1, of[axis]).Draw(t, "extent")
				first := rapid.IntRange(0, of[axis]-n).Draw(t, "first")
				step := 1
				if n > 1 {
					step = rapid.IntRange(1, (of[axis]-1-first)/(n-1)).Draw(t, "step")
				}
				shape = append(shape, n)
				c.Strides = append(c.Strides, from[axis].Mul(dim.Const(step)))
				c.Offset = c.Offset.Add(from[axis].Mul(dim.Const(first)))
			}
			c.Shape = dim.Consts(shape...)
			return c, shape
		}
		of := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "shape")
		inner, shape := draw(of, "inner")
		if len(shape) > 1 && rapid.Bool().Draw(t, "reshaped") {
			i := rapid.IntRange(0, len(shape)-2).Draw(t, "axis")
			shape = slices.Concat(shape[:i], []int{shape[i] * shape[i+1]}, shape[i+2:])
		}
		outer, want := draw(shape, "outer")
		x := ir.NewTensor(ir.I64, of...)
		for i := range x.Len() {
			x.SetInt(i, int64(i))
		}
		c, ok := outer.After(inner)
		if !ok {
			return
		}
		merged++
		once, err := inner.Eval([]*ir.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		twice, err := outer.Eval(once)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Eval([]*ir.Tensor{x})
		if err != nil {
			t.Fatalf("%v after %v is %v: %v", outer, inner, c, err)
		}
		if y := twice[0]; got[0].Len() != y.Len() {
			t.Fatalf("%v after %v is %v, of shape %v", outer, inner, c, want)
		}
		for i := range twice[0].Len() {
			if got[0].Int(i) != twice[0].Int(i) {
				t.Fatalf("%v after %v is %v: element %d", outer, inner, c, i)
			}
		}
	})
	if merged == 0 {
		t.Error("no copies are merged")
	}
}

// TestAfterSymbols merges what exporters make of the projections of an attention.
func TestAfterSymbols(t *testing.T) {
	n, s := dim.Sym("N"), dim.Sym("S")
	k := func(c int) dim.Dim { return dim.Const(c) }
	for _, test := range []struct {
		name               string
		outer, inner, want StridedCopy
		ok                 bool
	}{
		{
			"a head of a third, transposed before",
			StridedCopy{Shape: []dim.Dim{n, k(4), s, k(16)}, Strides: []dim.Dim{s.Mul(k(64)), s.Mul(k(16)), k(16), k(1)}, Offset: dim.Product(n, s, k(64))},
			StridedCopy{Shape: []dim.Dim{k(3), n, k(4), s, k(16)}, Strides: []dim.Dim{k(64), s.Mul(k(192)), k(16), k(192), k(1)}},
			StridedCopy{Shape: []dim.Dim{n, k(4), s, k(16)}, Strides: []dim.Dim{s.Mul(k(192)), k(16), k(192), k(1)}, Offset: k(64)},
			true,
		},
		{
			"heads in the batch, transposed after",
			StridedCopy{Shape: []dim.Dim{n.Mul(k(4)), k(16), s}, Strides: []dim.Dim{s.Mul(k(16)), k(1), k(16)}},
			StridedCopy{Shape: []dim.Dim{n, k(4), s, k(16)}, Strides: []dim.Dim{s.Mul(k(64)), k(16), k(64), k(1)}},
			StridedCopy{Shape: []dim.Dim{n, k(4), k(16), s}, Strides: []dim.Dim{s.Mul(k(64)), k(16), k(1), k(64)}},
			true,
		},
		{
			"beyond the rows that are copied",
			StridedCopy{Shape: []dim.Dim{k(2), s}, Strides: []dim.Dim{s, k(1)}},
			StridedCopy{Shape: []dim.Dim{s, k(2)}, Strides: []dim.Dim{k(4), k(1)}},
			StridedCopy{},
			false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, ok := test.outer.After(test.inner)
			if ok != test.ok || ok && !ir.Equal(c, test.want) {
				t.Errorf("%+v %v, want %+v %v", c, ok, test.want, test.ok)
			}
		})
	}
}
