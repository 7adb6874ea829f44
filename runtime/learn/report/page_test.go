package report

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/learn"
)

var update = flag.Bool("update", false, "write the golden files anew")

// html returns the page of runs.
func html(t testing.TB, runs ...*Run) string {
	t.Helper()
	page, err := HTML(runs...)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestHTML(t *testing.T) {
	a := read(t, folder(t, "first", whole(1.5), files(t, "0.1")))
	b := read(t, folder(t, "<second>", whole(1.7), files(t, "0.2")))
	for name, got := range map[string]string{"one": html(t, a), "two": html(t, a, b)} {
		file := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; see it and use -update", file)
		}
		if found := regexp.MustCompile(`(?i)https?:|(src|href)="[^d]|url\(|import|fetch|<second>|<skipped>|<b>|ZgotmplZ`).FindString(got); found != "" {
			t.Errorf("%s has %q", file, found)
		}
	}
	if _, err := HTML(); err == nil {
		t.Error("a page without runs")
	}
}

func TestPagesAreSmall(t *testing.T) {
	events := []learn.Event{started(0)}
	var values []learn.Value
	for i := range 300 {
		values = append(values, learn.Value{Name: strings.Repeat("<", 100) + fmt.Sprint(i), Value: 1, Text: strings.Repeat("&", 300)})
	}
	for step := range 20000 {
		events = append(events, learn.Stepped{Time: began, Split: learn.Train, Step: step, Loss: learn.Number(math.Sin(float64(step))), Items: 1})
	}
	for i := range 30 {
		for j := range values {
			values[j].Name = fmt.Sprint(j, strings.Repeat("<", 100))
		}
		events = append(events, learn.Measured{Time: began, Split: learn.Valid, Step: 20000 + i, Values: values})
	}
	var config strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&config, "%q:%q,", fmt.Sprint(i, strings.Repeat("\"", 50)), strings.Repeat("'", 100))
	}
	r := read(t, folder(t, strings.Repeat("n", 100), events, map[string]string{
		"config.json": "{" + config.String() + `"last":1}`, "experiment.log": strings.Repeat(strings.Repeat("<", 500)+"\n", 1000)}))
	runs := make([]*Run, maxRuns)
	for i := range runs {
		runs[i] = r
	}
	for _, n := range []int{1, maxRuns} {
		if size := len(html(t, runs[:n]...)); size > 1<<20 {
			t.Errorf("the page of %d runs has %d bytes", n, size)
		}
	}
	if _, err := HTML(append(runs, r)...); err == nil {
		t.Error("a page of too many runs")
	}
}

func TestWrite(t *testing.T) {
	dir := folder(t, "written", whole(1.5), nil)
	if err := os.WriteFile(filepath.Join(dir, "report.html"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || string(got) != html(t, read(t, dir)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".report-*")); left != nil {
		t.Errorf("left are %v", left)
	}
	if err := Write(t.TempDir()); err == nil {
		t.Error("a folder without a run has a report")
	}
}
