package rt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

func TestOpenWeightsFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none"), "weights: "},
		{"a folder", dir, "not a regular file"},
		{"a device", os.DevNull, "not a regular file"},
		{"empty", write("empty", nil), "8 needed"},
		{"not safetensors", write("text", []byte("hello, this is text")), "safetensors: header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := OpenWeightsFile(tt.path)
			if err := w.Err(); err == nil || !strings.HasPrefix(err.Error(), "weights: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
			if x := WeightsOf[float32](w, "x"); x != nil {
				t.Error(x)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenWeightsFS(t *testing.T) {
	files := fstest.MapFS{"w": {Data: encodeWeights(t, everyKind())}, "text": {Data: []byte("hello, this is text")}}
	checkEveryKind(t, OpenWeightsFS(files, "w"))
	wantError(t, OpenWeightsFS(files, "none").Err(), "weights: open none: file does not exist")
	wantError(t, OpenWeightsFS(files, "text").Err(), "weights: text: safetensors: header of 8367736964726416744 bytes: limit is 100000000")
}

func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	source := NewWeights()
	values := make([]float32, 1024)
	Uniform(values, -1, 1, 1)
	Add(source, "x", values, 1024)
	if err := source.Save(path); err != nil {
		t.Fatal(err)
	}
	type model struct{ x []float32 }
	load := func(w *Weights) *model {
		m := &model{}
		Keep(m, w)
		m.x = WeightsOf[float32](w, "x", 1024)
		return m
	}
	// open counts how often the memory is given back.
	open := func() (*Weights, *counter) {
		w := OpenWeightsFile(path)
		c := &counter{}
		if w.unmap == nil {
			w.unmap = func() error { return nil }
		}
		unmap := w.unmap
		w.mapped(func() error { c.add(); return unmap() })
		return w, c
	}
	t.Run("gives the memory back once", func(t *testing.T) {
		w, unmapped := open()
		for range 3 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := unmapped.get(); n != 1 {
			t.Errorf("given back %d times", n)
		}
	})
	t.Run("reading afterwards is an error", func(t *testing.T) {
		w, _ := open()
		w.Close()
		for name, use := range map[string]func(w *Weights) error{
			"WeightsOf": func(w *Weights) error { WeightsOf[float32](w, "x", 1024); return w.Err() },
			"Keep":      func(w *Weights) error { Keep(new(model), w); return w.Err() },
			"Verify":    func(w *Weights) error { return w.Verify() },
			"WriteTo":   func(w *Weights) error { _, err := w.WriteTo(&bytes.Buffer{}); return err },
			"Save":      func(w *Weights) error { return w.Save(path + "2") },
		} {
			if err := use(w.Fork()); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if w.Raw("x") != nil {
			t.Error("raw bytes of closed weights")
		}
	})
	t.Run("the last owner gives the memory back", func(t *testing.T) {
		w, unmapped := open()
		a, b := load(w), load(w.Fork())
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(a.x, values) {
			t.Error("wrong values after Close")
		}
		runtime.KeepAlive(a)
		collect(func() bool { return w.refs.Load() == 1 })
		if unmapped.get() != 0 {
			t.Error("given back while an owner is left")
		}
		if !slices.Equal(b.x, values) {
			t.Error("wrong values after an owner has gone")
		}
		runtime.KeepAlive(b)
		if !collect(func() bool { return unmapped.get() == 1 }) {
			t.Errorf("given back %d times", unmapped.get())
		}
	})
	t.Run("owners alone do not give it back", func(t *testing.T) {
		w, unmapped := open()
		load(w)
		collect(func() bool { return w.refs.Load() == 1 })
		if unmapped.get() != 0 {
			t.Error("given back before Close")
		}
		w.Close()
		if unmapped.get() != 1 {
			t.Error("not given back by Close")
		}
	})
	t.Run("abandoned, it is given back with its last owner", func(t *testing.T) {
		w, unmapped := open()
		renamed, err := w.Renamed(map[string]string{"x": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		renamed.Abandon()
		a := load(renamed)
		runtime.GC()
		if !slices.Equal(a.x, values) || unmapped.get() != 0 {
			t.Error("given back while an owner is left")
		}
		runtime.KeepAlive(a)
		if !collect(func() bool { return unmapped.get() == 1 }) {
			t.Errorf("given back %d times", unmapped.get())
		}
	})
	t.Run("closed and then abandoned, it is given back once", func(t *testing.T) {
		w, unmapped := open()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.Abandon()
		w = nil
		given := make(chan bool)
		runtime.AddCleanup(new([64]byte), func(done chan bool) { close(done) }, given)
		if !collect(func() bool {
			select {
			case <-given:
				return true
			default:
				return false
			}
		}) {
			t.Fatal("nothing is collected")
		}
		runtime.GC()
		if n := unmapped.get(); n != 1 {
			t.Errorf("given back %d times", n)
		}
	})
	t.Run("shared, it stays as long as it is used", func(t *testing.T) {
		w, unmapped := open()
		other := NewWeights()
		other.Share(w, "x")
		w.Close()
		a := load(other)
		if !slices.Equal(a.x, values) || other.Err() != nil || unmapped.get() != 0 {
			t.Error("not there any more", other.Err())
		}
		runtime.KeepAlive(a)
		if !collect(func() bool { return unmapped.get() == 1 }) {
			t.Errorf("given back %d times", unmapped.get())
		}
		other = NewWeights()
		other.Share(w, "x", "y")
		wantError(t, other.Err(), "weights: \"y\": no such tensor\nweights: weights are closed")
	})
}

// collect collects garbage until done, at most for a while, and reports whether
// it is done.
func collect(done func() bool) bool {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
		if done() {
			return true
		}
	}
	return false
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *counter) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
