package profile

import (
	"fmt"
	"html"
	"math"
	"strings"
)

const (
	wide, high              = 900, 560
	left, top, right, floor = 70.0, 40.0, 880.0, 500.0
)

// roofline is a diagram with logarithmic axes. The horizontal axis is operations per byte, and the
// vertical axis operations per nanosecond.
type roofline struct {
	strings.Builder
	x0, x1, y0, y1 float64 // decimal logarithms at the edges
}

func (r *roofline) x(v float64) float64 {
	return left + (math.Log10(v)-r.x0)/(r.x1-r.x0)*(right-left)
}

func (r *roofline) y(v float64) float64 {
	return floor - (math.Log10(v)-r.y0)/(r.y1-r.y0)*(floor-top)
}

const maxLabels = 10

// Roofline draws the rows as an SVG image (Williams, Waterman, Patterson: Roofline, 2009). Each row is
// a disc that grows with its share of the time. Lines show the known limits of multiply-adds and of
// memory bandwidth. Rows without operations are omitted.
func (p *Profile) Roofline() []byte {
	var rows []Row
	for _, row := range p.Rows(false) {
		if row.Flops > 0 && row.Bytes > 0 && row.Time > 0 {
			rows = append(rows, row)
		}
	}
	intensity := func(row Row) float64 { return float64(row.Flops) / float64(row.Bytes) }
	rate := func(row Row) float64 { return float64(row.Flops) / float64(row.Time) }
	r := &roofline{x0: -1, x1: 3, y0: 0, y1: 3}
	for _, row := range rows {
		r.x0, r.x1 = min(r.x0, math.Floor(math.Log10(intensity(row)))), max(r.x1, math.Ceil(math.Log10(intensity(row))))
		r.y0, r.y1 = min(r.y0, math.Floor(math.Log10(rate(row)))), max(r.y1, math.Ceil(math.Log10(rate(row))))
	}
	fmt.Fprintf(r, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", wide, high, wide, high)
	fmt.Fprintf(r, `<rect width="%d" height="%d" fill="white"/>`+"\n", wide, high)
	machine := fmt.Sprintf("threads %d, %s", p.Threads, p.Level)
	if p.Device != nil {
		machine = p.Device.Name
	}
	r.text(left, 22, "start", fmt.Sprintf("%s: %s, %s", p.Model, milliseconds(p.Median), machine))
	r.axes()
	r.roofs(p)
	total := max(float64(p.nodeTime()), 1)
	for i, row := range rows {
		x, y := r.x(intensity(row)), r.y(rate(row))
		share := float64(row.Time) / total
		name := fmt.Sprintf("%s: %s, %.1f %% of the time, %.1f GFLOP/s", row.Name, row.Kind, 100*share, rate(row))
		fmt.Fprintf(r, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#3b6ea5" fill-opacity="0.45" stroke="#1f3d5c"><title>%s</title></circle>`+"\n",
			x, y, 3+28*math.Sqrt(share), html.EscapeString(plain(name)))
		if i < maxLabels && share > 0.02 {
			r.text(x, y-5, "middle", fmt.Sprintf("%s %.0f %%", shortened(row.Name, 28), 100*share))
		}
	}
	r.WriteString("</svg>\n")
	return []byte(r.String())
}

func (r *roofline) axes() {
	for e := r.x0; e <= r.x1; e++ {
		x := r.x(math.Pow(10, e))
		r.line(x, top, x, floor, "#ddd", 1)
		r.text(x, floor+18, "middle", fmt.Sprintf("%g", math.Pow(10, e)))
	}
	for e := r.y0; e <= r.y1; e++ {
		y := r.y(math.Pow(10, e))
		r.line(left, y, right, y, "#ddd", 1)
		r.text(left-8, y+4, "end", fmt.Sprintf("%g", math.Pow(10, e)))
	}
	r.text((left+right)/2, floor+40, "middle", "floating-point operations for each byte of operands and results")
	r.text(left, top-6, "end", "GFLOP/s")
}

// roofs draws the limits of the machine: memory bandwidth and multiply-adds. Only the bandwidth is known on a device.
func (r *roofline) roofs(p *Profile) {
	if p.Device != nil && p.Read > 0 {
		from, to := max(math.Pow(10, r.x0), math.Pow(10, r.y0)/p.Read), min(math.Pow(10, r.x1), math.Pow(10, r.y1)/p.Read)
		if from < to {
			r.line(r.x(from), r.y(from*p.Read), r.x(to), r.y(to*p.Read), "#b03a2e", 2)
		}
		r.text(right-4, top-6, "end", fmt.Sprintf("copy on the device %.1f GB/s", p.Read))
		return
	}
	if p.Multiply == 0 || p.Read == 0 {
		return
	}
	ridge := p.Multiply / p.Read
	from := math.Pow(10, r.x0)
	if low := math.Pow(10, r.y0) / p.Read; low > from {
		from = low
	}
	to := min(ridge, math.Pow(10, r.x1))
	r.line(r.x(from), r.y(from*p.Read), r.x(to), r.y(to*p.Read), "#b03a2e", 2)
	if ridge < math.Pow(10, r.x1) {
		r.line(r.x(ridge), r.y(p.Multiply), right, r.y(p.Multiply), "#b03a2e", 2)
	}
	r.text(right-4, r.y(p.Multiply)-6, "end", fmt.Sprintf("multiply-adds %.1f GFLOP/s, memory %.1f GB/s", p.Multiply, p.Read))
}

func (r *roofline) line(x0, y0, x1, y1 float64, colour string, width int) {
	fmt.Fprintf(r, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%d"/>`+"\n", x0, y0, x1, y1, colour, width)
}

func (r *roofline) text(x, y float64, anchor, text string) {
	fmt.Fprintf(r, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(plain(text)))
}

// plain removes control characters and the other characters that XML does not allow.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0xfffe || c == 0xffff {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\ufffd"))
}
