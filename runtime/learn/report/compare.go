package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Row compares a metric of two runs.
type Row struct {
	Key    string
	Unit   string
	A, B   float64 // the best values if the metric has a direction, and otherwise the last ones; NaN: no data
	Better int     // 1 if B is better than A, -1 if it is worse; 0 if they are equal or cannot be compared
}

// Worse returns the amount by which B is worse than A. It is negative if B is better. It is NaN if
// a value is missing. It is also NaN if the values differ and the metric does not say which values
// are better.
func (r Row) Worse() float64 {
	if r.Better == 0 && r.A != r.B {
		return math.NaN()
	}
	return float64(-r.Better) * math.Abs(r.B-r.A)
}

// Compare compares the metrics of two runs: the metrics of a in their order, and then the metrics
// that only b has.
func Compare(a, b *Run) []Row {
	var out []Row
	for _, o := range a.Results {
		out = append(out, row(o.Key, &o, b.Result(o.Key)))
	}
	for _, o := range b.Results {
		if a.Result(o.Key) == nil {
			out = append(out, row(o.Key, nil, &o))
		}
	}
	return out
}

// Result returns the result of a metric such as "valid accuracy". It returns nil if the run did not
// measure this metric.
func (r *Run) Result(key string) *Result {
	if i := slices.IndexFunc(r.Results, func(o Result) bool { return o.Key == key }); i >= 0 {
		return &r.Results[i]
	}
	return nil
}

func row(key string, a, b *Result) Row {
	r := Row{Key: key, A: math.NaN(), B: math.NaN()}
	direction := 0
	for _, of := range []struct {
		*Result
		to *float64
	}{{a, &r.A}, {b, &r.B}} {
		if of.Result == nil {
			continue
		}
		direction, r.Unit = of.Series.Better, of.Series.Unit
		*of.to = of.Value()
	}
	switch {
	case better(direction, r.B, r.A) && !math.IsNaN(r.A):
		r.Better = 1
	case better(direction, r.A, r.B) && !math.IsNaN(r.B):
		r.Better = -1
	}
	return r
}

// Value returns the best value if the metric has a direction, and otherwise the last one.
func (o *Result) Value() float64 {
	if o.Series.Better != 0 {
		return o.Best
	}
	return o.Last
}

// Table returns rows as text. nameA and nameB are the names of the runs.
func Table(nameA, nameB string, rows []Row) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "metric\t%s\t%s\tdifference\t\n", line(nameA), line(nameB))
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", line(r.Key), number(r.A, r.Unit), number(r.B, r.Unit), difference(r.B-r.A),
			map[int]string{1: "better", -1: "worse"}[r.Better])
	}
	w.Flush()
	var out strings.Builder
	for text := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(text, " \n") + "\n")
	}
	return out.String()
}

// line escapes the control characters of a name, so that the name takes one line of a table.
func line(name string) string {
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

func difference(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%+.4g", x)
}

func number(x float64, unit string) string {
	if math.IsNaN(x) {
		return "–"
	}
	text := strconv.FormatFloat(x, 'g', 5, 64)
	if unit != "" {
		text += " " + line(unit)
	}
	return text
}
