package images

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/burngen/burngen/runtime/rt"
)

// CHW is a picture of floats. The channels are stored one after the other, each row by row from the
// top: element (c, y, x) is Data[(c·Height+y)·Width+x]. Values are from 0 to 1 until they are
// normalised. A picture of 1 channel is grey. In a picture of 3 or 4 channels, the first channels are
// red, green and blue.
type CHW struct {
	Data                    []float32
	Channels, Height, Width int
}

func (p CHW) check() error {
	if p.Channels < 1 {
		return fmt.Errorf("a picture of %d channels", p.Channels)
	}
	if err := checkSize(p.Width, p.Height); err != nil {
		return err
	}
	n, err := rt.Elems([]int{p.Channels, p.Height, p.Width})
	if err != nil {
		return err
	}
	if len(p.Data) != n {
		return fmt.Errorf("%d elements: a picture of %d × %d × %d has %d", len(p.Data), p.Channels, p.Height, p.Width, n)
	}
	return nil
}

func (p CHW) plane(c int) raster[float32] {
	n := p.Width * p.Height
	return raster[float32]{p.Data[c*n:][:n], p.Width, p.Height, 1, p.Width}
}

// Floats converts a picture of 8 bits to a [CHW]. A value x becomes x/255. A picture of floats does
// not change.
type Floats struct {
	// Channels is 3 for red, green and blue (default), 1 for the luma 0.299·R + 0.587·G + 0.114·B,
	// or 4 with alpha.
	Channels int
}

// Apply implements [Transform]. If the picture has 8 bits, Apply returns an error unless Channels
// is 0, 1, 3 or 4.
func (f Floats) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("floats", r); err != nil || s.Image == nil {
		return err
	}
	channels := f.Channels
	if channels == 0 {
		channels = 3
	}
	if channels != 1 && channels != 3 && channels != 4 {
		return fmt.Errorf("floats: %d channels: 1, 3 or 4 expected", channels)
	}
	dst := s.spare.planesFor(s.CHW, channels, s.Image.Rect.Dx(), s.Image.Rect.Dy())
	floats(dst, s.Image)
	s.Image, s.CHW = nil, dst
	return nil
}

// floats converts m to floats from 0 to 1, and stores them in dst. dst has the size of m and 1, 3
// or 4 channels. A single channel receives the luma.
func floats(dst CHW, m *image.RGBA) {
	if dst.Channels != 1 {
		lookedUp(dst, m, [4]*[256]float32{&unit, &unit, &unit, &unit})
		return
	}
	src := rgbaRaster(m)
	for y := range src.height {
		row, out := src.row(y), dst.Data[y*dst.Width:][:dst.Width]
		for x := range out {
			p := row[4*x:][:4]
			out[x] = luma(unit[p[0]], unit[p[1]], unit[p[2]])
		}
	}
}

// lookedUp stores m in dst, which has the size of m and 3 or 4 channels. The value of a channel is looked up in the
// channel's table.
func lookedUp(dst CHW, m *image.RGBA, tables [4]*[256]float32) {
	src := rgbaRaster(m)
	for y := range src.height {
		row := src.row(y)
		for c := range dst.Channels {
			table, out := tables[c], dst.Data[(c*dst.Height+y)*dst.Width:][:dst.Width]
			for x := range out {
				out[x] = table[row[4*x+c]]
			}
		}
	}
}
