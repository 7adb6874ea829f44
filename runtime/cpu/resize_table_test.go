package cpu_test

import (
	"errors"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestResizeNearestTable(t *testing.T) {
	for _, c := range []struct {
		name    string
		in, out int
		spec    cpu.ResizeSpec
		want    []int32
	}{
		{"half pixel", 2, 5, cpu.ResizeSpec{Coordinates: "half_pixel", Rounding: "round_prefer_floor"}, []int32{0, 0, 0, 1, 1}},
		{"half up", 2, 5, cpu.ResizeSpec{Coordinates: "half_pixel", Rounding: "round_prefer_ceil"}, []int32{0, 0, 1, 1, 1}},
		{"asymmetric, floor", 3, 6, cpu.ResizeSpec{Coordinates: "asymmetric", Rounding: "floor"}, []int32{0, 0, 1, 1, 2, 2}},
		{"asymmetric, ceil", 3, 6, cpu.ResizeSpec{Coordinates: "asymmetric", Rounding: "ceil"}, []int32{0, 1, 1, 2, 2, 2}},
		{"corners", 5, 3, cpu.ResizeSpec{Coordinates: "align_corners", Rounding: "floor"}, []int32{0, 2, 4}},
		{"a single place of corners", 5, 1, cpu.ResizeSpec{Coordinates: "align_corners", Rounding: "floor"}, []int32{0}},
		{"a given scale", 4, 2, cpu.ResizeSpec{Coordinates: "asymmetric", Rounding: "ceil", Scale: 0.6}, []int32{0, 2}},
		{"simple, smaller", 5, 3, cpu.ResizeSpec{Coordinates: "asymmetric", Rounding: "simple"}, []int32{0, 2, 4}},
		{"simple, larger", 3, 5, cpu.ResizeSpec{Coordinates: "asymmetric", Rounding: "simple"}, []int32{0, 0, 1, 1, 2}},
		{"pixel centres", 3, 6, cpu.ResizeSpec{Coordinates: "tf_half_pixel_for_nn", Rounding: "floor"}, []int32{0, 0, 1, 1, 2, 2}},
		{"one pixel", 4, 1, cpu.ResizeSpec{Coordinates: "pytorch_half_pixel", Rounding: "floor"}, []int32{0}},
		{"symmetric", 5, 2, cpu.ResizeSpec{Coordinates: "half_pixel_symmetric", Rounding: "floor", Scale: 0.5}, []int32{1, 3}},
		{"a region", 10, 3, cpu.ResizeSpec{Coordinates: "tf_crop_and_resize", Rounding: "floor", Start: 1. / 3, End: 1}, []int32{3, 6, 9}},
		{"a place of a region", 10, 1, cpu.ResizeSpec{Coordinates: "tf_crop_and_resize", Rounding: "floor", Start: 1. / 3, End: 1}, []int32{6}},
		{"outside a region", 4, 3, cpu.ResizeSpec{Coordinates: "tf_crop_and_resize", Rounding: "floor", Start: -2, End: 3}, []int32{0, 1, 3}},
		{"nothing", 0, 0, cpu.ResizeSpec{Coordinates: "half_pixel", Rounding: "floor"}, nil},
		{"tiny scale", 3, 1, cpu.ResizeSpec{Coordinates: "asymmetric", Rounding: "floor", Scale: 5e-324}, []int32{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Mode = "nearest"
			got := make([]int32, len(c.want))
			if err := cpu.ResizeNearestTable(got, c.in, c.out, &c.spec, nil); err != nil {
				t.Fatal(err)
			}
			expect(t, c.name, got, c.want...)
		})
	}
}

func TestResizeTable(t *testing.T) {
	for _, c := range []struct {
		name          string
		in, out, taps int
		spec          cpu.ResizeSpec
		idx           []int32
		weights       []float32
	}{
		{
			"linear", 2, 4, 2, cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel"},
			[]int32{0, 0, 0, 1, 0, 1, 1, 1},
			[]float32{0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.75, 0.25},
		},
		{
			"linear, excluding what is outside", 2, 4, 2,
			cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", ExcludeOutside: true},
			[]int32{0, 0, 0, 1, 0, 1, 1, 1},
			[]float32{0, 1, 0.75, 0.25, 0.25, 0.75, 1, 0},
		},
		{
			"cubic", 4, 2, 4, cpu.ResizeSpec{Mode: "cubic", Coordinates: "half_pixel", CubicA: -0.5},
			[]int32{0, 0, 1, 2, 1, 2, 3, 3},
			[]float32{-0.0625, 0.5625, 0.5625, -0.0625, -0.0625, 0.5625, 0.5625, -0.0625},
		},
		{
			"cubic on elements", 3, 3, 4, cpu.ResizeSpec{Mode: "cubic", Coordinates: "align_corners", CubicA: -0.75},
			[]int32{0, 0, 1, 2, 0, 1, 2, 2, 1, 2, 2, 2},
			[]float32{0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0},
		},
		{
			"linear, antialiased", 4, 2, 4,
			cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true},
			[]int32{0, 0, 1, 2, 1, 2, 3, 3},
			[]float32{0.125, 0.375, 0.375, 0.125, 0.125, 0.375, 0.375, 0.125},
		},
		{
			"antialiasing does nothing to what grows", 2, 4, 2,
			cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true},
			[]int32{0, 0, 0, 1, 0, 1, 1, 1},
			[]float32{0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.75, 0.25},
		},
		{
			"nothing within a region", 4, 2, 2,
			cpu.ResizeSpec{Mode: "linear", Coordinates: "tf_crop_and_resize", Start: 5, End: 6, ExcludeOutside: true},
			[]int32{3, 3, 3, 3},
			[]float32{0, 0, 0, 0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			idx, weights := make([]int32, len(c.idx)), make([]float32, len(c.idx))
			if err := cpu.ResizeTable(idx, weights, c.in, c.out, c.taps, &c.spec, nil); err != nil {
				t.Fatal(err)
			}
			expect(t, "elements", idx, c.idx...)
			for i, w := range weights {
				if math.Abs(float64(w-c.weights[i])) > 1e-6 {
					t.Fatalf("weights %v, want %v", weights, c.weights)
				}
			}
		})
	}
}

