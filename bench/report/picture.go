package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// hues are the colours of points: the first for the smallest number of threads, and so on. They repeat if there are
// more numbers of threads than hues.
var hues = []color.Color{color.RGBA{0x1f, 0x5f, 0xbf, 0xff}, color.RGBA{0xd0, 0x6a, 0x00, 0xff}, color.RGBA{0x3a, 0x8a, 0x3a, 0xff}}

// picture returns ratios.svg: a line for each model, the first on top, with a point for the ratio
// of each case on a logarithmic axis.
func picture(cases []result) ([]byte, error) {
	p, lines, err := chart(cases)
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(17*vg.Centimeter, vg.Length(lines)*.5*vg.Centimeter+2.5*vg.Centimeter))
	margin := .25 * vg.Centimeter
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

// chart returns the plot and the number of its lines. It leaves out cases of models with symbolic extents.
func chart(cases []result) (*plot.Plot, int, error) {
	cases, _ = divide(cases)
	p := plot.New()
	p.Title.Text = "ONNX Runtime's time over burngen's"
	p.X.Scale = plot.LogScale{}
	p.Add(plotter.NewGrid())

	var labels []string
	for _, r := range slices.Backward(cases) {
		if r.timed() && !slices.Contains(labels, r.label()) {
			labels = append(labels, r.label())
		}
	}
	if labels == nil {
		return nil, 0, fmt.Errorf("no results to draw")
	}
	low, high := 0.9, 2.0
	for i, t := range threads(cases) {
		var points plotter.XYs
		for _, r := range cases {
			if r.Threads == t && r.timed() {
				points = append(points, plotter.XY{X: r.Ratio, Y: float64(slices.Index(labels, r.label()))})
				low, high = min(low, r.Ratio*.95), max(high, r.Ratio*1.05)
			}
		}
		if points == nil {
			continue
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return nil, 0, err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: hues[i%len(hues)], Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		p.Add(s)
		p.Legend.Add(count(t, "thread"), s)
	}
	even, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -1}, {X: 1, Y: float64(len(labels))}})
	if err != nil {
		return nil, 0, err
	}
	even.Width = vg.Points(1.5)
	p.Add(even)
	p.NominalY(labels...)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, -.6, float64(len(labels))-.4
	p.X.Tick.Marker = plot.ConstantTicks(ticks(low, high))
	return p, len(labels), nil
}

// ticks returns marks from low to high at the powers of two, and halfway between them.
func ticks(low, high float64) []plot.Tick {
	var list []plot.Tick
	for v := math.Exp2(math.Floor(math.Log2(low))); v <= high; v *= 2 {
		for _, x := range []float64{v, 1.5 * v} {
			if x >= low && x <= high {
				list = append(list, plot.Tick{Value: x, Label: fmt.Sprint(x)})
			}
		}
	}
	return list
}
