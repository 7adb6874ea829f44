package audio_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/data/audio"
)

// reference.json is what testdata/make.py writes.
//
//go:embed testdata/reference.json
var reference []byte

// signal returns the samples of the references. All are multiples of 1/128.
func signal(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*i*31+i*7)%257)/128 - 1
	}
	return x
}

// TestReference compares spectrograms and coefficients with those that SciPy computes.
func TestReference(t *testing.T) {
	var cases []struct {
		Name         string
		Samples      int
		Options      audio.MelOptions
		Coefficients int // 0 for a spectrogram
		Shape        []int
		Data         []float32
	}
	if err := json.Unmarshal(reference, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 6 {
		t.Fatalf("%d references", len(cases))
	}
	for _, c := range cases {
		mel, err := audio.NewMel(c.Options)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mel.Spectrogram(signal(c.Samples))
		if c.Coefficients > 0 {
			mfcc, made := audio.NewMFCC(c.Options, c.Coefficients)
			if made != nil {
				t.Fatal(made)
			}
			got, err = mfcc.Coefficients(signal(c.Samples))
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Shape, c.Shape) || mel.Frames(c.Samples) != c.Shape[1] {
			t.Errorf("%s: shape %v, want %v", c.Name, got.Shape, c.Shape)
			continue
		}
		largest := 0.0
		share := 1e-12 // of the largest element, by which others may be off
		if c.Coefficients > 0 {
			share = 1e-7 // decibels are float32
		}
		for _, x := range c.Data {
			largest = max(largest, math.Abs(float64(x)))
		}
		for i, x := range c.Data {
			// The references have eight digits, and results are float32.
			if d := math.Abs(float64(x - got.Data[i])); !(d <= 2e-7*math.Abs(float64(x))+share*largest) {
				t.Errorf("%s: element %d is %g, want %g", c.Name, i, got.Data[i], x)
				break
			}
		}
	}
}

// TestSineInBands asserts that a sine is in the bands around its frequency, with the power of its
// window.
func TestSineInBands(t *testing.T) {
	o := audio.MelOptions{Rate: 8000, FFT: 800, Hop: 100, Pad: audio.NoPadding, Mels: 20, Squared: true}
	mel, err := audio.NewMel(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mel.Spectrogram(sine(8000, 1000, 0.3, 8000))
	if err != nil {
		t.Fatal(err)
	}
	frames := s.Shape[1]
	if frames != 73 || mel.Bands() != 20 {
		t.Errorf("shape %v", s.Shape)
	}
	for f := range frames {
		sum := 0.0
		for b := range 20 {
			x := float64(s.Data[b*frames+f])
			sum += x
			// 1000 Hz are 1000 mels of HTK, and a band is 2146.06/21 mels wide on either side.
			if middle := 2146.06 / 21 * float64(b+1); math.Abs(middle-1000) > 110 && x > 1 {
				t.Errorf("frame %d, band %d at %.0f mels: %g", f, b, middle, x)
			}
		}
		// The bins 99, 100 and 101 have a quarter, a half and a quarter of the window's sum, 400, times
		// half the amplitude: 100² + 2·50² = … if bands add up to 1 between their middles.
		if want := 200.*200 + 2*100*100; math.Abs(sum-want) > 1 {
			t.Errorf("frame %d: power %g, want %g", f, sum, want)
		}
	}
}

// TestPadding asserts that frames are those of samples that are padded by hand.
func TestPadding(t *testing.T) {
	const n = 64
	x := signal(300)
	reversed := func(part []float32) []float32 {
		part = slices.Clone(part)
		slices.Reverse(part)
		return part
	}
	zeros := make([]float32, n/2)
	for pad, padded := range map[audio.Padding][]float32{
		audio.Reflect: slices.Concat(reversed(x[1:n/2+1]), x, reversed(x[300-n/2-1:299])),
		audio.Zeros:   slices.Concat(zeros, x, zeros),
	} {
		o := audio.MelOptions{Rate: 8000, FFT: n, Hop: 10, Mels: 8, Pad: pad}
		a, err := audio.NewMel(o)
		if err != nil {
			t.Fatal(err)
		}
		o.Pad = audio.NoPadding
		b, err := audio.NewMel(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Spectrogram(x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.Spectrogram(padded)
		if err != nil || !slices.Equal(got.Data, want.Data) {
			t.Errorf("padding %d: other frames: %v", pad, err)
		}
	}
}

func TestMistakesInOptions(t *testing.T) {
	for want, change := range map[string]func(o *audio.MelOptions){
		"rate 0: at least 1 expected":                                 func(o *audio.MelOptions) { o.Rate = 0 },
		"transforms of 0 samples: from 1 to 16777216 expected":        func(o *audio.MelOptions) { o.FFT = 0 },
		"transforms of 16777217 samples: from 1 to 16777216 expected": func(o *audio.MelOptions) { o.FFT = 1<<24 + 1 },
		"a window of 401 samples: from 1 to 400 expected":             func(o *audio.MelOptions) { o.Window = 401 },
		"a hop of 0 samples: at least 1 expected":                     func(o *audio.MelOptions) { o.Hop = 0 },
		"padding 3 is not known":                                      func(o *audio.MelOptions) { o.Pad = 3 },
		"0 bands: from 1 to 16777216 expected":                        func(o *audio.MelOptions) { o.Mels = 0 },
		"bands from -1 to 8000 Hz: 0 ≤ low < high ≤ 8000 expected":    func(o *audio.MelOptions) { o.Low = -1 },
		"bands from 8000 to 8000 Hz: 0 ≤ low < high ≤ 8000 expected":  func(o *audio.MelOptions) { o.Low = 8000 },
		"bands from 0 to 8001 Hz: 0 ≤ low < high ≤ 8000 expected":     func(o *audio.MelOptions) { o.High = 8001 },
		"bands from NaN to 8000 Hz: 0 ≤ low < high ≤ 8000 expected":   func(o *audio.MelOptions) { o.Low = math.NaN() },
	} {
		o := audio.Torchaudio(16000)
		change(&o)
		wantError(t, failed(audio.NewMel(o)), "mel: "+want)
		wantError(t, failed(audio.NewMFCC(o, 1)), "mel: "+want)
	}
	o := audio.Torchaudio(16000)
	for _, n := range []int{0, 129} {
		wantError(t, failed(audio.NewMFCC(o, n)), fmt.Sprintf("mfcc: %d coefficients: from 1 to 128 expected", n))
	}
}

// TestFewSamples asserts that Frames says when Spectrogram fails.
func TestFewSamples(t *testing.T) {
	for _, fft := range []int{16, 17} {
		for pad, least := range map[audio.Padding]int{audio.Reflect: 9, audio.Zeros: 1, audio.NoPadding: fft} {
			m, err := audio.NewMFCC(audio.MelOptions{Rate: 100, FFT: fft, Hop: 3, Mels: 2, Pad: pad}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 40 {
				c, err := m.Coefficients(signal(n))
				if (err == nil) != (n >= least) || (m.Frames(n) > 0) != (n >= least) {
					t.Errorf("padding %d, %d samples: %d frames, %v", pad, n, m.Frames(n), err)
				}
				if err == nil && !slices.Equal(c.Shape, []int{1, m.Frames(n)}) {
					t.Errorf("padding %d, %d samples: shape %v, %d frames", pad, n, c.Shape, m.Frames(n))
				}
			}
			if n := m.Frames(math.MaxInt); n != 0 {
				t.Errorf("%d frames", n)
			}
		}
	}
}

func TestDecibels(t *testing.T) {
	for _, tt := range []struct {
		x    []float32
		top  float64
		want []float32
	}{
		{[]float32{1, 10, 0.01, 0, 1e-20}, 0, []float32{0, 10, -20, -100, -100}},
		{[]float32{1, 10, 0.01, 0, 1e-20}, 25, []float32{0, 10, -15, -15, -15}},
		{[]float32{0, 0}, 80, []float32{-100, -100}}, {nil, 80, nil},
	} {
		audio.Decibels(tt.x, tt.top)
		if !slices.EqualFunc(tt.x, tt.want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
			t.Errorf("%v, want %v", tt.x, tt.want)
		}
	}
}

// TestGoroutines asserts that a calculator gives the same on several goroutines.
func TestGoroutines(t *testing.T) {
	m, err := audio.NewMFCC(audio.Librosa(16000), 13)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Coefficients(signal(5000))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			got, err := m.Coefficients(signal(5000))
			if err != nil || !slices.Equal(got.Data, want.Data) {
				t.Errorf("other coefficients: %v", err)
			}
		})
	}
	running.Wait()
}

func BenchmarkSpectrogram(b *testing.B) {
	m, err := audio.NewMel(audio.Torchaudio(16000))
	if err != nil {
		b.Fatal(err)
	}
	x := signal(16000)
	for b.Loop() {
		if _, err := m.Spectrogram(x); err != nil {
			b.Fatal(err)
		}
	}
}
