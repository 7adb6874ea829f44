package audio

import (
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// Padding selects which samples a spectrogram assumes before the first sample and after the last
// one.
type Padding int

const (
	Reflect   Padding = iota // the samples in reverse, without repeating the first or last one
	Zeros                    // 0
	NoPadding                // nothing: all frames lie within the samples
)

// MelOptions configures [NewMel]. [Torchaudio] and [Librosa] return the default options of these
// libraries.
type MelOptions struct {
	Rate    int     // of the samples, in Hz
	FFT     int     // samples in a transform
	Window  int     // samples in the Hann window, in the middle of the transform; 0 is FFT
	Hop     int     // samples from a frame to the next one
	Pad     Padding // frame i has its middle at sample i·Hop, except with NoPadding
	Mels    int     // number of bands
	Low     float64 // lower end of the first band, in Hz
	High    float64 // upper end of the last band, in Hz; 0 is Rate/2
	Slaney  bool    // mels are linear below 1 kHz, as in Slaney's Auditory Toolbox, not HTK's
	Area    bool    // bands are divided by half their width in Hz, so that all have the same area
	Squared bool    // bands sum squared magnitudes, not magnitudes
}

// Torchaudio returns the options that torchaudio's MelSpectrogram has by default.
func Torchaudio(rate int) MelOptions {
	return MelOptions{Rate: rate, FFT: 400, Hop: 200, Mels: 128, Squared: true}
}

// Librosa returns the default options of librosa's feature.melspectrogram, from librosa 0.10 on.
func Librosa(rate int) MelOptions {
	return MelOptions{Rate: rate, FFT: 2048, Hop: 512, Pad: Zeros, Mels: 128, Slaney: true, Area: true, Squared: true}
}

// Mel computes mel spectrograms. Its methods are safe for use by several goroutines.
type Mel struct {
	o      MelOptions
	window []float64 // of FFT elements
	bands  []band
}

// band describes one band of a mel spectrogram, which is a weighted sum of frequency bins.
type band struct {
	// bin of weights[0]
	first   int
	weights []float64
}

// largestFFT is the largest number of samples in a Fourier transform.
const largestFFT = 1 << 24

// NewMel returns a calculator of mel spectrograms. It returns an error if an option is out of range.
// Rate, FFT, Hop and Mels must be at least 1. FFT must be at most 2²⁴, and Window at most FFT. The
// frequencies must satisfy 0 ≤ Low < High ≤ Rate/2.
func NewMel(o MelOptions) (*Mel, error) {
	if o.Window == 0 {
		o.Window = o.FFT
	}
	if o.High == 0 {
		o.High = float64(o.Rate) / 2
	}
	var err error
	switch {
	case o.Rate < 1:
		err = fmt.Errorf("rate %d: at least 1 expected", o.Rate)
	case o.FFT < 1 || o.FFT > largestFFT:
		err = fmt.Errorf("transforms of %d samples: from 1 to %d expected", o.FFT, largestFFT)
	case o.Window < 1 || o.Window > o.FFT:
		err = fmt.Errorf("a window of %d samples: from 1 to %d expected", o.Window, o.FFT)
	case o.Hop < 1:
		err = fmt.Errorf("a hop of %d samples: at least 1 expected", o.Hop)
	case o.Pad < Reflect || o.Pad > NoPadding:
		err = fmt.Errorf("padding %d is not known", o.Pad)
	case o.Mels < 1 || o.Mels > largestFFT:
		err = fmt.Errorf("%d bands: from 1 to %d expected", o.Mels, largestFFT)
	case !(o.Low >= 0 && o.Low < o.High && o.High <= float64(o.Rate)/2):
		err = fmt.Errorf("bands from %g to %g Hz: 0 ≤ low < high ≤ %g expected", o.Low, o.High, float64(o.Rate)/2)
	}
	if err != nil {
		return nil, fmt.Errorf("mel: %w", err)
	}
	m := &Mel{o: o, window: make([]float64, o.FFT), bands: bandsOf(o)}
	for i := range o.Window {
		m.window[(o.FFT-o.Window)/2+i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(o.Window))
	}
	return m, nil
}

// toMel converts a frequency in Hz to the mel scale. HTK's scale is 2595·log₁₀(1 + f/700). Slaney's
// scale is linear up to 1 kHz, which is 15 mels. Above, it is logarithmic: a factor of 6.4 in
// frequency adds 27 mels.
func (o *MelOptions) toMel(f float64) float64 {
	switch {
	case !o.Slaney:
		return 2595 * math.Log10(1+f/700)
	case f < 1000:
		return f * 3 / 200
	}
	return 15 + 27*math.Log(f/1000)/math.Log(6.4)
}

func (o *MelOptions) toHertz(m float64) float64 {
	switch {
	case !o.Slaney:
		return 700 * (math.Pow(10, m/2595) - 1)
	case m < 15:
		return m * 200 / 3
	}
	return 1000 * math.Pow(6.4, (m-15)/27)
}

// bandsOf returns triangular bands. The weights of a band rise from 0 at the middle of the previous
// band to 1 at its own middle. They then fall to 0 at the middle of the next band. The middles are
// evenly spaced on the mel scale. If o.Area is true, each triangle has area 1 in Hz.
func bandsOf(o MelOptions) []band {
	low, high := o.toMel(o.Low), o.toMel(o.High)
	at := func(i int) float64 { return o.toHertz(low + (high-low)*float64(i)/float64(o.Mels+1)) }
	bands := make([]band, o.Mels)
	for i := range bands {
		left, middle, right := at(i), at(i+1), at(i+2)
		b := &bands[i]
		for k := range o.FFT/2 + 1 {
			f := float64(k) * float64(o.Rate) / float64(o.FFT)
			w := min((f-left)/(middle-left), (right-f)/(right-middle))
			if !(w > 0) {
				continue
			}
			if o.Area {
				w *= 2 / (right - left)
			}
			if b.weights == nil {
				b.first = k
			}
			b.weights = append(b.weights, w)
		}
	}
	return bands
}

// Bands returns the number of bands.
func (m *Mel) Bands() int { return m.o.Mels }

// Frames returns the number of frames of a spectrogram of `samples` samples. It is 0 if the samples
// do not suffice for a frame, or for the reflected padding of half a transform.
func (m *Mel) Frames(samples int) int {
	half := m.o.FFT / 2
	switch {
	case samples < 1, m.o.Pad == Reflect && samples <= half, samples > math.MaxInt-m.o.FFT:
		return 0
	case m.o.Pad != NoPadding:
		samples += 2 * half
	}
	if samples < m.o.FFT {
		return 0
	}
	return (samples-m.o.FFT)/m.o.Hop + 1
}

const framesAtOnce = 32

// Spectrogram returns the mel spectrogram of the samples of one channel. Its shape is [bands,
// frames]. It is computed in float64.
//
// Spectrogram returns an error if there are too few samples for a frame or for the reflected
// padding, or if the result exceeds [rt.ArenaLimit].
func (m *Mel) Spectrogram(samples []float32) (rt.Tensor[float32], error) {
	frames := m.Frames(len(samples))
	if frames == 0 {
		return rt.Tensor[float32]{}, fmt.Errorf("mel: %d samples are too few for a transform of %d", len(samples), m.o.FFT)
	}
	if frames > math.MaxInt/m.o.Mels {
		return rt.Tensor[float32]{}, errors.New("mel: the result is too large")
	}
	if err := rt.CheckSize[float32](frames * m.o.Mels); err != nil {
		return rt.Tensor[float32]{}, fmt.Errorf("mel: %w", err)
	}
	out := rt.Tensor[float32]{Data: make([]float32, frames*m.o.Mels), Shape: []int{m.o.Mels, frames}}
	n, bins := m.o.FFT, m.o.FFT/2+1
	atOnce := min(framesAtOnce, frames)
	lines, transforms := make([]float64, atOnce*n), make([]float64, atOnce*bins*2)
	roots, scratch := make([]float64, 2*n), make([]float64, 6*n)
	for from := 0; from < frames; from += atOnce {
		count := min(atOnce, frames-from)
		for k := range count {
			m.cut(lines[k*n:][:n], samples, from+k)
		}
		cpu.DFT(transforms, lines, roots, scratch, count, n, 1, 1, n, false, true)
		for k := range count {
			m.sum(transforms[k*bins*2:][:bins*2], out.Data[from+k:], frames)
		}
	}
	return out, nil
}

// cut multiplies one frame of the samples by the window, and stores it in `line`. `frame` is the
// index of the frame.
func (m *Mel) cut(line []float64, samples []float32, frame int) {
	begin := frame * m.o.Hop
	if m.o.Pad != NoPadding {
		begin -= m.o.FFT / 2
	}
	for i := range line {
		at := begin + i
		if m.o.Pad == Reflect {
			if at < 0 {
				at = -at
			} else if at >= len(samples) {
				at = 2*(len(samples)-1) - at
			}
		}
		line[i] = 0
		if at >= 0 && at < len(samples) {
			line[i] = m.window[i] * float64(samples[at])
		}
	}
}

// sum computes the bands of one transform. It stores them in out, `step` elements apart. transform
// holds pairs of a real and an imaginary part. The method sum overwrites transform.
func (m *Mel) sum(transform []float64, out []float32, step int) {
	bins := transform[:len(transform)/2]
	for k := range bins {
		re, im := transform[2*k], transform[2*k+1]
		if bins[k] = float64(re*re) + float64(im*im); !m.o.Squared {
			bins[k] = math.Sqrt(bins[k])
		}
	}
	for i, b := range m.bands {
		sum := 0.0
		for k, w := range b.weights {
			sum += float64(w * bins[b.first+k])
		}
		out[i*step] = float32(sum)
	}
}

// Decibels replaces each squared magnitude x by 10·log₁₀(max(x, 10⁻¹⁰)). If `top` is above 0,
// results below the largest result minus `top` are raised to this limit. librosa's power_to_db has
// a top of 80.
func Decibels(x []float32, top float64) {
	largest := math.Inf(-1)
	for i, v := range x {
		d := 10 * math.Log10(max(float64(v), 1e-10))
		largest = max(largest, d)
		x[i] = float32(d)
	}
	if top > 0 {
		for i, d := range x {
			x[i] = max(d, float32(largest-top))
		}
	}
}
