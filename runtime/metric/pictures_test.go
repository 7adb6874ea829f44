package metric_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// flat returns a picture of one grey.
func flat(grey float32, height, width int) []float32 {
	return slices.Repeat([]float32{grey}, height*width)
}

// TestPicturesByHand has pictures without structure: an error of d gives 20·log₁₀(range/d) dB, and
// SSIM is (2xy + C₁) / (x² + y² + C₁).
func TestPicturesByHand(t *testing.T) {
	o := metric.Pictures{
		Predicted: append(flat(0.5, 11, 11), flat(0.75, 11, 11)...),
		Targets:   append(flat(0.25, 11, 11), flat(0.5, 11, 11)...),
		Channels:  1, Height: 11, Width: 11,
	}
	if got, want := value(t, metric.PSNR(), o), 20*math.Log10(4); !same(got, want) {
		t.Errorf("PSNR %v, want %v", got, want)
	}
	ssim := func(x, y, c1 float64) float64 { return (2*x*y + c1) / (x*x + y*y + c1) }
	if got, want := value(t, metric.SSIM(), o), (ssim(0.5, 0.25, 1e-4)+ssim(0.75, 0.5, 1e-4))/2; !same(got, want) {
		t.Errorf("SSIM %v, want %v", got, want)
	}
	o.Range = 2
	if got, want := value(t, metric.PSNR(), o), 20*math.Log10(8); !same(got, want) {
		t.Errorf("PSNR %v, want %v", got, want)
	}
	o.Targets = o.Predicted
	if got := value(t, metric.SSIM(), o); !same(got, 1) {
		t.Errorf("SSIM of equal pictures is %v", got)
	}
	if got := value(t, metric.PSNR(), o); !math.IsInf(got, 1) {
		t.Errorf("PSNR of equal pictures is %v", got)
	}
	if _, items := o.Lost(); items != 2 {
		t.Errorf("%d items, want 2", items)
	}
}

// TestPSNRIsAMean asserts that PSNR is the mean over pictures, and not computed from the joined error.
func TestPSNRIsAMean(t *testing.T) {
	o := metric.Pictures{Predicted: []float32{0.1, 0.001}, Targets: []float32{0, 0}, Channels: 1, Height: 1, Width: 1}
	if got := value(t, metric.PSNR(), o); math.Abs(got-40) > 1e-6 {
		t.Errorf("PSNR %v, want 40: the mean of 20 and 60", got)
	}
}

func TestPicturesChecks(t *testing.T) {
	right := metric.Pictures{Predicted: flat(1, 11, 12), Targets: flat(0, 11, 12), Channels: 1, Height: 11, Width: 12}
	for _, tt := range []struct {
		change func(*metric.Pictures)
		want   string
	}{
		{func(o *metric.Pictures) { o.Predicted = o.Predicted[1:] }, "pictures of 131 pixels and targets of 132: as many expected"},
		{func(o *metric.Pictures) { o.Channels = 0 }, "132 pixels with pictures of 0 channels, height 11 and width 12: a multiple expected"},
		{func(o *metric.Pictures) { o.Height = math.MaxInt }, fmt.Sprintf("132 pixels with pictures of 1 channels, height %d and width 12: a multiple expected", math.MaxInt)},
		{func(o *metric.Pictures) { o.Height = 5 }, "132 pixels with pictures of 60: a multiple expected"},
		{func(o *metric.Pictures) { o.Range = -1 }, "range -1: a positive number expected"},
	} {
		o := right
		tt.change(&o)
		for _, m := range pictureMetrics {
			fails(t, m, o, right, m.Name+": "+tt.want)
		}
		if _, items := o.Lost(); items != 0 {
			t.Errorf("%s: %d items", tt.want, items)
		}
	}
	small := metric.Pictures{Predicted: flat(1, 11, 12), Targets: flat(0, 11, 12), Channels: 1, Height: 12, Width: 11}
	small.Height, small.Width = 66, 2
	fails(t, metric.SSIM(), small, right, "SSIM: item 0: a picture of height 66 and width 2: at least 11 expected")
}
