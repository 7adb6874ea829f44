package image

import (
	"errors"
	"fmt"
	"image"
)

// pnm is a portable bitmap, graymap or pixmap that is being read.
type pnm struct {
	kind          byte // '1' to '6', after the P
	width, height int
	most          int // the sample value of white
	rest          []byte
}

var errCutOff = errors.New("unexpected end")

func readPNM(data []byte) (p pnm, err error) {
	p = pnm{kind: data[1], most: 1, rest: data[2:]}
	numbers := []*int{&p.width, &p.height, &p.most}
	if p.kind == '1' || p.kind == '4' {
		numbers = numbers[:2]
	}
	for _, n := range numbers {
		if *n, err = p.number(); err != nil {
			return p, err
		}
	}
	if p.most < 1 || p.most > 65535 {
		return p, fmt.Errorf("greatest value %d", p.most)
	}
	if p.binary() {
		if len(p.rest) == 0 {
			return p, errCutOff
		}
		p.rest = p.rest[1:] // one space ends the header
	}
	return p, nil
}

// binary reports whether samples are bytes or bits, not digits.
func (p *pnm) binary() bool { return p.kind >= '4' }

// number reads a decimal number after spaces and comments. In the pixels of a bitmap it reads one
// digit.
func (p *pnm) number() (int, error) {
	for len(p.rest) > 0 && (isSpace(p.rest[0]) || p.rest[0] == '#') {
		if p.rest[0] == '#' {
			for len(p.rest) > 0 && p.rest[0] != '\n' {
				p.rest = p.rest[1:]
			}
			continue
		}
		p.rest = p.rest[1:]
	}
	n, digits := 0, 0
	for ; digits < len(p.rest) && p.rest[digits] >= '0' && p.rest[digits] <= '9'; digits++ {
		if n = n*10 + int(p.rest[digits]-'0'); n > MaxPixels {
			return 0, errors.New("a number is too large")
		}
		if p.kind == '1' && p.width > 0 && p.height > 0 {
			digits++ // bits need no spaces between them
			break
		}
	}
	if digits == 0 {
		if len(p.rest) == 0 {
			return 0, errCutOff
		}
		return 0, fmt.Errorf("byte %q where a number is expected", p.rest[0])
	}
	p.rest = p.rest[digits:]
	return n, nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// configPNM returns the width and height of an image. It leaves the colour model nil.
func configPNM(data []byte) (image.Config, error) {
	p, err := readPNM(data)
	return image.Config{Width: p.width, Height: p.height}, err
}

func decodePNM(data []byte, to *canvas) error {
	p, err := readPNM(data)
	if err != nil {
		return err
	}
	samples := 1
	if p.kind == '3' || p.kind == '6' {
		samples = 3
	}
	for y := range to.height {
		for x := range to.width {
			var v [3]uint8
			for i := range samples {
				if v[i], err = p.sample(x); err != nil {
					return err
				}
			}
			if samples == 1 {
				v[1], v[2] = v[0], v[0]
			}
			to.set(x, y, v[0], v[1], v[2])
		}
	}
	return nil
}

// sample reads the next sample and scales it to the range 0 to 255. White is 255. x is the column
// of the sample.
func (p *pnm) sample(x int) (uint8, error) {
	if !p.binary() {
		n, err := p.number()
		if p.kind == '1' {
			n = 1 - n
		}
		return p.scaled(n), err
	}
	size := 1
	if p.most > 255 {
		size = 2
	}
	if len(p.rest) < size {
		return 0, errCutOff
	}
	n := int(p.rest[0])
	switch {
	case p.kind == '4':
		n = 1 - n>>(7-x%8)&1
		if x%8 != 7 && x != p.width-1 {
			return p.scaled(n), nil // the byte has more bits
		}
	case size == 2:
		n = n<<8 | int(p.rest[1])
	}
	p.rest = p.rest[size:]
	return p.scaled(n), nil
}

// scaled scales a sample from the range 0 to p.most to the range 0 to 255, rounding halves up.
func (p *pnm) scaled(n int) uint8 { return uint8((min(max(n, 0), p.most)*255 + p.most/2) / p.most) }
