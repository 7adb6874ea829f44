package images

import (
	"image"
	"math"
	"slices"
	"testing"
)

// pair returns pictures of zeros and ones, and their targets.
func pair(channels, height, width int) (x CHW, target []float32, x2 CHW, target2 []float32) {
	n := channels * height * width
	x, x2 = CHW{make([]float32, n), channels, height, width}, CHW{make([]float32, n), channels, height, width}
	for i := range x2.Data {
		x2.Data[i] = 1
	}
	return x, []float32{1, 0, 0}, x2, []float32{0, 0, 1}
}

func TestMixUp(t *testing.T) {
	r := generator(1)
	var mean, square float64
	const n, alpha = 20000, 0.4
	for range n {
		x, y, x2, y2 := pair(1, 2, 2)
		if err := (MixUp{Alpha: alpha}).Mix(x, y, x2, y2, r); err != nil {
			t.Fatal(err)
		}
		share := float64(y[0])
		if math.Abs(float64(y[2])-(1-share)) > 1e-6 || y[1] != 0 || math.Abs(float64(x.Data[3])-(1-share)) > 1e-6 {
			t.Fatalf("picture %v, target %v", x.Data, y)
		}
		if x2.Data[0] != 1 || y2[2] != 1 {
			t.Fatal("the other picture changes")
		}
		mean += share / n
		square += share * share / n
	}
	// Beta(a, a) has mean ½ and variance 1/(4·(2a+1)).
	if variance := square - mean*mean; math.Abs(mean-0.5) > 0.01 || math.Abs(variance-1/(4*(2*alpha+1))) > 0.003 {
		t.Errorf("mean %v, variance %v", mean, variance)
	}
}

// TestBeta compares the moments of shares for several alphas.
func TestBeta(t *testing.T) {
	for _, alpha := range []float64{1e-6, 0.01, 0.2, 1, 3, 50} {
		r := generator(5)
		var mean, square float64
		const n = 20000
		for range n {
			x := beta(r, alpha)
			if !(x >= 0 && x <= 1) {
				t.Fatalf("alpha %v: %v", alpha, x)
			}
			mean += x / n
			square += x * x / n
		}
		if want := 1 / (4 * (2*alpha + 1)); math.Abs(mean-0.5) > 0.015 || math.Abs(square-mean*mean-want) > 0.005 {
			t.Errorf("alpha %v: mean %v, variance %v, want ½ and %v", alpha, mean, square-mean*mean, want)
		}
	}
}

func TestCutMix(t *testing.T) {
	r := generator(1)
	var kept float64
	const n = 5000
	for range n {
		x, y, x2, y2 := pair(2, 16, 20)
		if err := (CutMix{}).Mix(x, y, x2, y2, r); err != nil {
			t.Fatal(err)
		}
		x0, y0, x1, y1, count := 20, 16, 0, 0, 0
		for i, v := range x.Data[:320] {
			if v == 1 {
				x0, y0, x1, y1, count = min(x0, i%20), min(y0, i/20), max(x1, i%20+1), max(y1, i/20+1), count+1
			}
		}
		if !slices.Equal(x.Data[:320], x.Data[320:]) {
			t.Fatal("channels differ")
		}
		if count > 0 && count != (x1-x0)*(y1-y0) {
			t.Fatalf("%d pixels from (%d, %d) to (%d, %d) are replaced", count, x0, y0, x1, y1)
		}
		if share := float64(320-count) / 320; math.Abs(float64(y[0])-share) > 1e-6 || math.Abs(float64(y[2])-(1-share)) > 1e-6 {
			t.Fatalf("%d pixels of 320 are replaced, and the target is %v", count, y)
		}
		kept += float64(y[0]) / n
	}
	if kept < 0.6 || kept > 0.75 { // ½, and more because rectangles are cut off at the edges
		t.Errorf("on average %v is kept", kept)
	}
	for _, tt := range []struct {
		side float64
		x, y int
		want image.Rectangle
	}{
		{0.5, 10, 8, image.Rect(5, 4, 15, 12)},
		{0.5, 0, 15, image.Rect(0, 11, 5, 16)},
		{1, 10, 8, image.Rect(0, 0, 20, 16)},
		{0, 10, 8, image.Rectangle{}},
	} {
		if got := cutAround(20, 16, tt.side, tt.x, tt.y); got != tt.want && !(got.Empty() && tt.want.Empty()) {
			t.Errorf("side %v around (%d, %d): %v, want %v", tt.side, tt.x, tt.y, got, tt.want)
		}
	}
}

func TestMistakesInMix(t *testing.T) {
	x, y, x2, y2 := pair(1, 2, 3)
	other, _, _, _ := pair(1, 3, 2)
	r := generator(1)
	for want, err := range map[string]error{
		"mixup: alpha -1: at least 1e-06 expected":            MixUp{Alpha: -1}.Mix(x, y, x2, y2, r),
		"mixup: no generator of random numbers":               MixUp{}.Mix(x, y, x2, y2, nil),
		"mixup: targets of 3 and of 2 classes":                MixUp{}.Mix(x, y, x2, y2[1:], r),
		"cutmix: a picture of 1 × 2 × 3 and one of 1 × 3 × 2": CutMix{}.Mix(x, y, other, y2, r),
		"cutmix: 5 elements: a picture of 1 × 2 × 3 has 6":    CutMix{}.Mix(CHW{x.Data[:5], 1, 2, 3}, y, x2, y2, r),
		"cutmix: alpha 1e-09: at least 1e-06 expected":        CutMix{Alpha: 1e-9}.Mix(x, y, x2, y2, r),
		"mixup: 0 × 0 pixels":                                 MixUp{}.Mix(CHW{Channels: 1}, y, x2, y2, r),
	} {
		wantError(t, err, want)
	}
	if x.Data[0] != 0 || y[0] != 1 {
		t.Error("a mixture that fails changes the picture")
	}
}
