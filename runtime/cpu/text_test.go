package cpu_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

func TestStringConcatAndChangeCase(t *testing.T) {
	dst := make([]string, 2)
	if cpu.StringConcat(dst, []string{"a", ""}, []string{"b", "ü"}); !slices.Equal(dst, []string{"ab", "ü"}) {
		t.Errorf("concat: %q", dst)
	}
	if cpu.ChangeCase(dst, []string{"Straße", "É"}, true); !slices.Equal(dst, []string{"STRAßE", "É"}) {
		t.Errorf("upper: %q", dst)
	}
	if cpu.ChangeCase(dst, []string{"ÀB", "c"}, false); !slices.Equal(dst, []string{"àb", "c"}) {
		t.Errorf("lower: %q", dst)
	}
}

func TestRegexFullMatch(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"a|ab", "1100"},
		{"(?i)A", "1000"},
		{"a*$", "1001"},
		{"", "0001"},
		{".*", "1101"}, // no line break
	} {
		dst := make([]bool, 4)
		for range 2 { // the second time the expression is kept
			if err := cpu.RegexFullMatch(dst, []string{"a", "ab", "a\nb", ""}, c.pattern); err != nil || digits(dst) != c.want {
				t.Errorf("%q: %s %v, want %s", c.pattern, digits(dst), err, c.want)
			}
		}
	}
	if err := cpu.RegexFullMatch(nil, nil, "a)(b"); err == nil {
		t.Error("an expression that is none is taken")
	}
}

func TestRemoveStopwords(t *testing.T) {
	x, words := []string{"Mon", "tue", "wed"}, []string{"mon", "wed"}
	for _, c := range []struct {
		name          string
		x             []string
		caseSensitive bool
		want          []string
	}{
		{"in any case", x, false, []string{"tue"}},
		{"by case", x, true, []string{"Mon", "tue"}},
		{"leaves one empty string", words, true, []string{""}},
		{"of none", nil, false, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := make([]string, cpu.CountWithoutStopwords(c.x, words, c.caseSensitive))
			if cpu.RemoveStopwords(dst, c.x, words, c.caseSensitive); !slices.Equal(dst, c.want) {
				t.Errorf("got %q, want %q", dst, c.want)
			}
		})
	}
}

