package images

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
)

// MixUp mixes two pictures, and mixes their targets in the same way: x = λ·x + (1-λ)·x2. λ has the
// distribution Beta(Alpha, Alpha), and is drawn for each pair (H. Zhang et al., mixup: Beyond
// empirical risk minimization, 2018).
//
// The function put of [data.Pairs] can read the second picture from its data set d:
// d.At(r.IntN(d.Len())).
type MixUp struct {
	Alpha float64 // at least 10⁻⁶; default 0.2
}

// Mix mixes a picture x with the picture x2, and `target` with target2. The results are stored in x
// and `target`. Targets are probabilities of classes. Mix returns an error if the lengths differ,
// if r is nil, or if Alpha is not valid; nothing is then changed.
func (t MixUp) Mix(x CHW, target []float32, x2 CHW, target2 []float32, r *rand.Rand) error {
	alpha, err := mixable(t.Alpha, 0.2, x, target, x2, target2, r)
	if err != nil {
		return fmt.Errorf("mixup: %w", err)
	}
	share := float32(beta(r, alpha))
	mixInto(x.Data, x2.Data, share)
	mixInto(target, target2, share)
	return nil
}

// CutMix replaces a rectangle of a picture by the same rectangle of another picture, and mixes the
// targets by area (S. Yun et al., CutMix: Regularization strategy to train strong classifiers with
// localizable features, 2019). The rectangle has the share 1-λ of the picture's area, where λ has
// the distribution Beta(Alpha, Alpha). The centre of the rectangle is uniform. A part outside of
// the picture is cut off. λ then becomes the share of the picture that is not replaced.
type CutMix struct {
	Alpha float64 // at least 10⁻⁶; default 1
}

// Mix is like [MixUp.Mix], but replaces a rectangle; see [CutMix].
func (t CutMix) Mix(x CHW, target []float32, x2 CHW, target2 []float32, r *rand.Rand) error {
	alpha, err := mixable(t.Alpha, 1, x, target, x2, target2, r)
	if err != nil {
		return fmt.Errorf("cutmix: %w", err)
	}
	side := math.Sqrt(1 - beta(r, alpha))
	cut := cutAround(x.Width, x.Height, side, r.IntN(x.Width), r.IntN(x.Height))
	for c := range x.Channels {
		for y := cut.Min.Y; y < cut.Max.Y; y++ {
			copy(x.plane(c).row(y)[cut.Min.X:cut.Max.X], x2.plane(c).row(y)[cut.Min.X:])
		}
	}
	mixInto(target, target2, 1-float32(cut.Dx()*cut.Dy())/float32(x.Width*x.Height))
	return nil
}

// cutAround returns a rectangle with centre (x, y), clipped to a picture of w×h pixels. Before it
// is clipped, its width is `side` times w, and its height `side` times h.
func cutAround(w, h int, side float64, x, y int) image.Rectangle {
	rx, ry := int(0.5*side*float64(w)), int(0.5*side*float64(h))
	return image.Rect(x-rx, y-ry, x+rx, y+ry).Intersect(whole(w, h))
}

// leastAlpha is the smallest alpha that is allowed. With it, almost all draws are 0 or 1.
const leastAlpha = 1e-6

// mixable checks the arguments of Mix, and returns an error if one is not valid. It returns alpha,
// or `otherwise` if alpha is 0.
func mixable(alpha, otherwise float64, x CHW, target []float32, x2 CHW, target2 []float32, r *rand.Rand) (float64, error) {
	if alpha == 0 {
		alpha = otherwise
	}
	switch err := x.check(); {
	case r == nil:
		return 0, fmt.Errorf("no generator of random numbers")
	case !(alpha >= leastAlpha && alpha <= math.MaxFloat32):
		return 0, fmt.Errorf("alpha %g: at least %g expected", alpha, leastAlpha)
	case err != nil:
		return 0, err
	case x.Channels != x2.Channels || x.Height != x2.Height || x.Width != x2.Width || len(x.Data) != len(x2.Data):
		return 0, fmt.Errorf("a picture of %d × %d × %d and one of %d × %d × %d", x.Channels, x.Height, x.Width, x2.Channels, x2.Height, x2.Width)
	case len(target) != len(target2):
		return 0, fmt.Errorf("targets of %d and of %d classes", len(target), len(target2))
	}
	return alpha, nil
}

func mixInto(x, y []float32, share float32) {
	for i := range x {
		x[i] = float32(share*x[i]) + float32((1-share)*y[i])
	}
}

// beta draws from the distribution Beta(alpha, alpha).
func beta(r *rand.Rand, alpha float64) float64 {
	// Gamma variates of a small alpha may be 0 in float64; their logarithms are not.
	a, b := logGamma(r, alpha), logGamma(r, alpha)
	return 1 / (1 + math.Exp(b-a))
}

// logGamma draws a random number with the distribution Gamma(shape, 1), and returns its logarithm
// (G. Marsaglia and W. Tsang, A simple method for generating gamma variables, 2000).
func logGamma(r *rand.Rand, shape float64) float64 {
	boost := 0.0
	if shape < 1 { // Gamma(a) is Gamma(a+1)·U^(1/a)
		boost = math.Log(1-r.Float64()) / shape
		shape++
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < 0.5*x*x+d-float64(d*v)+float64(d*math.Log(v)) {
			return boost + math.Log(d*v)
		}
	}
}
