package storage

import (
	"bytes"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// typeOf parses a type.
func typeOf(t *testing.T, text string) ir.Type {
	t.Helper()
	m, err := ir.Parse("func @f(%x: "+text+") -> (y: "+text+") {\n  return %x\n}\n", Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0].Params[0].Type
}

func TestBlocked(t *testing.T) {
	for _, c := range []struct{ planar, blocked string }{
		{"f32[N,20,H,W]", "f32[N,2,H,W,16]"},
		{"f32[N,16,5]", "f32[N,1,5,16]"},
		{"f32[2,1,3,3]", "f32[2,1,3,3,16]"},
		{"u8[N,20,4,4]", "u8[N,2,4,4,16]"},
		{"i8[N,20,4,4]", "u8[N,2,4,4,16]"},
		{"f32[N,C,4,4]", ""},
		{"f32[N,0,4,4]", ""},
		{"f32[N,20]", ""},
		{"f32[N,20,4,4,4]", ""},
		{"f64[N,20,4,4]", ""},
		{"i32[N,20,4,4]", ""},
	} {
		got, ok := Blocked(typeOf(t, c.planar))
		if ok != (c.blocked != "") || ok && got.String() != c.blocked {
			t.Errorf("%s in blocks: %s, %t, want %q", c.planar, got, ok, c.blocked)
		}
	}
}

// TestToBlockedAndBack asserts that a value is the same after it was blocked, and that its memory is
// shared where the order of its elements stays: for whole blocks of channels of one pixel.
func TestToBlockedAndBack(t *testing.T) {
	for _, c := range []struct {
		dtype  ir.DType
		shape  []int
		shares bool
	}{
		{ir.F32, []int{2, 20, 3, 2}, false},
		{ir.F32, []int{2, 32, 1, 1}, true},
		{ir.F32, []int{2, 32, 1, 2}, false},
		{ir.F32, []int{2, 20, 1, 1}, false},
		{ir.F32, []int{1, 16, 1}, true},
		{ir.U8, []int{2, 20, 3}, false},
		{ir.U8, []int{2, 16, 1, 1}, true},
		{ir.I8, []int{2, 16, 1, 1}, false}, // its blocks are of u8
		{ir.I8, []int{2, 20, 3}, false},
	} {
		f := &ir.Func{Name: "f"}
		b := ir.NewBuilder(f)
		x := ir.NewTensor(c.dtype, c.shape...)
		for i := range x.Len() {
			if c.dtype == ir.F32 {
				x.SetFloat(i, float64(i))
			} else {
				x.SetInt(i, int64(i%100))
			}
		}
		var blocked *ir.Value
		if err := ir.Try(func() {
			v := b.Param("x", x.Type())
			blocked = ToBlocked(b, v)
			b.Return(FromBlocked(b, blocked, v.Type))
		}); err != nil {
			t.Fatal(err)
		}
		if want, _ := Blocked(x.Type()); !blocked.Type.Equal(want) {
			t.Errorf("%s in blocks is %s, want %s", x.Type(), blocked.Type, want)
		}
		if _, shares := blocked.Def.Op.(op.Reshape); shares != c.shares {
			t.Errorf("%s: blocked by %s", x.Type(), blocked.Def)
		}
		f.ResultNames = []string{"y"}
		out, err := new(ir.Evaluator).Run(f, []*ir.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		if !out[0].Type().Equal(x.Type()) || !bytes.Equal(out[0].Bytes(), x.Bytes()) {
			t.Errorf("%s is another value after blocking", x.Type())
		}
	}
}
