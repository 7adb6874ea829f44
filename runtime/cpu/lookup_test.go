package cpu_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestLookup(t *testing.T) {
	t.Run("strings", func(t *testing.T) {
		dst := make([]int64, 3)
		err := cpu.Lookup(dst, []string{"b", "c", "a"}, []string{"a", "b"}, []int64{1, 2}, []int64{9})
		if want := []int64{2, 9, 1}; err != nil || !slices.Equal(dst, want) {
			t.Errorf("%v %v, want %v", dst, err, want)
		}
	})
	t.Run("floats with NaN", func(t *testing.T) {
		nan := float32(math.NaN())
		dst := make([]string, 4)
		err := cpu.Lookup(dst, []float32{0, nan, float32(math.Copysign(0, -1)), 1}, []float32{nan, 0}, []string{"nan", "zero"}, []string{"other"})
		if want := []string{"zero", "nan", "zero", "other"}; err != nil || !slices.Equal(dst, want) {
			t.Errorf("%v %v, want %v", dst, err, want)
		}
	})
	t.Run("no key, no other", func(t *testing.T) {
		if err := cpu.Lookup(make([]bool, 1), []int64{3}, []int64{1}, []bool{true}, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("no keys", func(t *testing.T) {
		dst := make([]float64, 1)
		if err := cpu.Lookup(dst, []int32{3}, nil, nil, []float64{7}); err != nil || dst[0] != 7 {
			t.Error(dst, err)
		}
	})
	t.Run("no elements", func(t *testing.T) {
		if err := cpu.Lookup(nil, nil, []int64{1}, []bool{true}, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestMaps(t *testing.T) {
	var maps []map[string]float32
	cpu.ZipMap(&maps, []float32{1, 2, 3, 4}, []string{"a", "b"}, 2)
	first := maps[0]
	cpu.ZipMap(&maps, []float32{5, 6}, []string{"b", "b"}, 1)
	if len(maps) != 1 || len(maps[0]) != 1 || maps[0]["b"] != 6 || first["b"] != 6 {
		t.Errorf("%v, and before that %v", maps, first)
	}
	m := map[int64]string{3: "three", -1: "minus one"}
	values := make([]string, cpu.MapLen(m))
	if cpu.MapValues(values, m); !slices.Equal(values, []string{"minus one", "three"}) {
		t.Errorf("values %q", values)
	}
	found := make([]string, 3)
	if cpu.MapLookup(found, m, []int64{3, 4, -1}, []string{"none"}); !slices.Equal(found, []string{"three", "none", "minus one"}) {
		t.Errorf("found %q", found)
	}
}
