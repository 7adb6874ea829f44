package audio

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

const (
	// halfWidth is half the length of the filter, in samples of the lower rate.
	halfWidth = 58
	// cutoff is the frequency at which the filter halves amplitudes. It is a fraction of the
	// Nyquist frequency of the lower rate.
	cutoff = 0.95
	// kaiserBeta is the parameter of the filter's window (J. F. Kaiser, Nonrecursive digital filter
	// design using the I0-sinh window function, 1974). Together with halfWidth, it gives a
	// transition band of a tenth of the Nyquist frequency, and an attenuation of 90 dB.
	kaiserBeta = 9.0
	// largestRatio is the largest supported ratio of the two rates.
	largestRatio = 1000
)

// Resample converts the samples of one channel from one rate to another, in Hz. Sample n of the
// result is the value of the band-limited signal at time n/to. The result has ⌈len(samples)·to/from⌉
// samples. The signal is 0 before its first sample and after its last one.
//
// The filter is a sinc with a Kaiser window. It is 117 samples of the lower rate long, and its delay
// is 0. Up to 90 % of half the lower rate, it changes amplitudes by less than 0.001 dB. From half the
// lower rate on, it reduces amplitudes by at least 85 dB.
//
// Resample returns an error if a rate is below 1, if the rates differ by a factor of more than 1000,
// or if the result exceeds [rt.ArenaLimit].
func Resample(samples []float32, from, to int) ([]float32, error) {
	switch {
	case from < 1 || to < 1:
		return nil, fmt.Errorf("resample: from %d Hz to %d Hz: at least 1 expected", from, to)
	case int64(from) > largestRatio*int64(to) || int64(to) > largestRatio*int64(from):
		return nil, fmt.Errorf("resample: from %d Hz to %d Hz: a factor of at most %d expected", from, to, largestRatio)
	case from == to:
		return append([]float32(nil), samples...), nil
	}
	divisor := gcd(from, to)
	up, down := int64(to/divisor), int64(from/divisor)
	n := (int64(len(samples))*up + down - 1) / down
	if n > math.MaxInt {
		return nil, fmt.Errorf("resample: %d samples are too many", n)
	}
	if err := rt.CheckSize[float32](int(n)); err != nil {
		return nil, fmt.Errorf("resample: %w", err)
	}
	result := make([]float32, n)
	lower := min(1, float64(to)/float64(from)) // the lower rate as a part of the old one
	reach := int64(math.Ceil(halfWidth / lower))
	taps := make([]float64, 2*reach+1)
	// Results that are up apart have the same taps.
	for first := range min(up, n) {
		phase := float64(first*down%up) / float64(up)
		for k := range taps {
			taps[k] = tap(phase-float64(int64(k)-reach), lower)
		}
		for i := first; i < n; i += up {
			begin := i*down/up - reach
			sum := 0.0
			for k := max(0, -begin); k < min(int64(len(taps)), int64(len(samples))-begin); k++ {
				sum += float64(taps[k] * float64(samples[begin+k]))
			}
			result[i] = float32(sum)
		}
	}
	return result, nil
}

// tap returns the impulse response of the filter at `distance`, in samples of the old rate. lower
// is min(1, new rate / old rate).
func tap(distance, lower float64) float64 {
	place := distance * lower / halfWidth
	if math.Abs(place) >= 1 {
		return 0
	}
	c := cutoff * lower
	return c * sinc(c*distance) * bessel(kaiserBeta*math.Sqrt(1-place*place)) / bessel(kaiserBeta)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// bessel returns the value at x of the modified Bessel function of the first kind of order 0. It
// sums the power series.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= x / (2 * k) * x / (2 * k)
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Resample returns the sound at another rate; see the function [Resample]. It returns the errors of
// this function, and an error for a sound that [Sound.Check] refuses.
func (s Sound) Resample(rate int) (Sound, error) {
	if err := s.Check(); err != nil {
		return Sound{}, err
	}
	out := Sound{Rate: rate}
	for _, c := range s.Samples {
		samples, err := Resample(c, s.Rate, rate)
		if err != nil {
			return Sound{}, err
		}
		out.Samples = append(out.Samples, samples)
	}
	return out, nil
}
