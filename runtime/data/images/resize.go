package images

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
)

// Resize makes the picture larger or smaller. If the picture shrinks, a new pixel is an average
// over the area that it covers. Masks take the nearest pixel.
//
// For an opaque picture of 8 bits, the result has the same bits as the result of Pillow's
// Image.resize with the filters BILINEAR, BICUBIC and NEAREST. It therefore equals torchvision's
// Resize of Pillow pictures. For a picture of floats, the result agrees with torchvision's Resize
// of tensors with antialias=True, and with the Scale of BiLinear and CatmullRom in x/image/draw. A
// picture of floats is neither rounded nor clamped between the pass along rows and the pass along
// columns.
type Resize struct {
	Width, Height int // of the result, in pixels; 0 follows from the other one and keeps the proportions
	// Shorter is the length of the shorter side of the result, in pixels; the other side keeps the
	// proportions, rounded down. Width and Height are then 0.
	Shorter int
	Filter  Filter
}

// Apply implements [Transform]. Boxes are scaled with the picture. Rows are scaled before columns. Apply returns an error
// if the result, or the picture between these steps, has more pixels than [PixelLimit].
func (t Resize) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("resize", r); err != nil {
		return err
	}
	if err := t.Filter.check(Nearest); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	w, h := s.size()
	width, height := t.Width, t.Height
	switch {
	case min(t.Width, t.Height, t.Shorter) < 0, t.Shorter > 0 && max(t.Width, t.Height) > 0, max(t.Width, t.Height, t.Shorter) == 0:
		return fmt.Errorf("resize: %d × %d pixels, shorter side %d: a width, a height or both, or a shorter side expected", t.Width, t.Height, t.Shorter)
	case t.Shorter > 0 && w <= h:
		width = t.Shorter
	case t.Shorter > 0:
		height = t.Shorter
	}
	if height == 0 {
		height = proportional(width, w, h)
	}
	if width == 0 {
		width = proportional(height, h, w)
	}
	return rescale(s, "resize", scale{width, height, whole(w, h), t.Filter})
}

// proportional returns the new length of a side of b pixels if the other side changes from a to n
// pixels. It is n·b/a, rounded down and at least 1.
func proportional(n, a, b int) int {
	return int(min(max(1, float64(n)*float64(b)/float64(a)), math.MaxInt32))
}

func whole(width, height int) image.Rectangle { return image.Rect(0, 0, width, height) }
