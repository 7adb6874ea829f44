package audio

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// MFCC computes mel-frequency cepstral coefficients. Its methods are safe for use by several
// goroutines.
type MFCC struct {
	mel     *Mel
	cosines [][]float64 // [coefficients][bands]
}

// NewMFCC returns a calculator of mel-frequency cepstral coefficients: the first n coefficients of
// mel spectrograms with options o. It returns an error if the options are not valid, if n is not
// from 1 to o.Mels, or if the table of coefficients and bands is too large.
func NewMFCC(o MelOptions, n int) (*MFCC, error) {
	mel, err := NewMel(o)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > o.Mels {
		return nil, fmt.Errorf("mfcc: %d coefficients: from 1 to %d expected", n, o.Mels)
	}
	if err := rt.CheckSize[float64](o.Mels); err != nil || n > math.MaxInt/8/o.Mels {
		return nil, fmt.Errorf("mfcc: %d coefficients of %d bands are too many", n, o.Mels)
	}
	m := &MFCC{mel, make([][]float64, n)}
	for k := range m.cosines {
		m.cosines[k] = make([]float64, o.Mels)
		scale := math.Sqrt(2 / float64(o.Mels))
		if k == 0 {
			scale = math.Sqrt(1 / float64(o.Mels))
		}
		for i := range m.cosines[k] {
			m.cosines[k][i] = scale * math.Cos(math.Pi*float64(k)*(float64(i)+0.5)/float64(o.Mels))
		}
	}
	return m, nil
}

// Frames returns the number of frames for `samples` samples; see [Mel.Frames].
func (m *MFCC) Frames(samples int) int { return m.mel.Frames(samples) }

// Coefficients returns the coefficients of the samples of one channel. Their shape is
// [coefficients, frames]. They are the orthonormal discrete cosine transform, of type II, of the
// mel spectrogram in decibels. Decibels below the largest one minus 80 are raised to this limit, as
// the functions mfcc of librosa and torchaudio do. Coefficients returns the errors of
// [Mel.Spectrogram].
func (m *MFCC) Coefficients(samples []float32) (rt.Tensor[float32], error) {
	s, err := m.mel.Spectrogram(samples)
	if err != nil {
		return rt.Tensor[float32]{}, err
	}
	Decibels(s.Data, 80)
	frames := s.Shape[1]
	out := rt.Tensor[float32]{Data: make([]float32, len(m.cosines)*frames), Shape: []int{len(m.cosines), frames}}
	for k, cosines := range m.cosines {
		for t := range frames {
			sum := 0.0
			for i, c := range cosines {
				sum += float64(c * float64(s.Data[i*frames+t]))
			}
			out.Data[k*frames+t] = float32(sum)
		}
	}
	return out, nil
}
