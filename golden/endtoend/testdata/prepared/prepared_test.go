package model

import (
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

const batch = 8

// counted returns the model of a seed, and how often it has been prepared.
func counted(seed uint64) (*Model, *atomic.Int32) {
	var times atomic.Int32
	return newModel(rt.NewPrepared(New(seed).weights.Load().Raw(), func(raw *rt.Weights) (*weights, error) {
		times.Add(1)
		return prepare(raw)
	})), &times
}

func examples() ([]Image, []int64) {
	x := make([]Image, batch)
	rt.Uniform(rt.Flat[float32](x), -1, 1, 3)
	return x, []int64{0, 1, 2, 3, 0, 1, 2, 3}
}

func output(t *testing.T, m *Model) []Logits {
	x, _ := examples()
	y, err := m.Forward(x)
	if err != nil {
		t.Error(err)
	}
	return y
}

func TestTrainingDoesNotPrepare(t *testing.T) {
	m, times := counted(1)
	tr, err := m.NewTrainer(TrainerOptions{Batch: batch})
	if err != nil {
		t.Fatal(err)
	}
	x, y := examples()
	if _, err := tr.Step(x, y); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Forward(x); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(filepath.Join(t.TempDir(), "w.safetensors")); err != nil {
		t.Fatal(err)
	}
	if n := times.Load(); n != 0 {
		t.Errorf("prepared %d times", n)
	}
	if _, err := m.NewSession(nil); err != nil {
		t.Fatal(err)
	}
	if n := times.Load(); n != 1 {
		t.Errorf("prepared %d times for a session", n)
	}
}

func TestManyGoroutinesPrepareOnce(t *testing.T) {
	m, times := counted(1)
	var group sync.WaitGroup
	results := make([][]Logits, 8)
	for i := range results {
		group.Go(func() { results[i] = output(t, m) })
	}
	group.Wait()
	want := output(t, New(1))
	for _, r := range results {
		if !slices.Equal(r, want) {
			t.Error("goroutines compute something else")
		}
	}
	if n := times.Load(); n != 1 {
		t.Errorf("prepared %d times", n)
	}
}

func TestSwapBeforeAndAfterTheFirstCall(t *testing.T) {
	first, second := output(t, New(1)), output(t, New(2))
	if slices.Equal(first, second) {
		t.Fatal("other weights give the same result")
	}
	m, times := counted(1)
	if err := m.Swap(New(2).weights.Load().Raw()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(output(t, m), second) || times.Load() != 0 {
		t.Errorf("a model swapped before its first call computes with the old weights, or prepared them %d times", times.Load())
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Swap(New(1).weights.Load().Raw()); err != nil {
		t.Fatal(err)
	}
	x, _ := examples()
	dst := make([]Logits, batch)
	if err := s.Forward(dst, x); err != nil || !slices.Equal(dst, first) || !slices.Equal(output(t, m), first) {
		t.Errorf("swapped between two calls, the second computes with the old weights: %v", err)
	}
}

func TestSwapWhileTheFirstCallsPrepare(t *testing.T) {
	first, second := output(t, New(1)), output(t, New(2))
	for range 10 {
		m := New(1)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if r := output(t, m); !slices.Equal(r, first) && !slices.Equal(r, second) {
					t.Error("a result of neither weights")
				}
			})
		}
		if err := m.Swap(New(2).weights.Load().Raw()); err != nil {
			t.Error(err)
		}
		if !slices.Equal(output(t, m), second) {
			t.Error("after Swap: not its weights")
		}
		group.Wait()
	}
}

func TestLoadedWeightsArePreparedAfterTheFileIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := New(2).Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	m, err := LoadFrom(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	if !slices.Equal(output(t, m), output(t, New(2))) {
		t.Error("another result")
	}
}
