package image

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
)

type canvas struct {
	pix           []byte
	width, height int
	channels      int // 3, or 1 for the luma
	bgr           bool
}

func (c *canvas) set(x, y int, r, g, b uint8) {
	at := (y*c.width + x) * c.channels
	switch {
	case c.channels == 1:
		// The weights of ITU-R BT.601, in fractions of 2¹⁶.
		c.pix[at] = uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
	case c.bgr:
		c.pix[at], c.pix[at+1], c.pix[at+2] = b, g, r
	default:
		c.pix[at], c.pix[at+1], c.pix[at+2] = r, g, b
	}
}

// fits returns an error unless a decoded image has the size given in its header.
func (c *canvas) fits(m image.Image) error {
	if size := m.Bounds().Size(); size.X != c.width || size.Y != c.height {
		return fmt.Errorf("%d × %d pixels where the header has %d × %d", size.X, size.Y, c.width, c.height)
	}
	return nil
}

// draw stores the colours of m without its transparency.
func (c *canvas) draw(m image.Image) error {
	if err := c.fits(m); err != nil {
		return err
	}
	first := m.Bounds().Min
	var pixel func(x, y int) (r, g, b uint8)
	switch m := m.(type) {
	case *image.RGBA:
		if m.Opaque() {
			pixel = func(x, y int) (r, g, b uint8) { p := m.RGBAAt(x, y); return p.R, p.G, p.B }
		}
	case *image.NRGBA:
		pixel = func(x, y int) (r, g, b uint8) { p := m.NRGBAAt(x, y); return p.R, p.G, p.B }
	case *image.NRGBA64:
		pixel = func(x, y int) (r, g, b uint8) {
			p := m.NRGBA64At(x, y)
			return uint8(p.R >> 8), uint8(p.G >> 8), uint8(p.B >> 8)
		}
	case *image.Gray:
		pixel = func(x, y int) (r, g, b uint8) { v := m.GrayAt(x, y).Y; return v, v, v }
	case *image.Paletted:
		palette := make([]color.NRGBA, len(m.Palette))
		for i, p := range m.Palette {
			palette[i] = color.NRGBAModel.Convert(p).(color.NRGBA)
		}
		pixel = func(x, y int) (r, g, b uint8) {
			if i := int(m.ColorIndexAt(x, y)); i < len(palette) {
				p := palette[i]
				return p.R, p.G, p.B
			}
			return 0, 0, 0
		}
	}
	if pixel == nil {
		pixel = func(x, y int) (r, g, b uint8) {
			p := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
			return uint8(p.R >> 8), uint8(p.G >> 8), uint8(p.B >> 8)
		}
	}
	for y := range c.height {
		for x := range c.width {
			r, g, b := pixel(first.X+x, first.Y+y)
			c.set(x, y, r, g, b)
		}
	}
	return nil
}

func streamed[T any](read func(io.Reader) (T, error)) func([]byte) (T, error) {
	return func(data []byte) (T, error) { return read(bytes.NewReader(data)) }
}

func drawn(decode func(io.Reader) (image.Image, error)) func([]byte, *canvas) error {
	return func(data []byte, to *canvas) error {
		m, err := decode(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return to.draw(m)
	}
}
