package audio

import (
	"errors"
	"fmt"
)

// Sound is a recording. Samples[c] has the samples of channel c, usually from -1 to 1. All channels
// have the same number of samples.
type Sound struct {
	Rate    int // samples of a channel per second
	Samples [][]float32
}

// Len returns the number of samples of a channel.
func (s Sound) Len() int {
	if len(s.Samples) == 0 {
		return 0
	}
	return len(s.Samples[0])
}

// Check returns an error if the rate is below 1, if there are no channels, or if the channels
// differ in length.
func (s Sound) Check() error {
	if s.Rate < 1 {
		return fmt.Errorf("rate %d: at least 1 expected", s.Rate)
	}
	if len(s.Samples) == 0 {
		return errors.New("no channels")
	}
	for i, c := range s.Samples {
		if len(c) != s.Len() {
			return fmt.Errorf("channel %d has %d samples, and channel 0 has %d", i, len(c), s.Len())
		}
	}
	return nil
}

// Mono returns a sound of one channel, which is the mean of s's channels. If s has one channel,
// Mono returns s, which shares memory with the result. It returns an error for a sound that
// [Sound.Check] refuses.
func (s Sound) Mono() (Sound, error) {
	if err := s.Check(); err != nil || len(s.Samples) == 1 {
		return s, err
	}
	mean := make([]float32, s.Len())
	for i := range mean {
		sum := 0.0
		for _, c := range s.Samples {
			sum += float64(c[i])
		}
		mean[i] = float32(sum / float64(len(s.Samples)))
	}
	return Sound{s.Rate, [][]float32{mean}}, nil
}

// Stereo returns a sound of two channels. If s has one channel, both channels of the result are
// this channel and share its memory. If s has two channels, Stereo returns s. It returns an error
// if there are more than two channels, or for a sound that [Sound.Check] refuses.
func (s Sound) Stereo() (Sound, error) {
	if err := s.Check(); err != nil {
		return s, err
	}
	switch len(s.Samples) {
	case 1:
		return Sound{s.Rate, [][]float32{s.Samples[0], s.Samples[0]}}, nil
	case 2:
		return s, nil
	}
	return s, fmt.Errorf("%d channels: 1 or 2 expected", len(s.Samples))
}
