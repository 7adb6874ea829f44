package learn

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// drawn is a counter with a picture, which is as wide as the number of outputs.
type drawn struct {
	n      int64
	panics bool
}

func (d *drawn) Add(metric.Values) { d.n++ }
func (d *drawn) Value() float64    { return float64(d.n) }
func (d *drawn) State(s *rt.State) { rt.StateScalar(s, "n", &d.n) }
func (d *drawn) Picture() image.Image {
	if d.panics {
		panic("no ink")
	}
	return image.NewGray(image.Rect(0, 0, int(d.n), 1))
}

func TestPictures(t *testing.T) {
	for _, panics := range []bool{false, true} {
		dir := t.TempDir()
		r := newRig(t, dir, func(o *Options) { o.Epochs, o.Stop = 1, nil })
		m := metric.Metric[metric.Values]{Name: "count", New: func() metric.Counter[metric.Values] { return &drawn{panics: panics} }}
		l, err := New(r.toy, r.toy.task(), r.learner.o, m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Fit(t.Context(), loaded(50, 8, true), loaded(12, 8, false)); err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, e := range eventsOf(t, dir) {
			switch e := e.(type) {
			case Measured:
				text += e.Values[1].Picture + " "
			case Warned:
				text += e.Message
			}
		}
		if panics {
			if strings.Count(text, "picture of count: picture: panic: no ink") != 2 {
				t.Error(text)
			}
			continue
		}
		if text != "pictures/train-Count-epoch-1.png pictures/valid-Count-epoch-1.png " {
			t.Error(text)
		}
		f, err := os.Open(filepath.Join(dir, "pictures", "train-Count-epoch-1.png"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if p, err := png.Decode(f); err != nil || p.Bounds().Dx() != 7 {
			t.Errorf("%v, %v", p, err)
		}
	}
}
