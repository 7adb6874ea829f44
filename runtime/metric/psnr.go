package metric

import "math"

// PSNR returns the peak signal-to-noise ratio of pictures in decibels. The ratio of a picture is
// 10·log₁₀(range²/MSE), where MSE is the mean squared error of its pixels. PSNR is the mean over
// pictures. It is infinite if a picture has no error.
func PSNR() Metric[Pictures] {
	return perPicture("PSNR", "dB", func(o Pictures, predicted, target []float32) (float64, error) {
		var m mean
		for i, t := range target {
			m.add(squaredError(float64(predicted[i]), float64(t)))
		}
		return 10 * math.Log10(o.span()*o.span()/m.value()), nil
	})
}
