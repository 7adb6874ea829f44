package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/examples/squeezenet/squeezenet"
	"github.com/burngen/burngen/internal/browser"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// bar is what the photo page shows for a class.
type bar struct {
	Label string
	Share float64 // in percent
}

// bars returns the bars of the photo page when the status begins with "One of", and clears the status.
func bars(t *testing.T, p *browser.Page) []bar {
	t.Helper()
	text := p.Await("document.querySelector('#status').textContent.startsWith('One of')",
		"JSON.stringify(Array.from(document.querySelectorAll('#bars li'), (e) => ({ Label: e.children[0].textContent, Share: parseFloat(e.children[2].textContent) })))")
	var list []bar
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	p.Eval("document.querySelector('#status').textContent = ''")
	return list
}

// savePNG writes a picture in which each pixel of m is a square of scale×scale pixels.
func savePNG(t *testing.T, path string, m *image.NRGBA, scale int) {
	t.Helper()
	size := m.Bounds().Size().Mul(scale)
	large := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			large.Set(x, y, m.At(x/scale, y/scale))
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, large); err != nil {
		t.Fatal(err)
	}
}

// TestPhoto gives a network that returns its input to the photo page. The five best classes are then the brightest
// subpixels of what the page has made of a picture.
func TestPhoto(t *testing.T) {
	const side = 8
	folder := t.TempDir()
	file := filepath.Join(folder, "flat.onnx")
	data := onnxtest.New(17).Input("photo", ir.F32, "N", 3, side, side).Output("logits", ir.F32, "N", 3*side*side).
		Node("/flat", "Flatten", []string{"photo"}, []string{"logits"}).Bytes()
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	address, dir := site(t)
	build(t, dir, "run ../../cmd/burngen "+file+" -o photo/model -web")

	wide := image.NewNRGBA(image.Rect(0, 0, side+4, side))
	for i := range wide.Pix {
		wide.Pix[i] = 255 * uint8(i%4/3) // black
	}
	wide.Set(1, 4, color.White) // left of the middle
	wide.Set(2, 0, color.NRGBA{B: 255, A: 255})
	wide.Set(7, 3, color.NRGBA{G: 240, A: 255})
	wide.Set(9, 7, color.NRGBA{R: 235, A: 255})
	wide.Set(5, 2, color.NRGBA{R: 210, B: 190, A: 255})
	var logits [3 * side * side]float32
	for i := range logits {
		c, y, x := i/side/side, i/side%side, i%side
		logits[i] = float32(normalised(wide.Pix[wide.PixOffset(x+2, y)+c], c))
	}

	p := browser.Open(t, address+"/photo/")
	p.Resize(900, 640)
	p.Await("document.querySelector('#status').textContent === ''", "1")
	path := filepath.Join(folder, "wide.png")
	savePNG(t, path, wide, 1)
	p.Choose("#photo", path)
	if got, want := bars(t, p), best(logits[:]); !agree(got, want) {
		t.Errorf("bars %v, want %v", got, want)
	}

	// A large picture is scaled, and names take the place of numbers.
	large, names := filepath.Join(folder, "large.png"), filepath.Join(folder, "names.txt")
	savePNG(t, large, wide, 8)
	text := ""
	for i := range logits {
		text += fmt.Sprintf("name of %d\n", i)
	}
	if err := os.WriteFile(names, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p.Drop(p.In("#sheet", 0.5, 0.5), names, large)
	if got := bars(t, p)[0].Label; got != "name of 128" {
		t.Errorf("the best class of the large picture is %q", got)
	}
	keep(t, p, "photo.png")
	p.Drop(p.In("#sheet", 0.5, 0.5), file)
	if got := p.Await("document.querySelector('#status').textContent.includes('flat')", "document.querySelector('#status').textContent"); got != "flat.onnx is not a picture that this browser can read." {
		t.Error(got)
	}
	narrow(t, p)
	quiet(t, p)
}

// TestSqueezeNet compares what the photo page says of a noisy picture with what the package in examples/squeezenet
// says, which has the same initial weights.
func TestSqueezeNet(t *testing.T) {
	address, dir := site(t)
	build(t, dir, "run ../../cmd/burngen ../squeezenet/model -set Classes=4 -set Size=64 -o photo/model -web")
	const side = len(squeezenet.Photo{}[0])
	rng := rand.New(rand.NewPCG(1, 2))
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	var photo squeezenet.Photo
	for i := range side * side {
		m.Pix[4*i+3] = 255
		for c := range 3 {
			m.Pix[4*i+c] = uint8(rng.IntN(256))
			photo[c][i/side][i%side] = float32(normalised(m.Pix[4*i+c], c))
		}
	}
	logits, err := squeezenet.New(0).Forward([]squeezenet.Photo{photo})
	if err != nil {
		t.Fatal(err)
	}
	p := browser.Open(t, address+"/photo/")
	p.Await("document.querySelector('#status').textContent === ''", "1")
	path := filepath.Join(t.TempDir(), "noise.png")
	savePNG(t, path, m, 1)
	p.Drop(p.In("#sheet", 0.5, 0.5), path)
	if got, want := bars(t, p), best(logits[0][:]); !agree(got, want) {
		t.Errorf("bars %v, want %v", got, want)
	}
	quiet(t, p)
}

// normalised returns what the network is given for a byte of a colour: red, green or blue.
func normalised(value uint8, colour int) float64 {
	return (float64(value)/255 - []float64{.485, .456, .406}[colour]) / []float64{.229, .224, .225}[colour]
}

// best returns the bars of the five largest logits.
func best(logits []float32) []bar {
	sum := 0.
	for _, v := range logits {
		sum += math.Exp(float64(v))
	}
	var list []bar
	for i, v := range logits {
		list = append(list, bar{fmt.Sprint("class ", i), 100 * math.Exp(float64(v)) / sum})
	}
	slices.SortFunc(list, func(a, b bar) int { return cmp.Compare(b.Share, a.Share) })
	return list[:min(5, len(list))]
}

// agree reports whether bars are the same up to rounding to a tenth of a percent.
func agree(a, b []bar) bool {
	return slices.EqualFunc(a, b, func(a, b bar) bool { return a.Label == b.Label && math.Abs(a.Share-b.Share) < 0.06 })
}
