package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number, "duration": duration, "percent": percent,
	"clip":     clip,
	"lines":    func(all []string) []string { return all },
	"style":    func() template.CSS { return template.CSS(pageStyle) },
	"script":   func() template.JS { return template.JS(pageScript) },
	"isNumber": func(x float64) bool { return !math.IsNaN(x) },
	"add":      func(a, b int) int { return a + b },
	"mod":      func(a int) int { return a % colours },
}).Parse(pageText))

const (
	maxPage     = 1 << 20 // bytes
	maxRuns     = 16
	allPoints   = 24000     // of all curves
	maxCurve    = 600       // points of one curve
	allPictures = 256 << 10 // bytes of all pictures, as text
)

// HTML returns a page about runs: their results, curves, settings, times, pictures and logs. It is
// one file of at most 1 MiB, and needs no network. If the page would be larger, texts, tables and
// curves are shortened. Its bytes depend on the runs only. It returns an error if there are no
// runs, or more than 16.
func HTML(runs ...*Run) ([]byte, error) {
	switch {
	case len(runs) == 0:
		return nil, errors.New("no runs")
	case len(runs) > maxRuns:
		return nil, fmt.Errorf("%d runs: at most %d have room on a page", len(runs), maxRuns)
	}
	for part := 1; ; part *= 2 {
		out, err := render(runs, part)
		if err != nil || len(out) <= maxPage {
			return out, err
		}
	}
}

// Write writes the page of a run to report.html in its folder, as a whole or not at all. It suits [learn.Options].Report.
// It returns the errors of [Read] and of writing.
func Write(dir string) error {
	r, err := Read(dir)
	if err != nil {
		return err
	}
	out, err := HTML(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".report-*")
	if err != nil {
		return err
	}
	_, err = f.Write(out)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, "report.html"))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

type content struct {
	Runs                []*Run
	Rows                []resultRow
	Charts              []chart
	Config, Environment []Difference
	Pictures            []pictureOf
	Omitted             int // number of pictures that have no room
}

// render returns the page of runs. Its texts, tables and curves have at most 1/`part` of their maximum lengths: the
// larger `part`, the shorter the page.
func render(runs []*Run, part int) ([]byte, error) {
	rows := first(maxResults/part, resultRows(runs))
	points := allPoints / part / max(1, 2*len(rows)*len(runs))
	c := content{
		Runs: runs, Rows: rows, Charts: charts(runs, rows, min(maxCurve, max(8, points))),
		Config:      first(maxSettings/part, table(runs, func(r *Run) []Setting { return r.Config })),
		Environment: first(maxSettings/part, table(runs, func(r *Run) []Setting { return r.Environment })),
	}
	room := allPictures
	for _, r := range runs {
		for _, p := range r.Pictures {
			text := base64.StdEncoding.EncodeToString(p.PNG)
			if len(text) > room {
				c.Omitted++
				continue
			}
			room -= len(text)
			c.Pictures = append(c.Pictures, pictureOf{r.Name, p.Key, template.URL("data:image/png;base64," + text)})
		}
	}
	t, err := page.Clone()
	if err != nil {
		return nil, err
	}
	t.Funcs(template.FuncMap{
		"clip":  func(n int, text string) string { return clip(n/part, text) },
		"lines": func(all []string) []string { return all[len(all)-len(all)/part:] },
	})
	var b bytes.Buffer
	if err := t.Execute(&b, c); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func first[E any](n int, all []E) []E { return all[:min(n, len(all))] }

type pictureOf struct {
	Run, Key string
	Data     template.URL
}

type resultRow struct {
	Key     string
	Results []*Result
}

func resultRows(runs []*Run) []resultRow {
	var out []resultRow
	at := map[string]int{}
	for i, r := range runs {
		for j := range r.Results {
			o := &r.Results[j]
			k, ok := at[o.Key]
			if !ok {
				k = len(out)
				at[o.Key] = k
				out = append(out, resultRow{o.Key, make([]*Result, len(runs))})
			}
			out[k].Results[i] = o
		}
	}
	return out
}

// table returns the settings of a single run, or the settings in which several runs differ. The
// function `of` returns the settings of a run.
func table(runs []*Run, of func(*Run) []Setting) []Difference {
	if len(runs) > 1 {
		all := make([][]Setting, len(runs))
		for i, r := range runs {
			all[i] = of(r)
		}
		return differences(all)
	}
	var out []Difference
	for _, s := range of(runs[0]) {
		out = append(out, Difference{s.Name, []string{s.Value}})
	}
	return out
}

// Status returns the reason for which the run stopped, or "has not ended".
func (r *Run) Status() string {
	if r.Stopped == nil {
		return "has not ended"
	}
	return r.Stopped.Reason
}

// duration formats d for a page. It rounds d to seconds if d is at least 10 s, and to milliseconds if d is at least
// 10 ms. It does not round shorter durations.
func duration(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.String()
}

// percent returns part/whole in percent, at most 100, as a number in CSS.
func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f", 100*min(1, float64(part)/float64(whole)))
}

// clip returns text if it has at most n bytes, else its first n bytes or fewer, and "…".
func clip(n int, text string) string {
	if len(text) <= n {
		return text
	}
	text = text[:n]
	for !utf8.ValidString(text) && len(text) > n-utf8.UTFMax {
		text = text[:len(text)-1]
	}
	return strings.ToValidUTF8(text, "�") + "…"
}
