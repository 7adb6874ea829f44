package gpu

import (
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// measured calls a schedule with a step of the host between two launches, and ends each step with a lap.
func measured(r *Run, w *Watch, arena []byte, weights *nothing, x, y []float32) (err error) {
	if err := Begin(r, nil, arena, weights, In(x), Out(y)); err != nil {
		return err
	}
	defer r.End(&err)
	middle := unsafe.Slice((*float32)(unsafe.Pointer(&arena[0])), len(x))
	r.Launch(double, 1, 1, 1, Int(len(x)), In(x), Out(middle))
	w.Lap(4)
	if err := r.Fetch(In(middle)); err != nil {
		return err
	}
	time.Sleep(time.Millisecond)
	r.Send(Out(middle))
	w.Lap(5)
	r.Launch(double, 1, 1, 1, Int(len(x)), In(middle), Out(y))
	w.Lap(6)
	return nil
}

// TestWatch measures a call with a step of the host. Each piece of work of the fake takes a millisecond.
func TestWatch(t *testing.T) {
	w := &Watch{}
	_, r := opened(t, Watched(w))
	arena, weights := make([]byte, 256), &nothing{}
	x, y := []float32{1, 2, 3}, make([]float32, 3)
	for range 3 {
		w.Begin(true)
		if err := measured(r, w, arena, weights, x, y); err != nil {
			t.Fatal(err)
		}
		events, err := w.End()
		if err != nil {
			t.Fatal(err)
		}
		if want := []float32{4, 8, 12}; !slices.Equal(y, want) {
			t.Errorf("%v, want %v", y, want)
		}
		for i := range events {
			if e := &events[i]; e.Work == Hosted {
				if e.Time < time.Millisecond {
					t.Errorf("the host took %v", e.Time)
				}
				e.Time = 0
			}
		}
		want := []Event{
			{Uploaded, "", 12, 4, time.Millisecond},
			{Launched, "double", 0, 4, time.Millisecond},
			{Downloaded, "", 12, 5, time.Millisecond},
			{Uploaded, "", 12, 5, time.Millisecond},
			{Hosted, "", 0, 5, 0},
			{Launched, "double", 0, 6, time.Millisecond},
			{Downloaded, "", 12, -1, time.Millisecond},
		}
		if !slices.Equal(events, want) {
			t.Errorf("events\n%v, want\n%v", events, want)
		}
	}
	if err := measured(r, w, arena, weights, x, y); err != nil {
		t.Fatal(err)
	}
	if _, err := w.clock.Stamps(); err != nil || len(w.events) != 7 {
		t.Error("a call is measured after the end")
	}
}

// TestWatchReplays measures a recording as a whole, or its launches without it.
func TestWatchReplays(t *testing.T) {
	w := &Watch{}
	f, r := opened(t, Watched(w))
	arena, weights, x := make([]byte, 256), &nothing{}, []float32{1, 2, 3}
	if _, replayed := doubled(t, r, arena, weights, x); replayed {
		t.Error("nothing is recorded")
	}
	w.Begin(false)
	y, replayed := doubled(t, r, arena, weights, x)
	if events, err := w.End(); err != nil || !replayed || !slices.Equal(events, []Event{{Replayed, "", 0, -1, time.Millisecond}}) {
		t.Errorf("replayed %v: events %v, %v", replayed, events, err)
	}
	if !slices.Equal(y, []float32{4, 8, 12}) {
		t.Errorf("the recording gives %v", y)
	}
	w.Begin(true)
	_, replayed = doubled(t, r, arena, weights, x)
	if events, err := w.End(); err != nil || replayed || len(events) != 4 {
		t.Errorf("replayed %v: events %v, %v", replayed, events, err)
	}
	if len(r.recordings) != 1 || f.counts["closed graph"] > 0 {
		t.Errorf("%d recordings", len(r.recordings))
	}
}

// TestWatchKeepsBusy puts copies before launches, which are not measured, and no copies while nothing is measured.
func TestWatchKeepsBusy(t *testing.T) {
	w := &Watch{}
	f, r := opened(t, Watched(w))
	rate, err := w.CopyRate(r.program)
	if want := 2 * float64(maxYardstick) / 1e6; err != nil || rate != want {
		t.Fatalf("rate %v, want %v; error %v", rate, want, err)
	}
	if n := f.pieces(); n != 2 {
		t.Errorf("%d allocations are kept, want 2", n)
	}
	arena, weights, x, y := make([]byte, 256), &nothing{}, make([]float32, 3), make([]float32, 3)
	f.counts["copy"] = 0
	for range 2 { // the first call finds out how long the host takes
		w.Begin(true)
		if err := measured(r, w, arena, weights, x, y); err != nil {
			t.Fatal(err)
		}
		events, err := w.End()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Work == Copied || e.Work != Hosted && e.Time != time.Millisecond {
				t.Errorf("event %+v", e)
			}
		}
	}
	copies := f.counts["copy"]
	if copies < 2 {
		t.Errorf("%d copies, want at least 2", copies)
	}
	if err := measured(r, w, arena, weights, x, y); err != nil || f.counts["copy"] != copies {
		t.Errorf("%d copies more when nothing is measured; error %v", f.counts["copy"]-copies, err)
	}
}

// TestHold bounds the copies that keep a device busy.
func TestHold(t *testing.T) {
	for length, want := range map[time.Duration]int{0: 0, 1: 1, 3 * time.Millisecond: 3, time.Hour: int(maxHold / time.Millisecond)} {
		f := newFake(t)
		d := fakeDevice{f: f}
		to, from, err := pair(d, holdBytes)
		if err != nil {
			t.Fatal(err)
		}
		h := hold{to: to, from: from, copy: time.Millisecond}
		if err := h.put(&fakeQueue{f: f}, length); err != nil || f.counts["copy"] != want {
			t.Errorf("%v: %d copies, want %d; error %v", length, f.counts["copy"], want, err)
		}
	}
}

// TestCopyRateWithLittleMemory copies what there is memory for.
func TestCopyRateWithLittleMemory(t *testing.T) {
	for limit, want := range map[int64]float64{
		60 << 20: 2 * 8 << 20 / 1e6, // besides the two copies that keep the device busy
		20 << 20: 2 * 8 << 20 / 1e6, // without them
		1 << 20:  0,
	} {
		w := &Watch{}
		f, r := opened(t, Watched(w))
		f.limit = limit
		rate, err := w.CopyRate(r.program)
		if rate != want || (want == 0) != errors.Is(err, ErrMemory) {
			t.Errorf("limit %d: rate %v, want %v; error %v", limit, rate, want, err)
		}
	}
}

// TestWatchWithoutClock fails at the end of the measurement. The call does not fail.
func TestWatchWithoutClock(t *testing.T) {
	w := &Watch{}
	f, r := opened(t, Watched(w))
	f.noClock = true
	pieces := f.pieces()
	if _, err := w.CopyRate(r.program); !errors.Is(err, ErrNoClock) {
		t.Error(err)
	}
	if n := f.pieces(); n != pieces {
		t.Errorf("%d allocations after a copy that could not be timed, want %d", n, pieces)
	}
	w.Begin(true)
	if y, _ := doubled(t, r, make([]byte, 256), &nothing{}, []float32{1}); y[0] != 4 {
		t.Errorf("the call gives %v", y)
	}
	if _, err := w.End(); !errors.Is(err, ErrNoClock) {
		t.Error(err)
	}
}
