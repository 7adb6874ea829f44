package images

import (
	"fmt"
	"math/rand/v2"
)

// Normalize replaces each value x of a channel by (x - mean)/std, with the channel's elements of
// Mean and Std. It needs a picture of floats: apply [Floats] first. It agrees with torchvision's
// Normalize.
type Normalize struct {
	Mean, Std []float32 // of each channel
}

// ImageNet returns a Normalize with the means and standard deviations of the pictures of ImageNet.
// Most networks for photographs were trained with it.
func ImageNet() Normalize {
	return Normalize{Mean: []float32{0.485, 0.456, 0.406}, Std: []float32{0.229, 0.224, 0.225}}
}

// Apply implements [Transform]. It returns an error if the picture does not consist of floats, or
// if a standard deviation is not above 0. It also returns an error unless Mean and Std have one
// element for each channel.
func (t Normalize) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("normalize", r); err != nil {
		return err
	}
	if s.Image != nil {
		return fmt.Errorf("normalize: a picture of 8 bits: Floats is missing before")
	}
	if len(t.Mean) != s.CHW.Channels || len(t.Std) != s.CHW.Channels {
		return fmt.Errorf("normalize: %d means and %d standard deviations for %d channels", len(t.Mean), len(t.Std), s.CHW.Channels)
	}
	for _, std := range t.Std {
		if !(std > 0) {
			return fmt.Errorf("normalize: standard deviation %g", std)
		}
	}
	dst := s.spare.planesOver(s.CHW)
	for c := range dst.Channels {
		in, out := s.CHW.plane(c).pix, dst.plane(c).pix
		for i, x := range in {
			out[i] = (x - t.Mean[c]) / t.Std[c]
		}
	}
	s.CHW = dst
	return nil
}
