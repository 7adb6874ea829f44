//go:build unix || windows

package dash

import (
	"math"
	"slices"

	"charm.land/lipgloss/v2"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

type lens struct {
	// the only split to draw; "" is all splits
	split learn.Split
	// draw the last values only
	recent bool
	// draw logarithms of values
	log    bool
	smooth int // index in smoothing
}

// smoothing lists window lengths for averages. They are fractions of the length of a curve.
var smoothing = [...]float64{0, 0.02, 0.1}

func styleOf(s learn.Split) style {
	switch s {
	case learn.Train:
		return first
	case learn.Valid:
		return second
	}
	return third
}

// chosen returns the curves of the splits that l selects. As l says, it returns all their values or
// only the last ones, smoothed or not, and as logarithms or not.
func (l lens) chosen(curves []progress.Curve) []progress.Curve {
	var out []progress.Curve
	from := math.Inf(-1)
	if l.recent { // the last values of the longest curve say where all begin
		n := 0
		for _, c := range curves {
			if len(c.Recent) > n && (l.split == "" || l.split == c.Split) {
				n, from = len(c.Recent), c.Recent[0].X
			}
		}
	}
	for _, c := range curves {
		if l.split != "" && l.split != c.Split {
			continue
		}
		points := c.Full
		if l.recent {
			points = c.Recent
		}
		points = l.smoothed(points)
		points = slices.DeleteFunc(points, func(p progress.Point) bool { return p.X < from || l.log && !(p.Low > 0) })
		if l.log {
			for i, p := range points {
				points[i] = progress.Point{X: p.X, Low: math.Log10(p.Low), Mean: math.Log10(p.Mean), High: math.Log10(p.High)}
			}
		}
		if len(points) > 0 {
			out = append(out, progress.Curve{Split: c.Split, Full: points})
		}
	}
	return out
}

// smoothed returns a copy of points. If smoothing[l.smooth] is not 0, the copy is an exponential
// average of the points.
func (l lens) smoothed(points []progress.Point) []progress.Point {
	points = slices.Clone(points)
	share := smoothing[l.smooth]
	if share == 0 || len(points) == 0 {
		return points
	}
	w := 2 / (max(1, share*float64(len(points))) + 1)
	m := points[0].Mean
	for i, p := range points {
		m += w*p.Mean - w*m
		points[i] = progress.Point{X: p.X, Low: m, Mean: m, High: m}
	}
	return points
}

// bounds returns the range x0…x1 of the steps of all points, and the range y0…y1 of their values.
// If all values are equal, it widens their range. If there are no points, the ranges are empty.
func bounds(curves []progress.Curve) (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, p := range c.Full {
			x0, x1, y0, y1 = min(x0, p.X), max(x1, p.X), min(y0, p.Low), max(y1, p.High)
		}
	}
	if y0 == y1 {
		pad := max(math.Abs(y0)/10, 1e-3)
		y0, y1 = y0-pad, y1+pad
	}
	return x0, x1, y0, y1
}

// share returns (v − lo)/(hi − lo), clamped to [0, 1]. If hi ≤ lo, it returns 1. It computes with
// halves of the numbers, so that the differences do not overflow.
func share(v, lo, hi float64) float64 {
	d := hi/2 - lo/2
	if !(d > 0) {
		return 1
	}
	return min(max((v/2-lo/2)/d, 0), 1)
}

