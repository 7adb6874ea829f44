package images

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
)

// RandomResizedCrop cuts out a random rectangle and resizes it. The area of the rectangle is drawn
// uniformly, and so is the logarithm of width/height. Its place is random. If ten drawn rectangles
// do not fit, the middle of the picture is taken. RandomResizedCrop agrees with torchvision's.
type RandomResizedCrop struct {
	Width, Height int        // of the result, in pixels
	Scale         [2]float64 // share of the picture's area; default 0.08 to 1
	Ratio         [2]float64 // width/height of the rectangle; default 3/4 to 4/3
	Filter        Filter
}

// Apply implements [Transform]. Boxes are clipped to the result, and dropped if they are outside of
// it.
func (t RandomResizedCrop) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("random resized crop", r); err != nil {
		return err
	}
	t.Scale, t.Ratio = or(t.Scale, [2]float64{0.08, 1}), or(t.Ratio, [2]float64{3. / 4, 4. / 3})
	if err := t.Filter.check(Nearest); err != nil {
		return fmt.Errorf("random resized crop: %w", err)
	}
	if err := checkRange("scale", t.Scale, 0, 1); err != nil {
		return fmt.Errorf("random resized crop: %w", err)
	}
	if err := checkRange("ratio", t.Ratio, 1e-3, 1e3); err != nil {
		return fmt.Errorf("random resized crop: %w", err)
	}
	w, h := s.size()
	return rescale(s, "random resized crop", scale{t.Width, t.Height, t.rectangle(w, h, r), t.Filter})
}

// rectangle draws the rectangle that [RandomResizedCrop] cuts out of a picture of w×h pixels. After
// 10 draws that do not fit, it returns the largest rectangle in the middle whose ratio is in the
// range.
func (t RandomResizedCrop) rectangle(w, h int, r *rand.Rand) image.Rectangle {
	for range 10 {
		if part, ok := randomRectangle(w, h, t.Scale, t.Ratio, r); ok {
			return part
		}
	}
	width, height := w, h
	switch ratio := float64(w) / float64(h); {
	case ratio < t.Ratio[0]:
		height = min(h, max(1, int(math.RoundToEven(float64(w)/t.Ratio[0]))))
	case ratio > t.Ratio[1]:
		width = min(w, max(1, int(math.RoundToEven(float64(h)*t.Ratio[1]))))
	}
	return whole(width, height).Add(image.Pt((w-width)/2, (h-height)/2))
}

// randomRectangle draws a rectangle in a picture of w×h pixels. `share` is the range of its share
// of the area, and `ratio` the range of width/height. The place is also drawn. randomRectangle
// returns false if the rectangle is empty or does not fit.
func randomRectangle(w, h int, share, ratio [2]float64, r *rand.Rand) (image.Rectangle, bool) {
	area := float64(w) * float64(h) * uniform(r, share[0], share[1])
	proportion := math.Exp(uniform(r, math.Log(ratio[0]), math.Log(ratio[1])))
	width := int(math.RoundToEven(math.Sqrt(area * proportion)))
	height := int(math.RoundToEven(math.Sqrt(area / proportion)))
	if width < 1 || height < 1 || width > w || height > h {
		return image.Rectangle{}, false
	}
	return whole(width, height).Add(image.Pt(r.IntN(w-width+1), r.IntN(h-height+1))), true
}
