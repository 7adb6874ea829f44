// Package shapes paints the pictures that examples learn to tell apart.
package shapes

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// shape reports whether a point is inside a shape in the square from (-1, -1) to (1, 1).
type shape func(x, y float64) bool

// shapes is keyed by the name of the class.
var shapes = map[string]shape{
	"cross":    func(x, y float64) bool { return max(x, -x, y, -y) < 0.9 && (max(x, -x) < 0.3 || max(y, -y) < 0.3) },
	"disc":     func(x, y float64) bool { return x*x+y*y < 1 },
	"heart":    func(x, y float64) bool { d := 1.4*(x*x+y*y) - 1; return d*d*d+3.8*x*x*y*y*y < 0 },
	"moon":     func(x, y float64) bool { return x*x+y*y < 1 && (x-0.55)*(x-0.55)+y*y > 0.7 },
	"ring":     func(x, y float64) bool { d := x*x + y*y; return d < 1 && d > 0.4 },
	"square":   func(x, y float64) bool { return max(x, -x, y, -y) < 0.85 },
	"stripes":  func(x, y float64) bool { return max(x, -x, y, -y) < 0.9 && int(4*(y+1))%2 == 0 },
	"triangle": func(x, y float64) bool { return y < 0.8 && y > 2*max(x, -x)-1 },
}

// Plain and Other each list the names of four shapes. No shape is in both lists.
var (
	Plain = []string{"disc", "ring", "square", "triangle"}
	Other = []string{"cross", "heart", "moon", "stripes"}
)

// mask implements image.Image for a shape in a picture.
type mask struct {
	shape
	centre image.Point
	radius float64
}

func (m mask) ColorModel() color.Model { return color.AlphaModel }
func (m mask) Bounds() image.Rectangle {
	r := int(m.radius) + 1
	return image.Rect(-r, -r, r, r).Add(m.centre)
}

func (m mask) At(x, y int) color.Color {
	if m.shape((float64(x-m.centre.X)+0.5)/m.radius, (float64(y-m.centre.Y)+0.5)/m.radius) {
		return color.Opaque
	}
	return color.Transparent
}

// Paint writes n pictures of each shape in names as JPEG files: dir/disc/000.jpg and so on. Sizes, colours and places
// are random, and the same in each call. It returns an error if a name is unknown.
func Paint(dir string, n int, names []string) error {
	for _, name := range names {
		s, ok := shapes[name]
		if !ok {
			return fmt.Errorf("no shape %q", name)
		}
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(uint64(len(name)), uint64(name[0])))
		for i := range n {
			if err := write(filepath.Join(folder, fmt.Sprintf("%03d.jpg", i)), picture(s, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// picture paints a shape at a random place, dark on bright or bright on dark.
func picture(s shape, r *rand.Rand) image.Image {
	size := image.Pt(50+r.IntN(40), 50+r.IntN(40))
	m := image.NewRGBA(image.Rectangle{Max: size})
	base := r.IntN(2) * 128
	colour := func(from int) color.Color {
		return color.RGBA{uint8(from + r.IntN(100)), uint8(from + r.IntN(100)), uint8(from + r.IntN(100)), 255}
	}
	draw.Draw(m, m.Rect, image.NewUniform(colour(base)), image.Point{}, draw.Src)
	radius := (0.25 + 0.15*r.Float64()) * float64(min(size.X, size.Y))
	inner := m.Rect.Inset(int(radius))
	at := mask{s, image.Pt(inner.Min.X+r.IntN(inner.Dx()), inner.Min.Y+r.IntN(inner.Dy())), radius}
	draw.DrawMask(m, m.Rect, image.NewUniform(colour(128-base)), image.Point{}, at, image.Point{}, draw.Over)
	return m
}

func write(path string, m image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := jpeg.Encode(f, m, nil); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