func TestStringSplit(t *testing.T) {
	for _, c := range []struct {
		name      string
		x         []string
		delimiter string
		max       int
		want      string // rows of parts and their number
	}{
		{"at a delimiter", []string{"a,b", "c", ""}, ",", 9, "a|b 2;c| 1;| 1"},
		{"keeps empty parts", []string{",a,,"}, ",", 9, "|a|| 4"},
		{"at most once", []string{"a--b--c", "d"}, "--", 1, "a|b--c 2;d| 1"},
		{"not at all", []string{"a,b"}, ",", 0, "a,b 1"},
		{"at white space", []string{" a \t b\n", "", "\u00a0"}, "", 9, "a|b 2;| 0;| 0"},
		{"at white space once", []string{"  a  b  c "}, "", 1, "a|b  c  2"},
		{"of white space", []string{" "}, "", 9, " 0"},
		{"of none", nil, ",", 9, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			width := cpu.StringParts(c.x, c.delimiter, c.max)
			dst, counts := make([]string, width*len(c.x)), make([]int64, len(c.x))
			for i := range dst {
				dst[i] = "left over"
			}
			cpu.StringSplit(dst, counts, c.x, c.delimiter, c.max)
			rows := make([]string, len(c.x))
			for i := range rows {
				rows[i] = strings.Join(dst[i*width:][:width], "|") + " " + string('0'+rune(counts[i]))
			}
			if got := strings.Join(rows, ";"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCountNGrams(t *testing.T) {
	// The pool: 1; 2; (1 2), (1 2), (2 2); (1 2 3).
	pool, starts := []int64{1, 2, 1, 2, 1, 2, 2, 2, 1, 2, 3}, []int{0, 2, 8}
	columns := []int64{5, 0, 1, 2, 3, 4}
	x := []int64{1, 2, 2, 3, 3, 1, 2, 2}
	for _, c := range []struct {
		name            string
		rows, width     int
		least, most, to int
		want            []float32
	}{
		{"single tokens", 1, 8, 1, 1, 0, []float32{4, 0, 0, 0, 0, 2}},
		{"neighbours", 1, 8, 2, 3, 0, []float32{0, 2, 2, 2, 0, 0}},
		{"with skips", 1, 8, 1, 3, 2, []float32{4, 4, 4, 2, 1, 2}},
		{"with more skips than tokens", 1, 3, 1, 3, 1 << 30, []float32{2, 2, 2, 1, 0, 1}},
		{"rows", 2, 4, 2, 2, 0, []float32{0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0}},
		{"no tokens", 2, 0, 1, 3, 1, make([]float32, 12)},
		{"one token", 1, 1, 2, 3, 1, make([]float32, 6)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := make([]float32, len(c.want))
			dst[0] = 7
			err := cpu.CountNGrams(dst, x[:c.rows*c.width], pool, columns, c.rows, c.width, 6, starts, c.least, c.most, c.to)
			if err != nil || !slices.Equal(dst, c.want) {
				t.Errorf("got %v %v, want %v", dst, err, c.want)
			}
		})
	}
	t.Run("of strings", func(t *testing.T) {
		dst := make([]float32, 2)
		err := cpu.CountNGrams(dst, []string{"b", "a", "b"}, []string{"a", "b"}, []int64{1, 0}, 1, 3, 2, []int{0}, 1, 1, 0)
		if err != nil || !slices.Equal(dst, []float32{2, 1}) {
			t.Errorf("got %v %v", dst, err)
		}
	})
	t.Run("refuses a column outside", func(t *testing.T) {
		if err := cpu.CountNGrams(make([]float32, 1), []int32{1}, []int32{1}, []int64{1}, 1, 1, 1, []int{0}, 1, 1, 0); err == nil {
			t.Error("taken")
		}
	})
}

func TestCastToText(t *testing.T) {
	inf := math.Inf(1)
	floats := []float64{0, math.Copysign(0, -1), 1, -2.5, 1e-4, 9.9e-5, 1e15, 1e16, 0.1, math.NaN(), inf, -inf}
	want := []string{"0.0", "-0.0", "1.0", "-2.5", "0.0001", "9.9e-05", "1000000000000000.0", "1e+16", "0.1", "NaN", "INF", "-INF"}
	dst := make([]string, len(want))
	if cpu.CastToText(dst, floats); !slices.Equal(dst, want) {
		t.Errorf("f64: got %q, want %q", dst, want)
	}
	singles := make([]float32, len(floats))
	cpu.Cast(singles, floats)
	want[4] = "1e-04" // the float32 is slightly smaller
	if cpu.CastToText(dst, singles); !slices.Equal(dst, want) {
		t.Errorf("f32: got %q, want %q", dst, want)
	}
	for _, c := range []struct {
		name string
		got  func(dst []string)
		want []string
	}{
		{"f16", func(d []string) { cpu.CastToText(d, []rt.Float16{rt.ToFloat16(0.1), rt.ToFloat16(65504)}) }, []string{"0.1", "65500.0"}},
		{"f8e8m0", func(d []string) { cpu.CastToText(d, []rt.Float8E8M0{127, 254}) }, []string{"1.0", "2e+38"}},
		{"i8", func(d []string) { cpu.CastToText(d, []int8{-128, 7}) }, []string{"-128", "7"}},
		{"u64", func(d []string) { cpu.CastToText(d, []uint64{math.MaxUint64, 0}) }, []string{"18446744073709551615", "0"}},
		{"booleans", func(d []string) { cpu.CastBoolToText(d, []bool{true, false}) }, []string{"1", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := make([]string, len(c.want))
			if c.got(dst); !slices.Equal(dst, c.want) {
				t.Errorf("got %q, want %q", dst, c.want)
			}
		})
	}
}

func TestCastFromText(t *testing.T) {
	floats := make([]float32, 5)
	err := cpu.CastFromText(floats, []string{" 1.5\n", "-2e-1", "inf", "1e400", "-INF"})
	inf := float32(math.Inf(1))
	if err != nil || !slices.Equal(floats, []float32{1.5, -0.2, inf, inf, -inf}) {
		t.Errorf("f32: %v %v", floats, err)
	}
	if err := cpu.CastFromText(floats[:1], []string{"NaN"}); err != nil || floats[0] == floats[0] {
		t.Errorf("NaN: %v %v", floats[0], err)
	}
	bytes := make([]int8, 3)
	if err := cpu.CastFromText(bytes, []string{"-7", "300", "2.9"}); err != nil || !slices.Equal(bytes, []int8{-7, 44, 2}) {
		t.Errorf("i8: %v %v", bytes, err)
	}
	wide := make([]uint64, 2)
	if err := cpu.CastFromText(wide, []string{"18446744073709551615", "1e3"}); err != nil || !slices.Equal(wide, []uint64{math.MaxUint64, 1000}) {
		t.Errorf("u64: %v %v", wide, err)
	}
	truths := make([]bool, 3)
	if err := cpu.CastTextToBool(truths, []string{"0", "0.0", "-3"}); err != nil || digits(truths) != "001" {
		t.Errorf("booleans: %v %v", truths, err)
	}
	for _, bad := range []string{"", "one", "1,5", "1 2"} {
		if err := cpu.CastFromText(wide[:1], []string{bad}); err == nil {
			t.Errorf("%q is taken for a number", bad)
		}
		if err := cpu.CastTextToBool(truths[:1], []string{bad}); err == nil {
			t.Errorf("%q is taken for a truth value", bad)
		}
	}
}
