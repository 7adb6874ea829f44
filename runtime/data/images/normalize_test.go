package images

import (
	"image/color"
	"math"
	"testing"
)

func TestNormalize(t *testing.T) {
	m := flat(2, 1, color.RGBA{255, 0, 51, 255})
	p := planes(t, m, 3)
	got := applyCHW(t, ImageNet(), p)
	for c, want := range []float64{(1 - 0.485) / 0.229, -0.456 / 0.224, (0.2 - 0.406) / 0.225} {
		for x := range 2 {
			if math.Abs(float64(got.Data[2*c+x])-want) > 1e-6 {
				t.Errorf("channel %d is %v, want %v", c, got.Data[2*c+x], want)
			}
		}
	}
	// A picture normalised with its own mean and deviation has mean 0 and deviation 1.
	p = planes(t, picture(30, 20), 1)
	mean, square := moments(p.Data)
	got = applyCHW(t, Normalize{Mean: []float32{float32(mean)}, Std: []float32{float32(math.Sqrt(square - mean*mean))}}, p)
	if mean, square = moments(got.Data); math.Abs(mean) > 1e-5 || math.Abs(square-1) > 1e-5 {
		t.Errorf("mean %v and mean square %v", mean, square)
	}
}

// moments returns the mean and the mean square.
func moments(x []float32) (mean, square float64) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
		square += float64(v) * float64(v) / float64(len(x))
	}
	return mean, square
}
