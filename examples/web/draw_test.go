package main

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/internal/browser"
)

// seven has the points of a seven, as shares of the paper.
var seven = []browser.Point{{X: 0.25, Y: 0.2}, {X: 0.5, Y: 0.19}, {X: 0.75, Y: 0.2}, {X: 0.66, Y: 0.38}, {X: 0.56, Y: 0.6}, {X: 0.45, Y: 0.85}}

// TestDraw draws a seven with the mouse. Its bar becomes the largest.
func TestDraw(t *testing.T) {
	address, dir := site(t)
	build(t, dir, generates(t, "draw/"))
	p := browser.Open(t, address+"/draw/")
	p.Resize(900, 640)
	p.Await("document.querySelector('#status').textContent === ''", "1")
	p.Drag(p.In("#paper", seven[0].X, seven[0].Y))
	p.Await("document.querySelector('.best')", "1") // a dot is drawn, too
	p.Click("#clear")
	p.Await("document.querySelector('.best') === null && document.querySelector('#status').textContent === ''", "1")

	var points []browser.Point
	for _, at := range seven {
		points = append(points, p.In("#paper", at.X, at.Y))
	}
	p.Drag(points...)
	text := p.Await("document.querySelector('#status').textContent.startsWith('This is a 7')", "document.querySelector('#status').textContent")
	if !strings.HasSuffix(text, " ms.") {
		t.Errorf("%q does not tell the time", text)
	}
	var shares []float64
	list := p.Eval("JSON.stringify(Array.from(document.querySelectorAll('#bars .fill'), (e) => parseFloat(e.style.width)))")
	if err := json.Unmarshal([]byte(list), &shares); err != nil || len(shares) != 10 {
		t.Fatalf("bars %s, %v", list, err)
	}
	sum := 0.
	for digit, share := range shares {
		sum += share
		if digit != 7 && share >= shares[7] {
			t.Errorf("the bar of %d has %g %%, that of 7 has %g %%", digit, share, shares[7])
		}
	}
	if math.Abs(sum-100) > 0.1 {
		t.Errorf("the bars sum to %g %%", sum)
	}
	keep(t, p, "draw.png")
	p.Darken()
	narrow(t, p)
	keep(t, p, "draw-dark.png")
	quiet(t, p)
}

// TestFit compares the page's function fit with package fit, on drawings of random strokes.
func TestFit(t *testing.T) {
	address, _ := site(t)
	p := browser.Open(t, address)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		width, height := 20+rng.IntN(80), 20+rng.IntN(80)
		m := image.NewNRGBA(image.Rect(0, 0, width, height))
		var ink []int
		x, y := rng.IntN(width/2)+5, rng.IntN(height/2)+5
		for i := range width * height {
			a := uint8(rng.IntN(40)) // too faint to be ink
			if abs(i%width-x) < 4 || abs(i/width-y) < 2 {
				a = uint8(60 + rng.IntN(196))
			}
			if i%width == 0 || i%width == width-1 || i/width == 0 || i/width == height-1 {
				a = 0 // the border is paper
			}
			m.SetNRGBA(i%width, i/width, color.NRGBA{A: a})
			ink = append(ink, int(a))
		}
		var want [28][28]float32
		if err := fit.Digit(&want, m); err != nil {
			t.Fatal(err)
		}
		list, _ := json.Marshal(ink) // integers have no error
		var got []float64
		text := p.Eval(fmt.Sprintf("import('/draw/fit.js').then(({ fit }) => JSON.stringify(Array.from(fit(Float32Array.from(%s, (v) => v / 255), %d))))", list, width))
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 784 {
			t.Fatalf("%d numbers, %v", len(got), err)
		}
		for i, v := range got {
			if math.Abs(v-float64(want[i/28][i%28])) > 1e-4 {
				t.Fatalf("pixel %d is %g, want %g", i, v, want[i/28][i%28])
			}
		}
	}
	if got := p.Eval("import('/draw/fit.js').then(({ fit }) => fit(new Float32Array(9), 3) === null)"); got != "true" {
		t.Errorf("of no ink: %s", got)
	}
}

func abs(x int) int { return max(x, -x) }
