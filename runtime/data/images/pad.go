package images

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
)

// PadMode says which pixels are outside of a picture.
type PadMode int

const (
	PadConstant PadMode = iota // a colour
	PadEdge                    // the nearest pixel of the picture
	PadReflect                 // the picture mirrored, without its first and last pixel: c b | a b c | b a
)

// inside maps an index i to an index in [0, n). If m is PadEdge or n is 1, it returns the nearest
// index. Otherwise it reflects i about the first and the last index.
func (m PadMode) inside(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	if m == PadEdge || n == 1 {
		return min(max(i, 0), n-1)
	}
	period := 2 * (n - 1)
	if i %= period; i < 0 {
		i += period
	}
	return min(i, period-i)
}

// Pad adds pixels around the picture. It agrees with torchvision's Pad.
type Pad struct {
	Left, Top, Right, Bottom int // numbers of pixels; at least 0
	Mode                     PadMode
	Fill                     color.RGBA // of PadConstant; default black
	FillClass                uint8      // of the mask's new pixels for PadConstant, such as 255
}

// Apply implements [Transform]. Boxes move with the picture.
func (t Pad) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("pad", r); err != nil {
		return err
	}
	if min(t.Left, t.Top, t.Right, t.Bottom) < 0 || max(t.Left, t.Top, t.Right, t.Bottom) > math.MaxInt32/4 {
		return fmt.Errorf("pad: %d, %d, %d and %d pixels on the left, top, right and bottom", t.Left, t.Top, t.Right, t.Bottom)
	}
	if t.Mode < PadConstant || t.Mode > PadReflect {
		return fmt.Errorf("pad: mode %d", t.Mode)
	}
	w, h := s.size()
	return reshape(s, "pad", move{
		width: w + t.Left + t.Right, height: h + t.Top + t.Bottom,
		x0: -t.Left, xx: 1, y0: -t.Top, yy: 1,
		edges: t.Mode, fill: t.Fill, class: t.FillClass,
	})
}
