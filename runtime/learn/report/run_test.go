package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

func TestRead(t *testing.T) {
	r := read(t, folder(t, "mnist", whole(1.5), files(t, "0.1")))
	if r.Name != "mnist" || r.Epochs != 3 || r.Steps != 12 || r.Items != 120 || r.Status() != "3 epochs are done" {
		t.Errorf("got %+v", r)
	}
	want := Times{108 * time.Millisecond, 12 * time.Millisecond, 6 * time.Millisecond, 200 * time.Millisecond}
	if r.Times != want || r.Times.Rest() != 74*time.Millisecond {
		t.Errorf("got times %v", r.Times)
	}
	var keys []string
	for _, o := range r.Results {
		keys = append(keys, o.Key)
	}
	if got := strings.Join(keys, ", "); got != "train loss, train accuracy, valid loss, valid accuracy" {
		t.Errorf("got results %s", got)
	}
	a := r.Result("valid accuracy")
	if a.Last != 55 || a.Best != 60 || a.Epoch != 1 || a.Series.Unit != "%" || a.Text != "of 10" || len(a.Curve.Points) != 3 {
		t.Errorf("got %+v", a)
	}
	if l := r.Result("train loss"); len(l.Recent.Points) != 12 || l.Best != l.Last {
		t.Errorf("got %+v", l)
	}
	wantConfig := []Setting{{"empty", "{}"}, {"layers.0.size", "8"}, {"layers.1.size", "big"}, {"rate", "0.1"}}
	if fmt.Sprint(r.Config) != fmt.Sprint(wantConfig) || r.Environment[0].Value != "12345678901234567890" {
		t.Errorf("got %v, %v", r.Config, r.Environment)
	}
	if len(r.Pictures) != 1 || r.Pictures[0].Key != "valid accuracy" || fmt.Sprint(r.Log) != "[one two <b>]" {
		t.Errorf("got %v, %v", r.Pictures, r.Log)
	}
}

func TestContinuedRunsHaveNoDoubleParts(t *testing.T) {
	events := []learn.Event{started(0)}
	events = append(events, epoch(0, 1.5)...)
	events = append(events, epoch(1, 1.5)...)
	again := started(4) // epoch 1 was lost
	again.Time = began.Add(time.Hour)
	events = append(append(events, again), epoch(1, 1.2)...)
	r := read(t, folder(t, "cut", events, nil))
	for _, o := range r.Results {
		for _, c := range []*Curve{o.Curve, o.Recent} {
			for i := 1; i < len(c.Points); i++ {
				if c.Points[i].Step <= c.Points[i-1].Step {
					t.Errorf("%s: step %d follows step %d", o.Key, c.Points[i].Step, c.Points[i-1].Step)
				}
			}
		}
	}
	if a := r.Result("valid loss"); a.Last != 1.1*(2/math.Pow(1.2, 8)) || a.Best != 1.1*(2/math.Pow(1.5, 4)) || a.Epoch != 0 {
		t.Errorf("got %+v", a)
	}
	if !r.Started.Time.Equal(began) || r.Steps != 8 || r.Status() != "has not ended" {
		t.Errorf("got %+v", r)
	}
}

func TestFoldersThatAreNoRuns(t *testing.T) {
	for name, want := range map[string]string{"": "no events.jsonl", "rubbish\n": "does not say that a run started"} {
		dir := t.TempDir()
		if name != "" {
			if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(name), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that does not exist was read")
	}
}

func TestFilesOutsideOfTheFolder(t *testing.T) {
	events := append([]learn.Event{started(0)}, epoch(0, 2)...)
	dir := folder(t, "links", events, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"secret": 1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "config.json")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "experiment.log")); err != nil {
		t.Fatal(err)
	}
	r := read(t, dir)
	if len(r.Config) > 0 || len(r.Log) > 0 || len(r.Notes) != 3 { // the picture does not exist
		t.Errorf("got %v, %v, %q", r.Config, r.Log, r.Notes)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{}\n"), []byte("{}"))
	var lines []byte
	for _, e := range whole(2) {
		lines, _ = learn.AppendEvent(lines, e)
	}
	f.Add(lines, []byte(`[1,{"a":2}]`))
	f.Fuzz(func(t *testing.T, events, config []byte) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{"events.jsonl": events, "config.json": config} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Read(dir)
		if err != nil {
			return
		}
		page, err := HTML(r)
		if err != nil || bytes.Contains(page, []byte("ZgotmplZ")) || bytes.Contains(page, []byte("NaN ")) && bytes.Contains(page, []byte("<path")) && bytes.Contains(page, []byte("MNaN")) {
			t.Errorf("%v", err)
		}
	})
}

// BenchmarkPage reads a run of 10⁶ steps, and makes the page about it.
func BenchmarkPage(b *testing.B) {
	const steps = 1_000_000
	dir := folder(b, "long", []learn.Event{started(0)}, nil)
	f, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	var line []byte
	for step := range steps {
		e := learn.Stepped{Time: began, Split: learn.Train, Step: step + 1, Loss: learn.Number(2 + math.Sin(float64(step)/1000)), Rate: 1e-3, Items: 64,
			Waited: 1000, Took: 2000, Values: []learn.Value{{Name: "accuracy", Value: learn.Number(step % 1000)}}}
		if line, err = learn.AppendEvent(line[:0], e); err != nil {
			b.Fatal(err)
		}
		w.Write(line)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	size := 0
	for b.Loop() {
		size = len(html(b, read(b, dir)))
	}
	if size > 1<<20 {
		b.Errorf("the page has %d bytes", size)
	}
	b.ReportMetric(float64(size), "bytes/page")
}
