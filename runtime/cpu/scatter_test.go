package cpu_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/cpu"
)

type scatterElements[T any] func(dst, src []T, idx []int64, updates []T, shape, srcShape []int, axis int) error

type scatterND[T any] func(dst, src []T, idx []int64, updates []T, extents []int, inner int) error

// scatters maps each kernel to how it combines an element and an update.
var scatters = map[string]struct {
	elements scatterElements[int32]
	slices   scatterND[int32]
	reduce   func(x, u int32) int32
}{
	"replace": {cpu.ScatterElements[int32, int64], cpu.ScatterND[int32, int64], func(_, u int32) int32 { return u }},
	"add":     {cpu.ScatterElementsAdd[int32, int64], cpu.ScatterNDAdd[int32, int64], func(x, u int32) int32 { return x + u }},
	"mul":     {cpu.ScatterElementsMul[int32, int64], cpu.ScatterNDMul[int32, int64], func(x, u int32) int32 { return x * u }},
	"max":     {cpu.ScatterElementsMax[int32, int64], cpu.ScatterNDMax[int32, int64], func(x, u int32) int32 { return max(x, u) }},
	"min":     {cpu.ScatterElementsMin[int32, int64], cpu.ScatterNDMin[int32, int64], func(x, u int32) int32 { return min(x, u) }},
}

// scatterBoth runs a kernel into other memory and in place.
func scatterBoth(t *rapid.T, src, want []int32, run func(dst, src []int32) error) {
	got, before := make([]int32, len(src)), slices.Clone(src)
	if err := run(got, src); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(src, before) {
		t.Fatal("the operand has changed")
	}
	if err := run(src, src); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || !slices.Equal(src, want) {
		t.Fatalf("got      %v\nin place %v\nwant     %v", got, src, want)
	}
}

func TestScatterElements(t *testing.T) {
	for name, c := range scatters {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				array, shape, axis, idx := drawElements(t)
				src := counted[int32](product(array))
				updates := rapid.SliceOfN(rapid.Int32(), len(idx), len(idx)).Draw(t, "updates")
				want := slices.Clone(src)
				coordinates(shape, func(at []int) {
					i, to := place(at, shape), slices.Clone(at)
					to[axis] = wrapped(idx[i], array[axis])
					x := &want[place(to, array)]
					*x = c.reduce(*x, updates[i])
				})
				scatterBoth(t, src, want, func(dst, src []int32) error {
					return c.elements(dst, src, idx, updates, shape, array, axis)
				})
			})
		})
	}
}

func TestScatterND(t *testing.T) {
	for name, c := range scatters {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				extents := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "extents")
				tuples, inner := rapid.IntRange(0, 6).Draw(t, "tuples"), rapid.IntRange(0, 5).Draw(t, "inner")
				src := counted[int32](product(extents) * inner)
				updates := rapid.SliceOfN(rapid.Int32(), tuples*inner, tuples*inner).Draw(t, "updates")
				var idx []int64
				want := slices.Clone(src)
				for j := range tuples {
					at := make([]int, len(extents))
					for i, d := range extents {
						k := int64(rapid.IntRange(-d, d-1).Draw(t, "coordinate"))
						idx, at[i] = append(idx, k), wrapped(k, d)
					}
					for i := range inner {
						x := &want[place(at, extents)*inner+i]
						*x = c.reduce(*x, updates[j*inner+i])
					}
				}
				scatterBoth(t, src, want, func(dst, src []int32) error {
					return c.slices(dst, src, idx, updates, extents, inner)
				})
			})
		})
	}
}

// The greatest and the least float are as in Max and Min: NaN if one of them is NaN.
func TestScatterFloats(t *testing.T) {
	nan := math.NaN()
	x, u, shape := []float64{1, nan, 5, 2}, []float64{3, 4, nan, -1}, []int{4}
	idx := []int32{0, 1, 2, 3}
	for name, c := range map[string]struct {
		run  func(dst []float64) error
		want []float64
	}{
		"greatest elements": {func(dst []float64) error { return cpu.ScatterElementsMax(dst, x, idx, u, shape, shape, 0) }, []float64{3, nan, nan, 2}},
		"least elements":    {func(dst []float64) error { return cpu.ScatterElementsMin(dst, x, idx, u, shape, shape, 0) }, []float64{1, nan, nan, -1}},
		"greatest slices":   {func(dst []float64) error { return cpu.ScatterNDMax(dst, x, idx, u, shape, 1) }, []float64{3, nan, nan, 2}},
		"least slices":      {func(dst []float64) error { return cpu.ScatterNDMin(dst, x, idx, u, shape, 1) }, []float64{1, nan, nan, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := make([]float64, len(x))
			if err := c.run(got); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != c.want[i] && !(v != v && c.want[i] != c.want[i]) {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestScatterOtherElements(t *testing.T) {
	text, bits := []string{"a", "b", "c"}, []bool{true, true}
	if err := cpu.ScatterElements(text, text, []int32{-1, 0}, []string{"x", "y"}, []int{2}, []int{3}, 0); err != nil {
		t.Fatal(err)
	}
	expect(t, "strings", text, "y", "b", "x")
	if err := cpu.ScatterND(bits, bits, []int64{1}, []bool{false}, []int{2}, 1); err != nil {
		t.Fatal(err)
	}
	expect(t, "booleans", bits, true, false)
}
