package audio

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/burngen/burngen/runtime/rt"
)

// Fit copies samples to dst, whose length is the length that a model takes. If there are too many
// samples, it copies len(dst) of them, from a random position on. If there are too few, it copies
// all of them to a random position of dst, and sets the rest of dst to zero. Positions are drawn
// from r. If r is nil, Fit takes the middle of samples, or copies them to the middle of dst.
func Fit(dst, samples []float32, r *rand.Rand) {
	place := func(room int) int {
		if r == nil {
			return room / 2
		}
		return r.IntN(room + 1)
	}
	if more := len(samples) - len(dst); more >= 0 {
		copy(dst, samples[place(more):])
		return
	}
	clear(dst)
	copy(dst[place(len(dst)-len(samples)):], samples)
}

// Gain multiplies samples by 10^(decibels/20).
func Gain(samples []float32, decibels float64) {
	factor := float32(math.Pow(10, decibels/20))
	for i := range samples {
		samples[i] *= factor
	}
}

// Noise adds normally distributed noise to samples. `ratio` is the signal-to-noise ratio in
// decibels: 10·log₁₀(power of the samples / power of the noise). Silence stays silence. r is the
// item's random generator; see data.Pairs. The noise then does not depend on which worker adds it.
// If r is nil, Noise does nothing.
func Noise(samples []float32, ratio float64, r *rand.Rand) {
	if r == nil {
		return
	}
	power := 0.0
	for _, x := range samples {
		power += float64(x) * float64(x)
	}
	deviation := math.Sqrt(power / float64(max(1, len(samples))) / math.Pow(10, ratio/10))
	for i := range samples {
		samples[i] += float32(deviation * r.NormFloat64())
	}
}

// Shift moves samples to later times, by n samples. If n is below 0, it moves them to earlier
// times. Zeros fill the gap.
func Shift(samples []float32, n int) {
	n = max(-len(samples), min(len(samples), n))
	if n >= 0 {
		copy(samples[n:], samples[:len(samples)-n])
		clear(samples[:n])
		return
	}
	copy(samples, samples[-n:])
	clear(samples[len(samples)+n:])
}

// MaskBands sets a random range of bands of a spectrogram, [bands, frames], to `fill`. This is the
// frequency masking of SpecAugment (D. Park et al., 2019). The number of bands is drawn from 0 to
// `most`, both included. Then the index of the first band is drawn. MaskBands returns an error if
// the spectrogram does not have two dimensions, if `most` is not from 0 to the number of bands, or
// if r is nil.
func MaskBands(spectrogram rt.Tensor[float32], most int, fill float32, r *rand.Rand) error {
	return mask(spectrogram, 0, most, fill, r)
}

// MaskFrames is [MaskBands] for frames: the time masking of SpecAugment.
func MaskFrames(spectrogram rt.Tensor[float32], most int, fill float32, r *rand.Rand) error {
	return mask(spectrogram, 1, most, fill, r)
}

func mask(s rt.Tensor[float32], axis, most int, fill float32, r *rand.Rand) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	if len(s.Shape) != 2 {
		return fmt.Errorf("mask: shape %v: [bands frames] expected", s.Shape)
	}
	n := s.Shape[axis]
	if most < 0 || most > n {
		return fmt.Errorf("mask: at most %d of %d: from 0 to %d expected", most, n, n)
	}
	if r == nil {
		return errors.New("mask: no generator of random numbers")
	}
	width := r.IntN(most + 1)
	first := r.IntN(n - width + 1)
	for i := range s.Data {
		at := i / max(1, s.Shape[1])
		if axis == 1 {
			at = i % s.Shape[1]
		}
		if at >= first && at < first+width {
			s.Data[i] = fill
		}
	}
	return nil
}
