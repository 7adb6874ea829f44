package images

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
)

// RandAugment applies random transforms of one strength (E. Cubuk et al., RandAugment: Practical
// automated data augmentation with a reduced search space, 2020). The transforms are identity,
// shears, translations, rotation, brightness, saturation, contrast, sharpness, posterize, solarize,
// autocontrast and equalize. All are equally probable. RandAugment agrees with torchvision's
// RandAugment with 31 magnitudes.
type RandAugment struct {
	Operations int        // transforms for each picture; default 2
	Magnitude  int        // strength, from 0 to 30; default 9; -1 is strength 0
	Filter     Filter     // Bilinear (default) or Nearest, which is torchvision's default
	Fill       color.RGBA // of pixels outside of the picture; default black
	FillClass  uint8      // of the mask's pixels there
}

// Apply implements [Transform]. The boxes and the mask move with the picture in shears,
// translations and rotations. A picture of floats must have 1, 3 or 4 channels, and values from 0
// to 1.
func (t RandAugment) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("randaugment", r); err != nil {
		return err
	}
	if t.Operations == 0 {
		t.Operations = 2
	}
	switch t.Magnitude {
	case 0:
		t.Magnitude = 9
	case -1:
		t.Magnitude = 0
	}
	if t.Operations < 0 || t.Magnitude < 0 || t.Magnitude > 30 {
		return fmt.Errorf("randaugment: %d operations of magnitude %d: up to 30 expected", t.Operations, t.Magnitude)
	}
	for range t.Operations {
		if err := t.one(s, r); err != nil {
			return fmt.Errorf("randaugment: %w", err)
		}
	}
	return nil
}

// one applies one of the 14 transforms, drawn at random.
func (t RandAugment) one(s *Sample, r *rand.Rand) error {
	kind, sign := r.IntN(14), 1.0
	if r.IntN(2) == 1 {
		sign = -1
	}
	share := float64(t.Magnitude) / 30
	w, h := s.size()
	factor := 1 + float64(sign*0.9*share)
	switch kind {
	case 1: // about the corner
		return t.warp(s, affine{1, sign * 0.3 * share, 0, 0, 1, 0})
	case 2:
		return t.warp(s, affine{1, 0, 0, sign * 0.3 * share, 1, 0})
	case 3:
		return t.warp(s, affine{1, 0, sign * math.Trunc(150./331*float64(w)*share), 0, 1, 0})
	case 4:
		return t.warp(s, affine{1, 0, 0, 0, 1, sign * math.Trunc(150./331*float64(h)*share)})
	case 5:
		angle := sign * 30 * share
		return Rotate{[2]float64{angle, angle}, t.Filter, t.Fill, t.FillClass}.Apply(s, r)
	case 6:
		return paint(s, brightness{float32(factor)})
	case 7:
		return paint(s, saturation{float32(factor)})
	case 8:
		return s.applyContrast(float32(factor))
	case 9:
		return Sharpen{factor}.Apply(s, r)
	case 10:
		return Posterize{8 - int(math.RoundToEven(float64(t.Magnitude)/7.5))}.Apply(s, r)
	case 11:
		return Solarize{255 - 17*t.Magnitude/2}.Apply(s, r)
	case 12:
		return AutoContrast{}.Apply(s, r)
	case 13:
		return Equalize{}.Apply(s, r)
	}
	return nil
}

// warp warps a sample. m maps points of the result to points of the picture.
func (t RandAugment) warp(s *Sample, m affine) error {
	w, h := s.size()
	return reshape(s, "warp", warp{w, h, m, t.Filter, t.Fill, t.FillClass})
}
