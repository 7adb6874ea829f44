package rt

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// halves are what a source's weights become in tests, and how often.
type halves struct {
	times atomic.Int32
	fail  error
}

func (h *halves) prepare(raw *Weights) (*[]float32, error) {
	h.times.Add(1)
	x := WeightsOf[float32](raw, "w", 2)
	if err := errors.Join(raw.Err(), h.fail); err != nil {
		return nil, err
	}
	return &[]float32{x[0] / 2, x[1] / 2}, nil
}

func sourceOf(x ...float32) *Weights {
	w := NewWeights()
	Add(w, "w", x, len(x))
	return w
}

func TestPreparedOnceForManyGoroutines(t *testing.T) {
	h := &halves{}
	p := NewPrepared(sourceOf(2, 4), h.prepare)
	if p.Raw().Err() != nil || h.times.Load() != 0 {
		t.Fatal("prepared before anybody asked")
	}
	var group sync.WaitGroup
	var made [8]*[]float32
	for i := range made {
		group.Go(func() { made[i], _ = p.Get() })
	}
	group.Wait()
	for _, m := range made {
		if m == nil || m != made[0] || (*m)[1] != 2 {
			t.Fatalf("%v, want one slice of 1 and 2", made)
		}
	}
	if n := h.times.Load(); n != 1 {
		t.Errorf("prepared %d times", n)
	}
	if n := testing.AllocsPerRun(10, func() { p.Get() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPreparedBefore(t *testing.T) {
	h := &halves{}
	p := NewPrepared(sourceOf(2, 4), h.prepare)
	before := &[]float32{1, 2}
	p.Set(before)
	if got, err := p.Get(); got != before || err != nil || h.times.Load() != 0 {
		t.Errorf("%v, %v, prepared %d times", got, err, h.times.Load())
	}
	p.Set(nil)
	if got, err := p.Get(); got == before || err != nil || h.times.Load() != 1 {
		t.Errorf("%v, %v, prepared %d times without any", got, err, h.times.Load())
	}
}

func TestPreparedReplaces(t *testing.T) {
	old, next := &halves{}, &halves{}
	a, b := NewPrepared(sourceOf(2, 4), old.prepare), NewPrepared(sourceOf(6, 8), next.prepare)
	if err := b.Replace(a); err != nil || next.times.Load() != 0 {
		t.Fatalf("in the place of what nobody used: prepared %d times, %v", next.times.Load(), err)
	}
	if _, err := a.Get(); err != nil {
		t.Fatal(err)
	}
	if err := b.Replace(a); err != nil || next.times.Load() != 1 {
		t.Fatalf("in the place of what is in use: prepared %d times, %v", next.times.Load(), err)
	}
	if x, err := b.Get(); err != nil || (*x)[0] != 3 {
		t.Errorf("%v, %v", x, err)
	}
	bad := NewPrepared(sourceOf(1), next.prepare)
	if err := bad.Replace(a); err == nil || !strings.Contains(err.Error(), `"w": f32[2] expected, file has f32[1]`) {
		t.Errorf("weights that do not fit: %v", err)
	}
}

func TestPreparedTriesAgainAfterAnError(t *testing.T) {
	h := &halves{fail: errors.New("no memory")}
	p := NewPrepared(sourceOf(2, 4), h.prepare)
	for range 2 {
		if _, err := p.Get(); err == nil || err.Error() != "no memory" {
			t.Fatal(err)
		}
	}
	h.fail = nil
	if x, err := p.Get(); err != nil || (*x)[0] != 1 {
		t.Errorf("%v, %v", x, err)
	}
	broken := sourceOf(2, 4)
	Add(broken, "w", []float32{1}, 1)
	if _, err := NewPrepared(broken, h.prepare).Get(); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("an error of the weights: %v", err)
	}
	if err := p.Raw().Err(); err != nil {
		t.Errorf("preparing left an error with the weights: %v", err)
	}
}

func TestPreparedReturnsPanics(t *testing.T) {
	fails := true
	p := NewPrepared(NewWeights(), func(*Weights) (*int, error) {
		if fails {
			panic("no")
		}
		return new(int), nil
	})
	_, err := p.Get()
	wantError(t, err, "weights: panic: no")
	fails = false
	if x, err := p.Get(); x == nil || err != nil {
		t.Errorf("%v, %v after a panic", x, err)
	}
}
