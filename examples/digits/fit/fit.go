// Package fit converts a picture of a digit to the form of MNIST's images.
package fit

import (
	"errors"
	"image"
	"image/color"
	"math"
	"slices"
)

// Side is the width and height of an image in pixels.
const Side = 28

const (
	box   = 20 // the longer side of the digit
	faint = .2 // ink below this share of the darkest ink counts as paper
)

// Digit converts a picture of one digit to the form of MNIST's images: ink is 1, paper is 0. The digit fills a box of
// 20×20 pixels with its aspect ratio kept, and its centre of mass is the centre of the image. The ink may be darker or
// lighter than the paper. It returns an error if the picture has no pixels or no ink.
func Digit(dst *[28][28]float32, picture image.Image) error {
	ink, width := inkOf(picture)
	if len(ink) == 0 {
		return errors.New("an empty picture")
	}
	var mass, cx, cy float64
	left, right, top, bottom := width, -1, len(ink)/width, -1
	for i, v := range ink {
		if v == 0 {
			continue
		}
		x, y := i%width, i/width
		left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
		mass += v
		cx += v * (float64(x) + .5)
		cy += v * (float64(y) + .5)
	}
	if mass == 0 {
		return errors.New("no digit in the picture")
	}
	cx, cy = cx/mass, cy/mass
	scale := float64(max(right-left, bottom-top)+1) / box
	for y := range Side {
		for x := range Side {
			sx := cx + (float64(x)+.5-Side/2)*scale
			sy := cy + (float64(y)+.5-Side/2)*scale
			dst[y][x] = float32(sample(ink, width, sx, sy, max(scale, 1)))
		}
	}
	return nil
}

// inkOf returns the ink of each pixel, from 0 to 1, in row-major order. The median brightness of
// the picture's border counts as paper.
func inkOf(picture image.Image) (ink []float64, width int) {
	b := picture.Bounds()
	var rim []float64
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			shade := shadeOf(picture.At(x, y))
			if x == b.Min.X || x == b.Max.X-1 || y == b.Min.Y || y == b.Max.Y-1 {
				rim = append(rim, shade)
			}
			ink = append(ink, shade)
		}
	}
	if len(ink) == 0 {
		return nil, 0
	}
	slices.Sort(rim)
	paper, darkest := rim[len(rim)/2], 0.
	for i, shade := range ink {
		ink[i] = math.Abs(shade - paper)
		darkest = max(darkest, ink[i])
	}
	for i, v := range ink {
		ink[i] = 0
		if v > faint*darkest {
			ink[i] = v / darkest
		}
	}
	return ink, b.Dx()
}

// shadeOf returns the brightness of a colour over white, from 0 to 1.
func shadeOf(c color.Color) float64 {
	r, g, b, a := c.RGBA()
	return (.299*float64(r)+.587*float64(g)+.114*float64(b)-float64(a))/0xffff + 1
}

// sample returns the weighted mean of the pixels around (x, y) in a picture of this width. Along each axis, the
// weights fall linearly to 0 at the distance `reach`. Pixels outside the picture are 0.
func sample(ink []float64, width int, x, y, reach float64) float64 {
	height := len(ink) / width
	var sum, weights float64
	for i := int(math.Floor(y - reach)); i <= int(math.Ceil(y+reach)); i++ {
		wy := 1 - math.Abs(float64(i)+.5-y)/reach
		if wy <= 0 {
			continue
		}
		for j := int(math.Floor(x - reach)); j <= int(math.Ceil(x+reach)); j++ {
			wx := 1 - math.Abs(float64(j)+.5-x)/reach
			if wx <= 0 {
				continue
			}
			weights += wy * wx
			if 0 <= i && i < height && 0 <= j && j < width {
				sum += wy * wx * ink[i*width+j]
			}
		}
	}
	return sum / weights
}
