package rt

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSizes compares every operation with the same one on big integers.
func TestSizes(t *testing.T) {
	div := func(a, b *big.Int, up bool) *big.Int {
		if b.Sign() == 0 {
			return nil
		}
		q, r := new(big.Int).QuoRem(a, b, new(big.Int)) // toward zero
		if r.Sign() != 0 && (r.Sign()*b.Sign() > 0) == up {
			q.Add(q, big.NewInt(map[bool]int64{true: 1, false: -1}[up]))
		}
		return q
	}
	ops := []struct {
		name string
		is   func(*Sizes, int64, int64) int64
		want func(a, b *big.Int) *big.Int // nil if there is no value
	}{
		{"Add", (*Sizes).Add, func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }},
		{"Sub", (*Sizes).Sub, func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }},
		{"Mul", (*Sizes).Mul, func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }},
		{"Product", func(z *Sizes, a, b int64) int64 { return z.Product(a, b) }, func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }},
		{"FloorDiv", (*Sizes).FloorDiv, func(a, b *big.Int) *big.Int { return div(a, b, false) }},
		{"CeilDiv", (*Sizes).CeilDiv, func(a, b *big.Int) *big.Int { return div(a, b, true) }},
		{"Min", (*Sizes).Min, func(a, b *big.Int) *big.Int {
			if a.Cmp(b) < 0 {
				return a
			}
			return b
		}},
		{"Max", (*Sizes).Max, func(a, b *big.Int) *big.Int {
			if a.Cmp(b) < 0 {
				return b
			}
			return a
		}},
		{"Mod", (*Sizes).Mod, func(a, b *big.Int) *big.Int {
			q := div(a, b, false)
			if q == nil {
				return nil
			}
			return new(big.Int).Sub(a, q.Mul(q, b))
		}},
		{"Align", (*Sizes).Align, func(a, b *big.Int) *big.Int {
			if b.Sign() <= 0 {
				return nil
			}
			q := div(a, b, true)
			return q.Mul(q, b)
		}},
	}
	number := rapid.OneOf(
		rapid.Int64Range(-20, 20),
		rapid.Int64(),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 1 << 31, 1 << 32, -1 << 32}),
	)
	for _, op := range ops {
		t.Run(op.name, rapid.MakeCheck(func(t *rapid.T) {
			a, b := number.Draw(t, "a"), number.Draw(t, "b")
			var z Sizes
			got := op.is(&z, a, b)
			want := op.want(big.NewInt(a), big.NewInt(b))
			if failed := z.Err("here") != nil; want == nil || !want.IsInt64() {
				if !failed {
					t.Fatalf("%s(%d, %d) = %d without an error", op.name, a, b, got)
				}
			} else if failed || got != want.Int64() {
				t.Fatalf("%s(%d, %d) = %d, %v; want %v", op.name, a, b, got, z.Err("here"), want)
			}
		}))
	}
}

func TestSizesKeepTheFirstError(t *testing.T) {
	var z Sizes
	if err := z.Err("x"); err != nil {
		t.Fatal(err)
	}
	z.Mul(1<<40, 1<<40)
	z.FloorDiv(1, 0)
	z.Add(1, 2)
	if err := z.Err("bert: Forward"); err == nil || err.Error() != "bert: Forward: sizes: 1099511627776 * 1099511627776 does not fit 64 bits" {
		t.Error(err)
	}
}

func TestSizesInt(t *testing.T) {
	for _, tt := range []struct {
		n   int64
		err string
	}{
		{0, ""},
		{math.MaxInt32, ""},
		{-1, "here: sizes: -1 is negative"},
		{math.MaxInt64, map[bool]string{true: "here: sizes: 9223372036854775807 does not fit an int"}[math.MaxInt < math.MaxInt64]},
	} {
		var z Sizes
		got, err := z.Int(tt.n), z.Err("here")
		if tt.err == "" && (err != nil || int64(got) != tt.n) || tt.err != "" && (err == nil || err.Error() != tt.err || got != 0) {
			t.Errorf("Int(%d) = %d, %v", tt.n, got, err)
		}
	}
}

func TestProductOfNothing(t *testing.T) {
	var z Sizes
	if got := z.Product(); got != 1 {
		t.Error(got)
	}
	if n := testing.AllocsPerRun(100, func() { z.Product(2, 3, 4) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := z.Err(strings.Repeat("x", 3)); err != nil {
		t.Error(err)
	}
}

// TestSizesFits checks that what an int holds is not a problem, and that one before stays.
func TestSizesFits(t *testing.T) {
	var z Sizes
	z.Fits(z.Mul(-3, 5), math.MaxInt)
	if err := z.Err("where"); err != nil {
		t.Error(err)
	}
	z.Fits(z.Add(1, 2), z.Mul(math.MaxInt64, 2), 7)
	if err := z.Err("where"); err == nil || err.Error() != "where: sizes: 9223372036854775807 * 2 does not fit 64 bits" {
		t.Error(err)
	}
}
