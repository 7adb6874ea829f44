package images

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// ColorJitter changes brightness, contrast, saturation and hue, in random order. It agrees with
// torchvision's ColorJitter of tensors. For pictures of 8 bits it differs from Pillow, which
// truncates values and has only 256 hues. Boxes and masks do not change.
type ColorJitter struct {
	// Brightness, Contrast and Saturation are the largest change x of a factor. The factor is uniform from
	// max(0, 1-x) to 1+x. Factor 0 is a black picture, a grey one, or one without colours; 1 changes
	// nothing.
	Brightness, Contrast, Saturation float64
	Hue                              float64 // largest turn of hues in both directions; from 0 to ½ turn
}

// Apply implements [Transform]. A picture of floats must have 1, 3 or 4 channels, and values from 0
// to 1.
func (t ColorJitter) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("color jitter", r); err != nil {
		return err
	}
	amounts := [4]float64{t.Brightness, t.Contrast, t.Saturation, t.Hue}
	for i, x := range amounts {
		most := float64(math.MaxFloat32)
		if i == 3 {
			most = 0.5
		}
		if !(x >= 0 && x <= most) {
			return fmt.Errorf("color jitter: %s %g: from 0 to %g expected", [4]string{"brightness", "contrast", "saturation", "hue"}[i], x, most)
		}
	}
	order := [4]int{0, 1, 2, 3}
	for i := 3; i > 0; i-- {
		j := r.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	var by [4]float32
	for i, x := range amounts {
		if i == 3 {
			by[i] = float32(uniform(r, -x, x))
		} else {
			by[i] = float32(uniform(r, max(0, 1-x), 1+x))
		}
	}
	for _, i := range order {
		if amounts[i] == 0 {
			continue
		}
		var err error
		switch i {
		case 0:
			err = paint(s, brightness{by[i]})
		case 1:
			err = s.applyContrast(by[i])
		case 2:
			err = paint(s, saturation{by[i]})
		case 3:
			err = paint(s, hue{by[i]})
		}
		if err != nil {
			return fmt.Errorf("color jitter: %w", err)
		}
	}
	return nil
}

// Grey removes colours: each channel except alpha becomes the luma. The number of channels does not
// change. Use it in a [Maybe] for torchvision's RandomGrayscale.
type Grey struct{}

// Apply implements [Transform].
func (Grey) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("grey", r); err != nil {
		return err
	}
	if err := paint(s, saturation{0}); err != nil {
		return fmt.Errorf("grey: %w", err)
	}
	return nil
}
