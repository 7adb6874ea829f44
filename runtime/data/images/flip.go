package images

import (
	"fmt"
	"math/rand/v2"
)

// Flip mirrors the picture. It always draws two random numbers, even if a probability is 0.
type Flip struct {
	Horizontal float64 // probability that left and right are exchanged; from 0 to 1
	Vertical   float64 // probability that top and bottom are exchanged; from 0 to 1
}

// Apply implements [Transform]. Boxes are mirrored with the picture.
func (t Flip) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("flip", r); err != nil {
		return err
	}
	horizontal, err := chance(r, t.Horizontal)
	if err != nil {
		return fmt.Errorf("flip: horizontal: %w", err)
	}
	vertical, err := chance(r, t.Vertical)
	if err != nil {
		return fmt.Errorf("flip: vertical: %w", err)
	}
	if !horizontal && !vertical {
		return nil
	}
	w, h := s.size()
	m := move{width: w, height: h, xx: 1, yy: 1}
	if horizontal {
		m.x0, m.xx = w-1, -1
	}
	if vertical {
		m.y0, m.yy = h-1, -1
	}
	return reshape(s, "flip", m)
}
