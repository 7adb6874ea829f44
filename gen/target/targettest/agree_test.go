package targettest

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// TestTrialsAreOfOperators asserts that the names in both tables are operators, and that no
// operator is in both.
func TestTrialsAreOfOperators(t *testing.T) {
	names := map[string]bool{}
	for _, o := range op.Ops {
		names[ir.OpName(o)] = true
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(trials)), slices.Collect(maps.Keys(untried))} {
		for _, name := range list {
			if !names[name] {
				t.Errorf("no operator %s", name)
			}
		}
	}
	for name := range untried {
		if trials[name] != nil {
			t.Errorf("%s is tried", name)
		}
	}
}

// TestAgreesFindsMistakes asserts that a trial of rounded factors allows the roundings that it has to, and no
// mistakes: terms that are left out, or results that are rounded.
func TestAgreesFindsMistakes(t *testing.T) {
	const keys, depth, unit = 5, 16, 0x1p-8
	bf16 := func(x float64) float64 { return ir.RoundFloat(ir.BF16, x) }
	drawn := func(seed uint32, by float64, shape ...int) *ir.Tensor {
		x := ir.NewTensor(ir.F32, shape...)
		for i := range x.Len() {
			x.SetFloat(i, bf16(by*(float64((rt.Hash(seed, uint32(i))>>8)%97)/8-6)))
		}
		return x
	}
	q, k, v := drawn(1, 1.0/depth, depth), drawn(2, 1, keys, depth), drawn(3, 1, keys)
	score := func(j, terms int) (sum float64) {
		for i := range terms {
			sum += q.Float(i) * k.Float(j*depth+i)
		}
		return sum
	}
	// attend returns the mean of the first values, with weights that share changes.
	attend := func(keys, terms int, share func(float64) float64) *ir.Tensor {
		total, sum := 0.0, 0.0
		for j := range keys {
			total += math.Exp(score(j, terms))
		}
		for j := range keys {
			sum += share(math.Exp(score(j, terms))/total) * v.Float(j)
		}
		return ir.FloatTensor(ir.F32, sum)
	}
	same := func(x float64) float64 { return x }
	product, attention := Trial{Sums: true}, Trial{Sums: true, Loose: 10, Rounded: Greatest}
	want, sum := attend(keys, depth, same), ir.FloatTensor(ir.F32, score(0, depth))
	for _, c := range []struct {
		name      string
		trial     Trial
		got, want *ir.Tensor
		agrees    bool
	}{
		{"an exact product", product, sum, sum, true},
		{"a product without a term", product, ir.FloatTensor(ir.F32, score(0, depth-1)), sum, false},
		{"a product that is rounded", product, ir.FloatTensor(ir.F32, bf16(sum.Float(0))), sum, false},
		{"an exact attention", attention, want, want, true},
		{"rounded weights", attention, attend(keys, depth, bf16), want, true},
		{"no last key", attention, attend(keys-1, depth, same), want, false},
		{"no last element of queries and keys", attention, attend(keys, depth-1, same), want, false},
	} {
		if got := c.trial.agrees(c.got, c.want, unit); got != c.agrees {
			t.Errorf("%s: %s for %s: %t, want %t", c.name, c.got, c.want, got, c.agrees)
		}
	}
}
