package progress

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

var at = time.Date(2026, 1, 2, 14, 2, 11, 0, time.UTC)

func started() learn.Started {
	return learn.Started{Time: at, Run: "mnist", Epochs: 3, Batches: 10, Items: 100, Valid: 2, Parameters: 33000,
		Metrics: []learn.Series{{Name: "loss", Better: -1, Curve: true}, {Name: "accuracy", Unit: "%", Better: 1, Curve: true}}}
}

func batch(split learn.Split, epoch, batch, step int, loss float64) learn.Stepped {
	return learn.Stepped{Time: at, Split: split, Epoch: epoch, Batch: batch, Step: step, Items: 10, Loss: learn.Number(loss),
		Waited: 25 * time.Millisecond, Took: 75 * time.Millisecond}
}

func measured(split learn.Split, epoch, step int, loss, accuracy float64) learn.Measured {
	return learn.Measured{Time: at, Split: split, Epoch: epoch, Step: step,
		Values: []learn.Value{{Name: "loss", Value: learn.Number(loss)}, {Name: "accuracy", Value: learn.Number(accuracy)}}}
}

func frameOf(events ...learn.Event) *Frame {
	r := New()
	for _, e := range events {
		r.Event(e)
	}
	return r.Frame(Tab{}, 100)
}

func TestBestValues(t *testing.T) {
	f := frameOf(started(), measured(learn.Train, 0, 10, 0.1, 99), measured(learn.Valid, 0, 10, 0.5, 80), measured(learn.Valid, 1, 20, 0.4, 70), measured(learn.Valid, 2, 30, math.NaN(), 75))
	if f.Rows[0].BestText() != "0.4000 e2" || f.Rows[1].BestText() != "80.0 % e1" {
		t.Errorf("%q, %q", f.Rows[0].BestText(), f.Rows[1].BestText())
	}
	// A run that was not seen from its start on may have had better values. It says itself what is the best.
	e := started()
	e.Step = 10
	f = frameOf(e, measured(learn.Valid, 1, 20, 0.4, 70), learn.Improved{Epoch: 1, Step: 20, Key: "valid loss", Value: 0.4})
	if f.Rows[0].BestText() != "0.4000 e2" || f.Rows[1].HasBest {
		t.Errorf("%q, %v", f.Rows[0].BestText(), f.Rows[1].HasBest)
	}
}

func TestARunThatIsContinuedHasNoDoublePoints(t *testing.T) {
	r := New()
	r.Event(started())
	for i := range 20 {
		r.Event(batch(learn.Train, i/10, i%10, i+1, 1))
	}
	e := started()
	e.Epoch, e.Step = 1, 10
	before := r.Frame(Tab{}, 0).Generation
	r.Event(e)
	for i := 10; i < 15; i++ {
		r.Event(batch(learn.Train, i/10, i%10, i+1, 2))
	}
	f := r.Frame(Tab{}, 0)
	for _, points := range [][]Point{f.Curves[0].Full, f.Curves[0].Recent} {
		if len(points) != 15 || points[9].Mean != 1 || points[10] != (Point{11, 2, 2, 2}) {
			t.Errorf("%v", points)
		}
	}
	if f.Generation == before {
		t.Error("points are gone, but the generation is the same")
	}
}

func TestValuesOfEpochsAreLeftOutOfCurvesOfSteps(t *testing.T) {
	f := frameOf(started(), batch(learn.Train, 0, 0, 1, 3), measured(learn.Train, 0, 1, 7, 50), measured(learn.Valid, 0, 1, 5, 50))
	if n := len(f.Curves); n != 2 {
		t.Fatalf("%d curves", n)
	}
	if p := f.Curves[0].Full; len(p) != 1 || p[0].Mean != 3 {
		t.Errorf("training: %v", p)
	}
	if p := f.Curves[1].Full; len(p) != 1 || p[0].Mean != 5 {
		t.Errorf("validation: %v", p)
	}
	if f.Rows[0].Text(learn.Train) != "7.000" {
		t.Errorf("loss of the epoch: %q", f.Rows[0].Text(learn.Train))
	}
}

// TestMemoryIsBounded gives a run what a long training with many names gives it.
func TestMemoryIsBounded(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	r := New()
	r.Event(started())
	before := heap()
	long := strings.Repeat("x", 10000)
	for i := range 1_000_000 {
		r.Event(batch(learn.Train, 0, i, i+1, float64(i)))
		if i%200 == 0 {
			r.Event(learn.Warned{Message: long})
			r.Event(measured(learn.Valid, i, i, 1, 2))
			r.Print(long)
		}
	}
	for i := range 1000 {
		r.Event(learn.Measured{Split: learn.Valid, Values: []learn.Value{{Name: fmt.Sprint(long, i)}, {Name: fmt.Sprint(i)}}})
		r.Event(learn.Stepped{Split: learn.Split(fmt.Sprint(i))})
	}
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("%d bytes", grown)
	}
	f := r.Frame(Tab{}, 1<<30)
	if len(f.Log) != maxLines || len(f.Rows) != maxSeries {
		t.Errorf("%d lines, %d rows", len(f.Log), len(f.Rows))
	}
	if c := f.Curves[0]; len(c.Full) > maxFull || len(c.Recent) != maxRecent {
		t.Errorf("%d points, %d recent", len(c.Full), len(c.Recent))
	}
	runtime.KeepAlive(r)
}
