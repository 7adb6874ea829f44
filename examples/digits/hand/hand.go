// Package hand draws handwritten digits and arithmetic signs, with random handwriting, pens and
// colours.
package hand

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

type sheet struct{ paper, ink color.RGBA }

var sheets = []sheet{
	{color.RGBA{0, 0, 0, 255}, color.RGBA{255, 255, 255, 255}},      // screen
	{color.RGBA{255, 255, 255, 255}, color.RGBA{0, 0, 0, 255}},      // print
	{color.RGBA{250, 244, 226, 255}, color.RGBA{28, 46, 120, 255}},  // fountain pen
	{color.RGBA{242, 242, 238, 255}, color.RGBA{96, 96, 100, 255}},  // pencil
	{color.RGBA{34, 70, 56, 255}, color.RGBA{232, 236, 224, 255}},   // chalk
	{color.RGBA{255, 255, 255, 255}, color.RGBA{196, 32, 44, 255}},  // marker
	{color.RGBA{250, 220, 120, 255}, color.RGBA{60, 40, 20, 255}},   // note
	{color.RGBA{16, 24, 56, 255}, color.RGBA{250, 214, 90, 255}},    // neon
	{color.RGBA{225, 205, 178, 255}, color.RGBA{88, 52, 30, 255}},   // sepia
	{color.RGBA{236, 244, 250, 255}, color.RGBA{110, 60, 140, 255}}, // violet
}

// Hand is the handwriting, pen and paper of one picture.
type Hand struct {
	Size int // width and height of the picture in pixels

	sheet
	height, width float64 // size of the digit as a share of the picture
	x, y          float64 // centre of the digit as a share of the picture
	slant, turn   float64 // shear and rotation in radians
	tremble       float64 // how far points stray, in the unit of forms
	pen, pressure float64 // radius of the pen and its variation, as shares of the digit's height
	softness      float64 // softness of edges, from 0 to 1
	rng           *rand.Rand
}

// New returns a random hand.
func New(rng *rand.Rand) *Hand {
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	h := &Hand{sheet: sheets[rng.IntN(len(sheets))], Size: 48 + rng.IntN(177), rng: rng}
	h.height = between(.45, .75)
	h.width = h.height * between(.8, 1.15) / 1.5
	h.x, h.y = between(.45, .55), between(.45, .55)
	h.slant, h.turn = between(-.1, .3), between(-.12, .12)
	h.tremble = between(.01, .05)
	h.pen, h.pressure = between(.035, .08), between(0, .3)
	h.softness = rng.Float64()
	return h
}

// Draw returns a picture of a character: a digit or one of + − × ÷ =. A character is written in several forms. form
// selects one of them, modulo their number. For other characters the picture is empty paper.
func (h *Hand) Draw(character rune, form int) image.Image {
	var dots []dot
	if ways := forms[character]; len(ways) > 0 {
		for _, s := range ways[form%len(ways)] {
			dots = append(dots, h.follow(s)...)
		}
	}
	soft := 1 + (1+float64(h.Size)/40-1)*h.softness // width of edges, in pixels
	m := image.NewRGBA(image.Rect(0, 0, h.Size, h.Size))
	for y := range h.Size {
		for x := range h.Size {
			p := point{float64(x) + .5, float64(y) + .5}
			var ink float64
			for _, d := range dots {
				reach := d.radius - math.Hypot(p.x-d.x, p.y-d.y)
				ink = max(ink, min(reach/soft+.5, 1))
			}
			m.SetRGBA(x, y, mix(h.paper, h.ink, ink))
		}
	}
	return m
}

// dot is a place that the pen inks. Position and radius are in pixels.
type dot struct {
	point
	radius float64
}

// follow returns dots on a smooth curve through the points of s, close enough to form a line.
func (h *Hand) follow(s stroke) []dot {
	at := make([]point, len(s))
	for i, p := range s {
		p.x += h.tremble * h.rng.NormFloat64()
		p.y += h.tremble * h.rng.NormFloat64()
		at[i] = h.place(p)
	}
	radius := h.pen * h.height * float64(h.Size)
	phase := 2 * math.Pi * h.rng.Float64()
	var dots []dot
	for i := range len(at) - 1 {
		before, after := at[max(i-1, 0)], at[min(i+2, len(at)-1)]
		steps := int(math.Ceil(2 * math.Hypot(at[i+1].x-at[i].x, at[i+1].y-at[i].y)))
		for k := range steps + 1 {
			t := float64(k) / float64(max(steps, 1))
			press := 1 + h.pressure*math.Sin(phase+2*(float64(i)+t))
			dots = append(dots, dot{curve(before, at[i], at[i+1], after, t), radius * press})
		}
	}
	return dots
}

func (h *Hand) place(p point) point {
	x, y := (p.x-.5)*h.width*1.5, (p.y-.75)*h.height/1.5
	x -= h.slant * y
	sin, cos := math.Sincos(h.turn)
	size := float64(h.Size)
	return point{(h.x + x*cos - y*sin) * size, (h.y + x*sin + y*cos) * size}
}

// curve returns the point at t of the Catmull-Rom spline from b, t = 0, to c, t = 1.
func curve(a, b, c, d point, t float64) point {
	axis := func(a, b, c, d float64) float64 {
		return b + t/2*(c-a+t*(2*a-5*b+4*c-d+t*(3*(b-c)+d-a)))
	}
	return point{axis(a.x, b.x, c.x, d.x), axis(a.y, b.y, c.y, d.y)}
}

// mix blends a and b. share is the share of b, from 0 to 1.
func mix(a, b color.RGBA, share float64) color.RGBA {
	channel := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share))
	}
	return color.RGBA{channel(a.R, b.R), channel(a.G, b.G), channel(a.B, b.B), 255}
}
