package images

import (
	"image/color"
	"math"
	"testing"
)

// TestBlurOfAPoint compares with the normal distribution: weights, sum and variance.
func TestBlurOfAPoint(t *testing.T) {
	for _, sigma := range []float64{0.3, 1, 2.5} {
		const n = 41
		p := CHW{make([]float32, n*n), 1, n, n}
		p.Data[n*n/2] = 1
		got := applyCHW(t, Blur{Sigma: [2]float64{sigma, sigma}}, p)
		var sum, variance float64
		for i, x := range got.Data {
			dx := float64(i%n - n/2)
			sum += float64(x)
			variance += float64(x) * dx * dx
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Errorf("sigma %v: the sum is %v", sigma, sum)
		}
		if sigma >= 1 && math.Abs(math.Sqrt(variance)/sigma-1) > 0.03 { // the tails beyond 3 sigma are cut off
			t.Errorf("sigma %v: the standard deviation is %v", sigma, math.Sqrt(variance))
		}
		middle := float64(got.Data[n*n/2])
		if ratio := float64(got.Data[n*n/2+1]) / middle; math.Abs(ratio-math.Exp(-0.5/(sigma*sigma))) > 1e-5 {
			t.Errorf("sigma %v: the next pixel has %v of the middle", sigma, ratio)
		}
		if got.Data[n*n/2+n+1] <= 0 || math.Abs(float64(got.Data[n*n/2+n]-got.Data[n*n/2+1])) > 1e-7 {
			t.Errorf("sigma %v: rows and columns differ", sigma)
		}
	}
}

func TestBlurOfEdges(t *testing.T) {
	grey := flat(5, 3, color.RGBA{90, 30, 250, 255})
	wantPicture(t, "flat", apply(t, Blur{Sigma: [2]float64{3, 3}}, grey), grey, 0)
	one := flat(1, 1, color.RGBA{1, 2, 3, 255})
	wantPicture(t, "a pixel", apply(t, Blur{}, one), one, 0)
	// Mirrored without the first pixel: a b → … b a b a b … The kernel has 2·⌈3σ⌉+1 weights.
	p := applyCHW(t, Blur{Sigma: [2]float64{1, 1}}, CHW{[]float32{1, 0}, 1, 1, 2})
	var even, all float64
	for x := -3; x <= 3; x++ {
		w := math.Exp(-0.5 * float64(x*x))
		if all += w; x%2 == 0 {
			even += w
		}
	}
	if math.Abs(float64(p.Data[0])-even/all) > 1e-6 {
		t.Errorf("two pixels become %v, want %v at first", p.Data, even/all)
	}
}
