package report

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// folder makes the folder of a run from events and other files.
func folder(t testing.TB, name string, events []learn.Event, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	var lines []byte
	for _, e := range events {
		var err error
		if lines, err = learn.AppendEvent(lines, e); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{"events.jsonl": string(lines)}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func started(step int) learn.Started {
	return learn.Started{Time: began, Run: "mnist", Step: step, Epoch: step / 4, Epochs: 3, Batches: 4, Items: 40, Parameters: 33,
		Metrics: []learn.Series{{Name: "loss", Better: -1, Curve: true}, {Name: "accuracy", Unit: "%", Better: 1, Curve: true}}}
}

// epoch returns the events of an epoch of four steps. Each loss is the one before divided by ratio.
func epoch(n int, ratio float64) []learn.Event {
	var out []learn.Event
	loss := func(step int) float64 { return 2 / math.Pow(ratio, float64(step)) }
	for k := range 4 {
		step := 4*n + k + 1
		out = append(out, learn.Stepped{Time: began, Split: learn.Train, Epoch: n, Batch: k, Step: step, Items: 10, Loss: learn.Number(loss(step)),
			Rate: 1e-3, Waited: time.Millisecond, Took: 9 * time.Millisecond, Values: []learn.Value{{Name: "accuracy", Value: learn.Number(50 + step)}}})
	}
	last := 4*n + 4
	return append(out,
		learn.Measured{Time: began, Split: learn.Train, Epoch: n, Step: last, Items: 40, Values: []learn.Value{{Name: "loss", Value: learn.Number(loss(last))}}},
		learn.Stepped{Time: began, Split: learn.Valid, Epoch: n, Step: last, Items: 10, Took: 2 * time.Millisecond, Loss: 1},
		learn.Measured{Time: began, Split: learn.Valid, Epoch: n, Step: last, Items: 10, Values: []learn.Value{
			{Name: "loss", Value: learn.Number(1.1 * loss(last))}, {Name: "accuracy", Value: learn.Number(60 - 5*math.Abs(float64(n-1))), Text: "of 10", Picture: "pictures/confusion.png"}}},
		learn.EpochEnded{Time: began, Epoch: n, Step: last})
}

func stopped(step int) learn.Stopped {
	return learn.Stopped{Time: began, Epoch: step/4 - 1, Step: step, Reason: "3 epochs are done", Done: true, Took: 200 * time.Millisecond}
}

func whole(ratio float64) []learn.Event {
	out := []learn.Event{started(0)}
	for n := range 3 {
		out = append(out, epoch(n, ratio)...)
	}
	return append(out, learn.Warned{Time: began, Message: "item 4711 was <skipped>"}, stopped(12))
}

func picture(t testing.TB) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func files(t testing.TB, rate string) map[string]string {
	return map[string]string{
		"config.json":            `{"rate": ` + rate + `, "layers": [{"size": 8}, {"size": "big"}], "empty": {}}`,
		"environment.json":       `{"seed": 12345678901234567890}`,
		"experiment.log":         "one\ntwo <b>\n",
		"pictures/confusion.png": picture(t),
	}
}

func read(t testing.TB, dir string) *Run {
	t.Helper()
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
