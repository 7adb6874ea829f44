package rt

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSampleOf(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		name      string
		got, want Sample
	}{
		{"nothing", SampleOf[float32](nil), Sample{0, -1, 0, 0, "", 0}},
		{"4 digits", SampleOf([]float32{1, 1.23456789, -1e-9, 123456}), Sample{4, 3, 6.173e4, 1, "1 1.235 -1e-09 1.235e+05", 0}},
		{"not numbers", SampleOf([]float32{nan, 3, -inf, 4}), Sample{4, 3, 3.536, 1, "NaN 3 -Inf 4", 0}},
		{"infinite", SampleOf([]float32{3, inf, inf}), Sample{3, 1, 3, 1, "3 +Inf +Inf", 0}},
		{"only NaN", SampleOf([]float32{nan, nan}), Sample{2, -1, 0, 1, "NaN NaN", 0}},
		{"only -Inf", SampleOf([]float32{-inf}), Sample{1, 0, 0, 1, "-Inf", 0}},
		{"integers whole", SampleOf([]int64{-123456789, 5}), Sample{2, 1, 8.73e7, 1, "-1.23456789e+08 5", 0}},
		{"bools", SampleOf([]bool{false, true, true}), Sample{3, 1, 0.8165, 1, "0 1 1", 0}},
		{"half precision", SampleOf([]Float16{ToFloat16(2), ToFloat16(-4)}), Sample{2, 0, 3.162, 1, "2 -4", 0}},
		{"i8", SampleOf([]int8{-7}), Sample{1, 0, 7, 1, "-7", 0}},
		{"i16", SampleOf([]int16{-7}), Sample{1, 0, 7, 1, "-7", 0}},
		{"i32", SampleOf([]int32{-7}), Sample{1, 0, 7, 1, "-7", 0}},
		{"u16", SampleOf([]uint16{7}), Sample{1, 0, 7, 1, "7", 0}},
		{"u32", SampleOf([]uint32{7}), Sample{1, 0, 7, 1, "7", 0}},
		{"u64", SampleOf([]uint64{7}), Sample{1, 0, 7, 1, "7", 0}},
		{"f64", SampleOf([]float64{7.00049}), Sample{1, 0, 7, 1, "7", 0}},
		{"17 elements", SampleOf(slices.Repeat([]uint8{3, 9}, 9)[:17]), Sample{17, 1, 6.548, 2, "3 3 3 3 3 3 3 3 3", 0}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}

// checkClose changes element i of x by delta and checks it with the sample of x.
func checkClose[T Number](x []T, i int, to T) error {
	sample := SampleOf(x)
	x = slices.Clone(x)
	x[i] = to
	return CheckSample("out", x, sample)
}

// checkRounded is [checkClose] with a sample of products in a lower precision.
func checkRounded[T Number](x []T, i int, to T, rounding float64) error {
	sample := SampleOf(x)
	sample.Rounding = rounding
	x = slices.Clone(x)
	x[i] = to
	return CheckSample("out", x, sample)
}

func TestCheckSample(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{100, -50, 0, nan, inf}
	half := []Float16{ToFloat16(100), ToFloat16(-50)}
	brain := []BFloat16{ToBFloat16(100), ToBFloat16(-50)}
	eight := []Float8E4M3FN{ToFloat8E4M3FN(100, true), ToFloat8E4M3FN(-50, true)}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"equal", checkClose(x, 0, 100), ""},
		{"within the rounding of products", checkRounded([]float32{100, -50}, 0, 101, 1.0/64), ""},
		{"beyond the rounding of products", checkRounded([]float32{100, -50}, 0, 105, 1.0/64), "out: element 0 is 105, want 100"},
		{"integers are not rounded", checkRounded([]int32{100, -50}, 0, 101, 1.0/64), "out: element 0 is 101, want 100"},
		{"0.09 %", checkClose(x, 0, 100.09), ""},
		{"0.2 %", checkClose(x, 0, 100.2), "out: element 0 is 100.19999694824219, want 100"},
		{"a little beside 0", checkClose(x, 2, 0.006), ""},
		{"much beside 0", checkClose(x, 2, 0.0066), "out: element 2 is 0.006599999964237213, want 0"},
		{"NaN instead of a number", checkClose(x, 1, nan), "out: element 1 is NaN, want -50"},
		{"a number instead of NaN", checkClose(x, 3, 1), "out: element 3 is 1, want NaN"},
		{"a number instead of Inf", checkClose(x, 4, math.MaxFloat32), "out: element 4 is 3.4028234663852886e+38, want +Inf"},
		{"Inf instead of a number", checkClose(x, 1, -inf), "out: element 1 is -Inf, want -50"},
		{"Inf of the other sign", checkClose(x, 4, -inf), "out: element 4 is -Inf, want +Inf"},
		{"f16 by 1 %", checkClose(half, 0, ToFloat16(101)), ""},
		{"f16 by 2 %", checkClose(half, 0, ToFloat16(102)), "out: element 0 is 102, want 100"},
		{"bf16 by 4 %", checkClose(brain, 0, ToBFloat16(104)), ""},
		{"bf16 by 8 %", checkClose(brain, 0, ToBFloat16(108)), "out: element 0 is 108, want 100"},
		{"f8 by 25 %", checkClose(eight, 0, ToFloat8E4M3FN(128, true)), ""},
		{"f8 by 90 %", checkClose(eight, 0, ToFloat8E4M3FN(192, true)), "out: element 0 is 192, want 96"},
		{"u8 by 1", checkClose([]uint8{7, 3}, 0, 8), ""},
		{"u8 by 2", checkClose([]uint8{7, 3}, 0, 9), "out: element 0 is 9, want 7"},
		{"i32 by 1", checkClose([]int32{7, 3}, 0, 8), "out: element 0 is 8, want 7"},
		{"count", CheckSample("out", x[:4], SampleOf(x)), "out: 4 elements, want 5"},
		{"no elements", CheckSample("out", []float32{}, SampleOf([]float32{})), ""},
		{"values beyond the end", CheckSample("out", []int8{1}, Sample{1, 0, 1, 1, "1 1", 0}), "out: value 1 of the sample, 1 of element 1, is not one"},
		{"text", CheckSample("out", []int8{1}, Sample{1, 0, 1, 1, "x", 0}), "out: value 0 of the sample, x of element 0, is not one"},
		{"another largest element", CheckSample("out", []float32{1, 2, 3}, Sample{3, 1, 2, 3, "1", 0}), "out: the largest element is number 2, want 1"},
		{"another largest element as large", CheckSample("out", []float32{1, 2.9999, 3}, Sample{3, 1, 2, 3, "1", 0}), ""},
		{"a largest element of NaNs", CheckSample("out", []float32{nan}, Sample{1, 0, 2, 1, "NaN", 0}), "out: the largest element is number -1, want 0"},
		{"a largest element beyond the end", CheckSample("out", []float32{1}, Sample{1, 7, 2, 1, "1", 0}), "out: the largest element is number 0, want 7"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantError(t, tt.err, tt.want) })
	}
}

func TestEveryTensorPassesItsOwnSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOf(rapid.Float32()).Draw(t, "x")
		if err := CheckSample("x", x, SampleOf(x)); err != nil {
			t.Fatal(err)
		}
		n := rapid.SliceOf(rapid.Int64()).Draw(t, "n")
		if err := CheckSample("n", n, SampleOf(n)); err != nil {
			t.Fatal(err)
		}
	})
}
