package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/learn"
)

// Size of a chart, and the room for the labels of its axes, in units of the picture.
const (
	chartWidth, chartHeight            = 560.0, 260.0
	roomLeft, roomRight, roomTop, room = 58.0, 12.0, 10.0, 24.0 // room is below
)

// chart is a picture of the curves of a metric in all runs.
type chart struct {
	Name   string // of the metric, with its unit
	Lines  []plotted
	XTicks []tick
	YTicks []tick
}

// plotted is a curve in a chart.
type plotted struct {
	Label  string
	Class  string // how it is drawn: the colour of its run, and the style of its split
	Path   string // of SVG
	Steps  string // of its points, with blanks between
	Values string
}

// tick is a mark on an axis.
type tick struct {
	At   float64 // in units of the picture
	Text string
}

// charts returns a chart for each metric of the rows that has a curve. Splits share a chart, and so do
// runs. No curve has more than points points.
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

// colours is the number of colours for runs.
const colours = 8

// style returns the class of a split.
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

// round returns x to a tenth.
func round(x float64) float64 { return math.Round(x*10) / 10 }

func short(x float64) string { return strconv.FormatFloat(round(x), 'f', -1, 64) }

// thousands returns a number of steps, such as "12k".
func thousands(x float64) string {
	switch {
	case x >= 1e6:
		return strconv.FormatFloat(x/1e6, 'g', 4, 64) + "M"
	case x >= 1e4:
		return strconv.FormatFloat(x/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// span is the range of an axis.
type span struct{ low, high float64 }

func (s *span) include(x float64) { s.low, s.high = min(s.low, x), max(s.high, x) }

// widen makes a span that has no width a little wider, so that it can be divided by.
func (s *span) widen() {
	if w := s.high - s.low; !(w > 1e-12*max(math.Abs(s.low), math.Abs(s.high))) || math.IsInf(w, 0) {
		by := max(0.5, min(math.Abs(s.high)*1e-3, math.MaxFloat64/8))
		s.low, s.high = max(s.low, -math.MaxFloat64/4)-by, min(s.high, math.MaxFloat64/4)+by
	}
}

// part returns the position of x in the span: 0 at its lower end and below, and 1 at its upper end
// and above.
func (s span) part(x float64) float64 { return min(1, max(0, (x-s.low)/(s.high-s.low))) }

// ticks returns about n round numbers of the span: multiples of 1, 2 or 5 times a power of 10.
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
