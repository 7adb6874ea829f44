package ir_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
)

// TestTensorBytes asserts that tensors of every type are encoded in the bytes that they are decoded
// from.
func TestTensorBytes(t *testing.T) {
	for _, d := range ir.DTypes() {
		x := ir.NewTensor(d, 3, 2)
		for i := range x.Len() {
			switch {
			case d == ir.String:
				x.SetText(i, []string{"", "a", "ü"}[i%3])
			case d.IsFloat():
				x.SetFloat(i, float64(i))
			case d == ir.Bool:
				x.SetBool(i, i%2 == 1)
			default:
				x.SetInt(i, int64(i)-2)
			}
		}
		y, err := ir.DecodeTensor(d, x.Shape, x.Bytes())
		if err != nil || !y.Equal(x) {
			t.Errorf("%s: %s becomes %s, error %v", d, x, y, err)
		}
		if data := x.Bytes(); len(data) > 0 {
			if _, err := ir.DecodeTensor(d, x.Shape, data[:len(data)-1]); err == nil {
				t.Errorf("%s: a missing byte is not an error", d)
			}
		}
	}
}

func TestRoundFloat(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		d       ir.DType
		v, want float64
	}{
		{ir.F64, 1 + 0x1p-52, 1 + 0x1p-52},
		{ir.F32, 1 + 0x1p-25, 1},
		{ir.F32, 1e300, inf},
		{ir.F16, 1 + 0x1p-11, 1}, // a tie, to even
		{ir.F16, 1 + 0x3p-11, 1 + 0x2p-10},
		{ir.F16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10}, // rounded once, not through float32
		{ir.F16, 65520, inf},
		{ir.BF16, 1 + 0x1p-8, 1},
		{ir.BF16, -inf, -inf},
		{ir.F8E4M3FN, 17, 16},
		{ir.F8E4M3FN, 1000, 448},
	} {
		if got := ir.RoundFloat(c.d, c.v); got != c.want {
			t.Errorf("%v as %s is %v, want %v", c.v, c.d, got, c.want)
		}
	}
}

func TestWrapInt(t *testing.T) {
	for _, c := range []struct {
		d       ir.DType
		v, want int64
	}{
		{ir.I64, math.MinInt64, math.MinInt64}, {ir.I8, 128, -128}, {ir.I8, -129, 127}, {ir.U8, -1, 255}, {ir.U8, 256, 0},
		{ir.I4, 7, 7}, {ir.I4, 8, -8}, {ir.U4, 17, 1}, {ir.I2, 2, -2}, {ir.U2, -1, 3}, {ir.U32, -1, math.MaxUint32},
		{ir.U64, -1, -1}, {ir.Bool, 7, 1}, {ir.Bool, 0, 0},
	} {
		if got := ir.WrapInt(c.d, c.v); got != c.want {
			t.Errorf("%d as %s is %d, want %d", c.v, c.d, got, c.want)
		}
	}
}

// TestSplat asserts that a tensor of equal elements stores one, and equals the tensor that stores all.
func TestSplat(t *testing.T) {
	x, y := ir.Splat(ir.Scalar(ir.F32, 2), 3, 4), ir.NewTensor(ir.F32, 3, 4)
	for i := range y.Len() {
		y.SetFloat(i, 2)
	}
	if x.Stored() != 1 || !x.IsSplat() || x.Len() != 12 || x.Float(11) != 2 {
		t.Errorf("%s stores %d elements", x, x.Stored())
	}
	if !x.Equal(y) || !y.Equal(x) {
		t.Errorf("%s and %s differ", x, y)
	}
	if y.SetFloat(5, 3); x.Equal(y) || y.Equal(x) {
		t.Errorf("%s and %s are equal", x, y)
	}
}

func TestCheckedLen(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  int
		ok    bool
	}{
		{nil, 1, true}, {[]int{2, 3}, 6, true}, {[]int{0, math.MaxInt, math.MaxInt}, 0, true},
		{[]int{-1}, 0, false}, {[]int{math.MaxInt, 2}, 0, false},
	} {
		if got, err := ir.CheckedLen(c.shape); got != c.want && c.ok || (err == nil) != c.ok {
			t.Errorf("%v: %d, error %v", c.shape, got, err)
		}
	}
}
