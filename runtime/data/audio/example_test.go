package audio_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/audio"
	"github.com/burngen/burngen/runtime/rt"
)

// Recordings of different lengths and rates become spectrograms of one shape. Those for training are
// shifted and get noise, which is the same with any number of workers.
func Example() {
	dir, err := recordings() // dir/high/0.wav, dir/low/0.wav
	check(err)
	defer os.RemoveAll(dir)

	clips, err := audio.Folder(dir)
	check(err)
	mel, err := audio.NewMel(audio.Torchaudio(8000))
	check(err)
	put := data.Pairs(func(c audio.Clip, x *[128][41]float32, y *int64, r *rand.Rand) error {
		s, err := c.Sound.Mono()
		if err != nil {
			return err
		}
		if s, err = s.Resample(8000); err != nil {
			return err
		}
		samples := make([]float32, 8000) // a second
		audio.Fit(samples, s.Samples[0], r)
		audio.Noise(samples, 30, r)
		m, err := mel.Spectrogram(samples)
		if err != nil {
			return err
		}
		audio.Decibels(m.Data, 80)
		copy(rt.FlatOf[float32](x), m.Data)
		*y = int64(c.Label)
		return nil
	})
	for b, err := range data.Load(clips, put, data.LoaderOptions{Batch: 2}).Epoch(context.Background(), 0, 0) {
		check(err)
		fmt.Println(clips.Classes(), b.Y, len(b.X), "spectrograms") // Step(b.X, b.Y)
	}
	// Output:
	// [high low] [0 1] 2 spectrograms
}

// recordings writes two sounds, which are stereo and have different rates.
func recordings() (dir string, err error) {
	dir, err = os.MkdirTemp("", "recordings")
	if err != nil {
		return "", err
	}
	for class, frequency := range map[string]float64{"high": 880, "low": 220} {
		if err := os.Mkdir(filepath.Join(dir, class), 0o755); err != nil {
			return dir, err
		}
		rate := 16000 + int(frequency)
		x := sine(rate/2, frequency, 0, rate)
		if err := audio.SaveWAV(filepath.Join(dir, class, "0.wav"), audio.Sound{Rate: rate, Samples: [][]float32{x, x}}, audio.PCM16); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
