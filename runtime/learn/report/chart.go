package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/learn"
)

// These are the sizes of a chart and of the margins for the labels of its axes, in units of the
// viewBox.
const (
	chartWidth, chartHeight            = 560.0, 260.0
	roomLeft, roomRight, roomTop, room = 58.0, 12.0, 10.0, 24.0 // room is below
)

type chart struct {
	// name of the metric, with its unit
	Name   string
	Lines  []plotted
	XTicks []tick
	YTicks []tick
}

type plotted struct {
	Label string
	// CSS classes for the colour of the run and the style of the split
	Class string
	// the line, as SVG path data
	Path string
	// the steps of the points, separated by blanks
	Steps  string
	Values string
}

type tick struct {
	// position on the axis, in units of the viewBox
	At   float64
	Text string
}

// charts returns a chart for each metric in rows, unless the metric has no curve. All splits and
// runs of a metric share its chart. A curve has at most `points` points.
func charts(runs []*Run, rows []resultRow, points int) []chart {
	var names []string
	of := map[string][]plot{}
	for _, row := range rows {
		for i, o := range row.Results {
			if o == nil {
				continue
			}
			name := o.Series.Name
			if o.Split == learn.System {
				name = string(learn.System) + ": " + name
			}
			if o.Series.Unit != "" {
				name += ", " + o.Series.Unit
			}
			label, class := string(o.Split), fmt.Sprintf("run%d ", i%colours)
			if len(runs) > 1 {
				label = runs[i].Name + " " + label
			}
			var plots []plot
			if len(o.Recent.Points) > 1 {
				plots = append(plots, plot{label + ", batches", class + "recent", o.Recent.Thin(points)})
			}
			if len(o.Curve.Points) > 0 {
				plots = append(plots, plot{label, class + style(o.Split), o.Curve.Thin(points)})
			}
			if len(of[name]) == 0 && len(plots) > 0 {
				names = append(names, name)
			}
			of[name] = append(of[name], plots...)
		}
	}
	var out []chart
	for _, name := range names {
		out = append(out, newChart(name, of[name]))
	}
	return out
}

const colours = 8

func style(s learn.Split) string {
	switch s {
	case learn.Train, learn.Valid, learn.Test, learn.System:
		return string(s)
	}
	return "other"
}

type plot struct {
	label, class string
	points       []Point
}

func newChart(name string, plots []plot) chart {
	x, y := span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, p := range plots {
		for _, q := range p.points {
			x.include(float64(q.Step))
			y.include(q.Value)
		}
	}
	x.widen()
	y.widen()
	c := chart{Name: name}
	left, right, top, bottom := roomLeft, chartWidth-roomRight, roomTop, chartHeight-room
	atX := func(v float64) float64 { return left + (right-left)*x.part(v) }
	atY := func(v float64) float64 { return bottom - (bottom-top)*y.part(v) }
	for _, v := range x.ticks(6) {
		if v == math.Trunc(v) {
			c.XTicks = append(c.XTicks, tick{round(atX(v)), thousands(v)})
		}
	}
	for _, v := range y.ticks(5) {
		c.YTicks = append(c.YTicks, tick{round(atY(v)), strconv.FormatFloat(v, 'g', 4, 64)})
	}
	for _, p := range plots {
		var path, steps, values strings.Builder
		for i, q := range p.points {
			command := "L"
			if i == 0 {
				command = "M"
			}
			fmt.Fprintf(&path, "%s%s %s", command, short(atX(float64(q.Step))), short(atY(q.Value)))
			if i > 0 {
				steps.WriteByte(' ')
				values.WriteByte(' ')
			}
			steps.WriteString(strconv.Itoa(q.Step))
			values.WriteString(strconv.FormatFloat(q.Value, 'g', 4, 64))
		}
		if len(p.points) == 1 {
			path.WriteString("h0.01") // a mark
			p.class += " dot"
		}
		c.Lines = append(c.Lines, plotted{p.label, p.class, path.String(), steps.String(), values.String()})
	}
	return c
}

func round(x float64) float64 { return math.Round(x*10) / 10 }

func short(x float64) string { return strconv.FormatFloat(round(x), 'f', -1, 64) }

// thousands formats a number of steps, such as "12k".
func thousands(x float64) string {
	switch {
	case x >= 1e6:
		return strconv.FormatFloat(x/1e6, 'g', 4, 64) + "M"
	case x >= 1e4:
		return strconv.FormatFloat(x/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

type span struct{ low, high float64 }

func (s *span) include(x float64) { s.low, s.high = min(s.low, x), max(s.high, x) }

// widen makes a span finite and not empty, so that its width can be a divisor. A span of
// positive, finite width does not change.
func (s *span) widen() {
	if w := s.high - s.low; !(w > 1e-12*max(math.Abs(s.low), math.Abs(s.high))) || math.IsInf(w, 0) {
		by := max(0.5, min(math.Abs(s.high)*1e-3, math.MaxFloat64/8))
		s.low, s.high = max(s.low, -math.MaxFloat64/4)-by, min(s.high, math.MaxFloat64/4)+by
	}
}

// part returns the position of x in the span, clamped to [0, 1].
func (s span) part(x float64) float64 { return min(1, max(0, (x-s.low)/(s.high-s.low))) }

// ticks returns about n round numbers in the span. They are the multiples of 1, 2 or 5 times a
// power of 10.
func (s span) ticks(n int) []float64 {
	raw := (s.high - s.low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{5, 2} {
		if m*step <= raw {
			step *= m
			break
		}
	}
	var out []float64
	for k := math.Ceil(s.low / step); k*step <= s.high && len(out) <= 3*n; k++ {
		out = append(out, k*step)
	}
	return slices.Clip(out)
}