// plot draws curves with axes in a rectangle. The rectangle has w × h cells, and its upper left
// cell is (x, y).
func plot(g *grid, x, y, w, h int, curves []progress.Curve, l lens, unit string) {
	shown := l.chosen(curves)
	if h < 3 || w < 16 {
		return
	}
	if len(shown) == 0 {
		text := "no values yet"
		if l.log && len(curves) > 0 {
			text = "no values above 0"
		}
		g.put(x+(w-len(text))/2, y+h/2, x+w, dim, text)
		return
	}
	x0, x1, y0, y1 := bounds(shown)
	rows := h - 2
	label := func(row int) string {
		t := 1.0
		if rows > 1 {
			t = 1 - float64(row)/float64(rows-1)
		}
		v := y0*(1-t) + y1*t
		if l.log {
			v = math.Pow(10, v)
		}
		return progress.Value(v, unit)
	}
	marks := []int{0, rows - 1}
	if rows >= 5 {
		marks = []int{0, rows / 2, rows - 1}
	}
	wide := 0
	for _, row := range marks {
		wide = max(wide, min(lipgloss.Width(label(row)), 10))
	}
	axis := x + wide + 1
	for row := range rows {
		g.set(axis, y+row, dim, g.glyph("│"))
	}
	for _, row := range marks {
		g.right(axis-1, y+row, dim, label(row))
		g.set(axis, y+row, dim, g.glyph("┤"))
	}
	columns := x + w - axis - 1
	steps(g, axis, y+rows, columns, x0, x1)

	c := newCanvas(columns, rows, g.ascii)
	for _, curve := range shown {
		trace(c, curve, x0, x1, y0, y1)
	}
	c.draw(g, axis+1, y)
	legend(g, x+w, y, axis+1, shown)
}

// trace draws a curve on c. x0, x1, y0 and y1 are the ranges of the axes. A point that stands for
// several values is drawn as a vertical line from the lowest of these values to the highest.
func trace(c *canvas, curve progress.Curve, x0, x1, y0, y1 float64) {
	w, h := c.size()
	s := styleOf(curve.Split)
	across := func(x float64) int { return int(math.Round(share(x, x0, x1) * float64(w-1))) }
	down := func(v float64) int { return int(math.Round((1 - share(v, y0, y1)) * float64(h-1))) }
	dashed := curve.Split != learn.Train && len(curve.Full) > 1 && curve.Split != progress.Optimizer && curve.Split != learn.System
	lastX, lastY := 0, 0
	for i, p := range curve.Full {
		x, y := across(p.X), down(p.Mean)
		if i == 0 {
			lastX, lastY = x, y
		}
		c.line(lastX, lastY, x, y, s, dashed)
		c.line(x, down(p.Low), x, down(p.High), s, false)
		lastX, lastY = x, y
	}
	if len(curve.Full) == 1 { // one dot is hard to see
		c.line(lastX-1, lastY, lastX+1, lastY, s, false)
		c.line(lastX, lastY-1, lastX, lastY+1, s, false)
	}
}

// steps draws the horizontal axis below a plot in row y, and its labels in the next row. The corner
// of the plot is in column x. The axis has `columns` cells, and stands for steps from x0 to x1.
func steps(g *grid, x, y, columns int, x0, x1 float64) {
	g.set(x, y, dim, g.glyph("└"))
	g.across(x+1, x+1+columns, y)
	n := max(1, min(4, columns/10))
	for i := range n + 1 {
		at := x + 1 + i*(columns-1)/n
		v := x0 + (x1-x0)*float64(i)/float64(n)
		if x0 == x1 {
			at, v = x+columns, x0
		}
		g.set(at, y, dim, g.glyph("┬"))
		text := progress.Count(math.Round(v))
		g.put(max(x, min(at-len(text)/2, x+1+columns-len(text))), y+1, x+1+columns, dim, text)
		if x0 == x1 {
			return
		}
	}
}

// legend writes the names of the curves in row y, so that they end before column `end`. It writes
// nothing if there is only one curve, or if the names do not fit after column `from`.
func legend(g *grid, end, y, from int, curves []progress.Curve) {
	if len(curves) < 2 {
		return
	}
	n := 0
	for _, c := range curves {
		n += len(c.Split) + 5
	}
	x := end - n
	if x < from+8 {
		return
	}
	for _, c := range curves {
		mark := "·· "
		switch {
		case g.ascii:
			mark = asciiMark(styleOf(c.Split)) + "  "
		case c.Split == learn.Train:
			mark = "── "
		}
		for _, r := range mark + string(c.Split) + "  " {
			g.set(x, y, styleOf(c.Split), string(r))
			x++
		}
	}
}
