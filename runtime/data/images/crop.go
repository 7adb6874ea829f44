package images

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
)

// CenterCrop cuts out the middle of the picture. If the picture is smaller, it is padded. It agrees
// with torchvision's CenterCrop.
type CenterCrop struct {
	Width, Height int        // of the result, in pixels
	Fill          color.RGBA // of pixels outside of the picture; default black
	FillClass     uint8      // of the mask's pixels there
}

// Apply implements [Transform]. Boxes are clipped to the result, and dropped if they are outside of
// it.
func (t CenterCrop) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("center crop", r); err != nil {
		return err
	}
	if err := checkSize(t.Width, t.Height); err != nil {
		return fmt.Errorf("center crop: %w", err)
	}
	w, h := s.size()
	return reshape(s, "center crop", move{
		width: t.Width, height: t.Height, x0: middle(w, t.Width), xx: 1, y0: middle(h, t.Height), yy: 1,
		fill: t.Fill, class: t.FillClass,
	})
}

// middle returns the offset of `part` pixels in the middle of n pixels. The offset is negative if
// part > n.
func middle(n, part int) int {
	if part > n {
		return -((part - n) / 2)
	}
	return int(math.RoundToEven(float64(n-part) / 2))
}

// RandomCrop cuts out a rectangle. All positions of the rectangle are equally probable. RandomCrop
// agrees with torchvision's RandomCrop; for padding, apply [Pad] first.
type RandomCrop struct {
	Width, Height int // of the result, in pixels
}

// Apply implements [Transform]. Boxes are clipped to the result, and dropped if they are outside of
// it. Apply returns an error if the picture is smaller than the result.
func (t RandomCrop) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("random crop", r); err != nil {
		return err
	}
	w, h := s.size()
	if t.Width < 1 || t.Height < 1 || t.Width > w || t.Height > h {
		return fmt.Errorf("random crop: %d × %d pixels of %d × %d", t.Width, t.Height, w, h)
	}
	return reshape(s, "random crop", move{
		width: t.Width, height: t.Height, x0: r.IntN(w - t.Width + 1), xx: 1, y0: r.IntN(h - t.Height + 1), yy: 1,
	})
}