func TestResizeOfNothing(t *testing.T) {
	spec := &cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel"}
	idx, weights := make([]int32, 6), make([]float32, 6)
	for name, err := range map[string]error{
		"nearest": cpu.ResizeNearestTable(idx, 0, 3, spec, nil),
		"linear":  cpu.ResizeTable(idx, weights, 0, 3, 2, spec, nil),
	} {
		var wrong *cpu.ResizeError
		if !errors.As(err, &wrong) || wrong.Out != 3 || wrong.Error() != "cpu: resize of no elements to 3" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A widened filter reads more elements, in proportion to how much smaller the result is.
func TestResizeTaps(t *testing.T) {
	for _, c := range []struct {
		in, out int
		spec    cpu.ResizeSpec
		want    int
	}{
		{8, 8, cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true}, 2},
		{8, 2, cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true}, 8},
		{8, 2, cpu.ResizeSpec{Mode: "cubic", Coordinates: "half_pixel", AntiAlias: true}, 16},
		{8, 3, cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true}, 6},
		{8, 20, cpu.ResizeSpec{Mode: "cubic", Coordinates: "half_pixel", AntiAlias: true}, 4},
		{8, 2, cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel"}, 2},
		{0, 0, cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel"}, 2},
	} {
		if got, err := cpu.ResizeTaps(c.in, c.out, &c.spec, nil); err != nil || got != c.want {
			t.Errorf("%d to %d, %+v: %d, %v, want %d", c.in, c.out, c.spec, got, err, c.want)
		}
	}
	spec := cpu.ResizeSpec{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true}
	if _, err := cpu.ResizeTaps(1<<20, 1, &spec, nil); err == nil {
		t.Error("a filter over a million elements is not an error")
	}
	var empty *cpu.ResizeError
	if _, err := cpu.ResizeTaps(0, 1, &spec, nil); !errors.As(err, &empty) {
		t.Errorf("an empty axis: error %v", err)
	}
}

func TestResizeOutside(t *testing.T) {
	spec := cpu.ResizeSpec{Mode: "linear", Coordinates: "tf_crop_and_resize", Start: -0.5, End: 1}
	dst := make([]bool, 4)
	if err := cpu.ResizeOutside(dst, 4, 4, &spec, nil); err != nil {
		t.Fatal(err)
	}
	// The points are at −1.5, 0, 1.5 and 3.
	for i, want := range []bool{true, false, false, false} {
		if dst[i] != want {
			t.Errorf("point %d is outside: %v", i, dst[i])
		}
	}
}
