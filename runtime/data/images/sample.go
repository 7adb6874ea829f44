package images

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
)

// Sample is a picture with an optional mask and optional boxes. Transforms change it.
//
// Transforms do not write to the memory of the original picture, mask and boxes. They write to
// other memory, which the sample owns and uses again. The picture, mask and boxes of a sample are
// therefore valid only until the next transform. A copy of a Sample shares this memory.
type Sample struct {
	Image *image.RGBA // a picture of 8 bits, or nil
	CHW   CHW         // the picture if Image is nil
	Mask  *image.Gray // the class of each pixel, or nil
	Boxes []Box       // in pixels of the picture

	spare *spare
}

func (s *Sample) size() (width, height int) {
	if s.Image != nil {
		return s.Image.Rect.Dx(), s.Image.Rect.Dy()
	}
	return s.CHW.Width, s.CHW.Height
}

// begin returns the error of [Sample.check], with the name of a transform as its prefix.
func (s *Sample) begin(name string, r *rand.Rand) error {
	if err := s.check(r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *Sample) check(r *rand.Rand) error {
	if s == nil {
		return errors.New("no sample")
	}
	if r == nil {
		return errors.New("no generator of random numbers")
	}
	if s.Image == nil {
		if len(s.CHW.Data) == 0 {
			return errors.New("the sample has no picture")
		}
		if err := s.CHW.check(); err != nil {
			return err
		}
	} else if err := checkImage(s.Image.Rect, s.Image.Stride, len(s.Image.Pix), 4); err != nil {
		return err
	}
	if s.spare == nil {
		s.spare = new(spare)
	}
	if s.Mask == nil {
		return nil
	}
	if err := checkImage(s.Mask.Rect, s.Mask.Stride, len(s.Mask.Pix), 1); err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	if w, h := s.size(); s.Mask.Rect.Dx() != w || s.Mask.Rect.Dy() != h {
		return fmt.Errorf("a mask of %d × %d pixels on a picture of %d × %d", s.Mask.Rect.Dx(), s.Mask.Rect.Dy(), w, h)
	}
	return nil
}

// checkImage returns an error unless n bytes can hold the pixels of a rectangle. stride is the
// number of bytes from row to row, and channels the number of bytes of a pixel.
func checkImage(r image.Rectangle, stride, n, channels int) error {
	w, h := r.Dx(), r.Dy()
	if err := checkSize(w, h); err != nil {
		return err
	}
	if stride < w*channels || (n-w*channels)/stride < h-1 || n < w*channels {
		return fmt.Errorf("%d bytes with rows of %d do not hold %d × %d pixels", n, stride, w, h)
	}
	return nil
}

// spare is memory of a sample that its transforms reuse.
type spare struct {
	images  [2]*image.RGBA
	planes  [2][]float32
	masks   [2]*image.Gray
	boxes   []Box
	scaling scaling
	kernel  []float32 // of a blur
	// rows of a blur between its passes
	between    []float32
	histograms [3]histogram
}

// imageFor returns a picture of the given size in memory of the spare. Its pixels are arbitrary. It
// does not share memory with m.
func (s *spare) imageFor(m *image.RGBA, width, height int) *image.RGBA {
	k := 0
	if m == s.images[0] && m != nil {
		k = 1
	}
	if s.images[k] == nil {
		s.images[k] = new(image.RGBA)
	}
	out := s.images[k]
	*out = image.RGBA{Pix: sized(out.Pix, 4*width*height), Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}
	return out
}

// maskFor returns a mask of the given size in memory of the spare. Its pixels are arbitrary. It
// does not share memory with m.
func (s *spare) maskFor(m *image.Gray, width, height int) *image.Gray {
	k := 0
	if m == s.masks[0] && m != nil {
		k = 1
	}
	if s.masks[k] == nil {
		s.masks[k] = new(image.Gray)
	}
	out := s.masks[k]
	*out = image.Gray{Pix: sized(out.Pix, width*height), Stride: width, Rect: image.Rect(0, 0, width, height)}
	return out
}

// planesFor returns a picture of the given size in memory of the spare. Its elements are arbitrary.
// It does not share memory with p.
func (s *spare) planesFor(p CHW, channels, width, height int) CHW {
	k := 0
	if begin(p.Data) == begin(s.planes[0]) {
		k = 1
	}
	s.planes[k] = sized(s.planes[k], channels*width*height)
	return CHW{s.planes[k], channels, height, width}
}

// begin returns the address of the first element of x's array. It returns nil if the array is
// empty.
func begin[T any](x []T) *T {
	if cap(x) == 0 {
		return nil
	}
	return &x[:1][0]
}

// imageOver returns a picture of m's size for the result of a transform that writes each pixel
// after it has read the same pixel of m. It returns m if the memory of m belongs to the spare.
// Otherwise it returns another picture, whose pixels are arbitrary.
func (s *spare) imageOver(m *image.RGBA) *image.RGBA {
	if m == s.images[0] || m == s.images[1] {
		return m
	}
	return s.imageFor(m, m.Rect.Dx(), m.Rect.Dy())
}

// planesOver returns planes of p's size for the result of a transform that writes each element
// after it has read the same element of p. It returns p if the memory of p belongs to the spare.
// Otherwise it returns other planes, whose elements are arbitrary.
func (s *spare) planesOver(p CHW) CHW {
	if at := begin(p.Data); at == begin(s.planes[0]) || at == begin(s.planes[1]) {
		return p
	}
	return s.planesFor(p, p.Channels, p.Width, p.Height)
}

// sized returns a slice of n elements, which are arbitrary. It uses the memory of x if the capacity
// of x suffices.
func sized[T any](x []T, n int) []T {
	if n <= cap(x) {
		return x[:n]
	}
	return make([]T, n)
}
