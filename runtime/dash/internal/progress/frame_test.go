package progress

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

func TestTheTimeThatIsLeft(t *testing.T) {
	// A batch takes 0.1 s. After 4 of 10 batches 6 and two epochs of 10 are left; validation was not seen.
	if got := frameOf(started(), batch(learn.Train, 0, 3, 4, 1)).Left; got.Round(time.Millisecond) != 2600*time.Millisecond {
		t.Errorf("first epoch: %v", got)
	}
	// After the first of two batches of validation, one is left, and two whole epochs with 12 batches each.
	if got := frameOf(started(), batch(learn.Train, 0, 9, 10, 1), batch(learn.Valid, 0, 0, 10, 1)).Left; got.Round(time.Millisecond) != 2500*time.Millisecond {
		t.Errorf("validation: %v", got)
	}
	e := started()
	e.Epochs, e.Steps = 0, 8 // two batches are a step
	if got := frameOf(e, batch(learn.Train, 0, 0, 0, 1), batch(learn.Train, 0, 1, 1, 1)).Left; got.Round(time.Millisecond) != 1400*time.Millisecond {
		t.Errorf("steps: %v", got)
	}
	e.Steps = 0
	if got := frameOf(e, batch(learn.Train, 0, 0, 1, 1)).Left; got >= 0 {
		t.Errorf("no limit: %v", got)
	}
	if got := frameOf(started(), batch(learn.Train, 0, 0, 1, 1), learn.Stopped{}).Left; got >= 0 {
		t.Errorf("stopped: %v", got)
	}
}

func TestSpeedAndWaiting(t *testing.T) {
	f := frameOf(started(), batch(learn.Train, 0, 0, 1, 1), batch(learn.Train, 0, 1, 2, 1))
	if math.Abs(f.Speed-100) > 1e-9 || math.Abs(f.Waiting-0.25) > 1e-9 {
		t.Errorf("%v items/s, %v waiting", f.Speed, f.Waiting)
	}
	if done, ok := f.Fraction(); !ok || done != 0.2 {
		t.Errorf("%v done", done)
	}
}

func TestTabs(t *testing.T) {
	s := batch(learn.Train, 0, 0, 1, 3)
	s.Rate, s.GradNorm = 1e-4, 2
	s.Values = []learn.Value{{Name: "not listed", Value: 1}}
	e := started()
	e.Metrics = append(e.Metrics, learn.Series{Name: "no curve"})
	e.System = []learn.Series{{Name: "memory", Unit: "MB", Curve: true}, {Name: "disk", Unit: "GB"}}
	f := frameOf(e, s, learn.Measured{Split: learn.System, Values: []learn.Value{{Name: "memory", Value: 212}, {Name: "disk", Value: 9}}})
	var names []string
	for _, tab := range f.Tabs {
		names = append(names, tab.Name)
	}
	if got := strings.Join(names, ", "); got != "loss, accuracy, not listed, rate, grad norm, memory" {
		t.Errorf("tabs: %s", got)
	}
	if got := strings.Join(f.Readings(), ", "); got != "rate 1.0e-4, grad norm 2.000, memory 212.0 MB, disk 9.000 GB, data wait 25 %" {
		t.Errorf("readings: %s", got)
	}
}

func TestSince(t *testing.T) {
	r := New()
	r.Event(started())
	var c Cursor
	if got := r.Since(&c); len(got) != 0 {
		t.Errorf("no points: %v", got)
	}
	for i := range 3 {
		r.Event(batch(learn.Train, 0, i, i+1, 1))
	}
	if got := r.Since(&c); len(got) != 1 || !got[0].Whole || len(got[0].Points) != 3 {
		t.Errorf("at first: %v", got)
	}
	if got := r.Since(&c); len(got) != 0 {
		t.Errorf("nothing is new: %v", got)
	}
	r.Event(batch(learn.Train, 0, 3, 4, 9))
	if got := r.Since(&c); len(got) != 1 || got[0].Whole || len(got[0].Points) != 1 || got[0].Points[0].Mean != 9 {
		t.Errorf("one is new: %v", got)
	}
	for i := range 5 * maxRecent { // more than are kept one by one
		r.Event(batch(learn.Train, 0, i+4, i+5, 1))
	}
	if got := r.Since(&c); len(got) != 1 || !got[0].Whole {
		t.Errorf("many are new: %v", got)
	}
	r.Reset()
	r.Event(started())
	r.Event(batch(learn.Train, 0, 0, 1, 1))
	if got := r.Since(&c); len(got) != 1 || !got[0].Whole || len(got[0].Points) != 1 {
		t.Errorf("another run: %v", got)
	}
}
