package cpu_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestCompare(t *testing.T) {
	nan := float32(math.NaN())
	a := []float32{1, 2, 3, nan, 0, float32(math.Copysign(0, -1))}
	b := []float32{2, 2, 2, 2, nan, 0}
	for _, c := range []struct {
		name           string
		slices         func(dst []bool, a, b []float32)
		scalar         func(dst []bool, a []float32, b float32)
		want, wantTwos string // 1 for true
	}{
		{"equal", cpu.Equal[float32], cpu.EqualScalar[float32], "010001", "010000"},
		{"less", cpu.Less[float32], cpu.LessScalar[float32], "100000", "100011"},
		{"less or equal", cpu.LessOrEqual[float32], cpu.LessOrEqualScalar[float32], "110001", "110011"},
		{"greater", cpu.Greater[float32], cpu.GreaterScalar[float32], "001000", "001000"},
		{"greater or equal", cpu.GreaterOrEqual[float32], cpu.GreaterOrEqualScalar[float32], "011001", "011000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := make([]bool, len(a))
			if c.slices(dst, a, b); digits(dst) != c.want {
				t.Errorf("got %v, want %v", digits(dst), c.want)
			}
			if c.scalar(dst, a, 2); digits(dst) != c.wantTwos {
				t.Errorf("with 2: got %v, want %v", digits(dst), c.wantTwos)
			}
		})
	}
	dst := make([]bool, 2)
	if cpu.Equal(dst, []string{"a", "b"}, []string{"a", "c"}); digits(dst) != "10" {
		t.Errorf("strings: %v", digits(dst))
	}
	if cpu.EqualScalar(dst, []bool{false, true}, true); digits(dst) != "01" {
		t.Errorf("booleans: %v", digits(dst))
	}
}

func digits(b []bool) string {
	d := make([]byte, len(b))
	for i, v := range b {
		d[i] = '0'
		if v {
			d[i] = '1'
		}
	}
	return string(d)
}

func TestClass(t *testing.T) {
	x := []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}
	dst := make([]bool, len(x))
	if cpu.IsNaN(dst, x); digits(dst) != "00010" {
		t.Errorf("NaN: %v", digits(dst))
	}
	for _, c := range []struct {
		negative, positive bool
		want               string
	}{{true, true, "01100"}, {true, false, "00100"}, {false, true, "01000"}, {false, false, "00000"}} {
		if cpu.IsInf(dst, x, c.negative, c.positive); digits(dst) != c.want {
			t.Errorf("infinity %+v: %v", c, digits(dst))
		}
	}
}

func TestLogic(t *testing.T) {
	a, b := []bool{false, false, true, true}, []bool{false, true, false, true}
	dst := make([]bool, 4)
	for _, c := range []struct {
		name string
		run  func()
		want string
	}{
		{"and", func() { cpu.And(dst, a, b) }, "0001"},
		{"or", func() { cpu.Or(dst, a, b) }, "0111"},
		{"xor", func() { cpu.Xor(dst, a, b) }, "0110"},
		{"not", func() { cpu.Not(dst, a) }, "1100"},
		{"and true", func() { cpu.AndScalar(dst, a, true) }, "0011"},
		{"and false", func() { cpu.AndScalar(dst, a, false) }, "0000"},
		{"or true", func() { cpu.OrScalar(dst, a, true) }, "1111"},
		{"or false", func() { cpu.OrScalar(dst, a, false) }, "0011"},
		{"xor true", func() { cpu.XorScalar(dst, a, true) }, "1100"},
	} {
		if c.run(); digits(dst) != c.want {
			t.Errorf("%s: got %v, want %v", c.name, digits(dst), c.want)
		}
	}
}

func TestWhere(t *testing.T) {
	cond, x, y, dst := []bool{true, false, true}, []string{"a", "b", "c"}, []string{"x", "y", "z"}, make([]string, 3)
	for _, c := range []struct {
		name string
		run  func()
		want []string
	}{
		{"slices", func() { cpu.Where(dst, cond, x, y) }, []string{"a", "y", "c"}},
		{"scalar x", func() { cpu.WhereScalarX(dst, cond, "s", y) }, []string{"s", "y", "s"}},
		{"scalar y", func() { cpu.WhereScalarY(dst, cond, x, "s") }, []string{"a", "s", "c"}},
		{"scalars", func() { cpu.WhereScalars(dst, cond, "s", "t") }, []string{"s", "t", "s"}},
		{"over x", func() { copy(dst, x); cpu.Where(dst, cond, dst, y) }, []string{"a", "y", "c"}},
		{"over y", func() { copy(dst, y); cpu.Where(dst, cond, x, dst) }, []string{"a", "y", "c"}},
	} {
		if c.run(); !slices.Equal(dst, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, dst, c.want)
		}
	}
}
