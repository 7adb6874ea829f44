package metric

import (
	"fmt"
	"math"
)

// These describe the window of SSIM: its radius, and the standard deviation of its Gaussian weights,
// in pixels.
const (
	ssimRadius = 5
	ssimSigma  = 1.5
)

// SSIM returns the structural similarity of pictures, at most 1. The similarity of a picture is the
// mean over its channels and over all positions of a window inside of the picture. SSIM is the mean
// over pictures. The window has 11 × 11 pixels and Gaussian weights of σ = 1.5. The constants are K₁ =
// 0.01 and K₂ = 0.03 (Wang and others: Image quality assessment, from error visibility to structural
// similarity, 2004). A counter reports an error for pictures that are smaller than the window.
func SSIM() Metric[Pictures] {
	weights := gaussian(ssimRadius, ssimSigma)
	return perPicture("SSIM", "", func(o Pictures, predicted, target []float32) (float64, error) {
		if o.Height < len(weights) || o.Width < len(weights) {
			return 0, fmt.Errorf("a picture of height %d and width %d: at least %d expected", o.Height, o.Width, len(weights))
		}
		var m mean
		for size := o.Height * o.Width; len(target) > 0; predicted, target = predicted[size:], target[size:] {
			ssimChannel(&m, predicted[:size], target[:size], o.Width, o.span(), weights)
		}
		return m.value(), nil
	})
}

// gaussian returns 2·radius+1 weights of a Gaussian, whose sum is 1.
func gaussian(radius int, sigma float64) []float64 {
	list := make([]float64, 2*radius+1)
	sum := 0.0
	for i := range list {
		d := float64(i-radius) / sigma
		list[i] = math.Exp(-d * d / 2)
		sum += list[i]
	}
	for i := range list {
		list[i] /= sum
	}
	return list
}

// ssimChannel adds to m the similarity of x and y at each position of the window. x and y are
// planes of the same channel, with rows of `width` pixels. span is the largest possible pixel value
// minus the smallest one. The weight of a pixel at (i, j) of the window is weights[i]·weights[j].
func ssimChannel(m *mean, x, y []float32, width int, span float64, weights []float64) {
	n := len(x)
	planes := make([][]float64, 5) // x, y, x², y², xy
	for i := range planes {
		planes[i] = make([]float64, n)
	}
	for i := range n {
		a, b := float64(x[i]), float64(y[i])
		planes[0][i], planes[1][i], planes[2][i], planes[3][i], planes[4][i] = a, b, a*a, b*b, a*b
	}
	for i := range planes {
		planes[i] = smoothed(planes[i], width, weights)
	}
	c1, c2 := 0.01*span*0.01*span, 0.03*span*0.03*span
	for i, mx := range planes[0] {
		my := planes[1][i]
		vx, vy, vxy := planes[2][i]-mx*mx, planes[3][i]-my*my, planes[4][i]-mx*my
		m.add((2*mx*my + c1) * (2*vxy + c2) / ((mx*mx + my*my + c1) * (vx + vy + c2)))
	}
}

// smoothed returns the weighted means of a plane, whose rows have `width` pixels, at the positions
// where the whole window is inside the plane. The weights are as in ssimChannel.
func smoothed(plane []float64, width int, weights []float64) []float64 {
	k := len(weights)
	height, inner := len(plane)/width, width-k+1
	rows := make([]float64, 0, height*inner)
	for y := range height {
		for x := range inner {
			rows = append(rows, weigh(plane[y*width+x:], 1, weights))
		}
	}
	list := make([]float64, 0, (height-k+1)*inner)
	for at := range (height - k + 1) * inner {
		list = append(list, weigh(rows[at:], inner, weights))
	}
	return list
}

func weigh(list []float64, stride int, weights []float64) float64 {
	sum := 0.0
	for i, w := range weights {
		sum += w * list[i*stride]
	}
	return sum
}
