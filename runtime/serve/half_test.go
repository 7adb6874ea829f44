package serve

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestHalf asserts that texts near the middle of two halves are rounded as their exact values are.
func TestHalf(t *testing.T) {
	testHalf(t, float16, math.Ldexp(1, -24))
	testHalf(t, bfloat16, math.Ldexp(1, -133))
}

func testHalf[T interface{ ~uint16 }](t *testing.T, h half[T], least float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		low := T(r.IntN(1 << 16))
		if r.IntN(20) == 0 {
			low = [...]T{0, h.round(float32(math.Inf(1))) - 1, h.round(float32(least))}[r.IntN(3)]
		}
		a, b := float64(h.widen(low)), float64(h.widen(low+1))
		if math.IsNaN(a) || math.IsInf(a, 0) || math.IsNaN(b) || low+1 == 1<<15 {
			continue
		}
		if math.IsInf(b, 0) {
			b = math.Copysign(h.limit, b)
		}
		middle := new(big.Rat).SetFloat64((a + b) / 2)
		text := middle.FloatString(200)
		tiny := strings.Repeat("0", r.IntN(40)) + "1"
		for _, c := range []struct {
			text string
			want T
		}{
			{text, low + low&1},    // ties to even
			{text + tiny, low + 1}, // farther from 0
			{nearer(text), low},    // nearer to 0
		} {
			v, ok := h.parse(c.text)
			if finite := !math.IsInf(float64(h.widen(c.want)), 0); ok != finite || ok && v != c.want {
				t.Fatalf("%s: %#x %v, want %#x", c.text, v, ok, c.want)
			}
		}
	}
}

// nearer returns the text of a number that is slightly nearer to 0.
func nearer(text string) string {
	i := len(text) - 1
	b := []byte(text)
	for ; b[i] == '0' || b[i] == '.'; i-- {
		if b[i] == '0' {
			b[i] = '9'
		}
	}
	b[i]--
	return string(b)
}

// TestHalfOfOverflow refuses texts that are out of range in any float.
func TestHalfOfOverflow(t *testing.T) {
	for _, text := range []string{"1e999", "-1e999", "65520", "1e39"} {
		if v, ok := float16.parse(text); ok {
			t.Errorf("%s: %#x", text, v)
		}
	}
	if v, ok := float16.parse("65519.9999999999999999999"); !ok || v != 0x7bff {
		t.Errorf("%#x %v", v, ok)
	}
}
