package rt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// atCores runs a test with 1, 2 and 8 goroutines at a time.
func atCores(t *testing.T, test func(t *testing.T)) {
	for _, n := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", n), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			test(t)
		})
	}
}

// ramp writes numbers that depend on their place and a seed.
func ramp(x []float32, seed int) {
	for i := range x {
		x[i] = float32((i*7 + seed) % 1021)
	}
}

// everySource returns small and large weights of every kind: stored, computed on first use, read on
// first use, transposed, and converted.
func everySource(t *testing.T) *Weights {
	w := everyKind()
	for i, name := range []string{"there", "turned", "narrowed"} {
		x := make([]float32, 1500*1001)
		ramp(x, i)
		Add(w, name, x, 1500, 1001)
	}
	for i := range 5 {
		AddMade(w, fmt.Sprint("made ", i), func(dst []float32) error { ramp(dst, i); return nil }, 300+100*i, 1000)
	}
	AddMade(w, "made bool", func(dst []bool) error { clear(dst); dst[1] = true; return nil }, 3)
	w.AddFunc("read", "u16", []int{3}, func() ([]byte, error) { return []byte{1, 2, 3, 4, 5, 6}, nil })
	if err := errors.Join(w.Transpose("turned"), w.Convert(map[string]string{"narrowed": "bf16"}), w.Err()); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWriteFile compares what several goroutines write with what one does.
func TestWriteFile(t *testing.T) {
	want := encodeWeights(t, everySource(t))
	if w := ParseWeights(want); w.Verify() != nil || WeightsOf[float32](w, "made 4", 700, 1000)[8] != 60 {
		t.Fatal(w.Err(), w.Verify())
	}
	atCores(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "w.safetensors")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := everySource(t).WriteFile(f)
		if err := errors.Join(err, f.Close()); err != nil || n != int64(len(want)) {
			t.Errorf("%d bytes, want %d: %v", n, len(want), err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("not what WriteTo writes: %v", err)
		}
	})
}

// TestChecksumsOfTensors compares them with the checksums of the tensors' bytes.
func TestChecksumsOfTensors(t *testing.T) {
	w := everySource(t)
	atCores(t, func(t *testing.T) {
		sums, err := w.Checksums(w.Names()...)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range w.Names() {
			if want := Checksums(w.RawOnce(name)); !slices.Equal(sums[name], want) {
				t.Errorf("%q: %x, want %x", name, sums[name], want)
			}
		}
	})
	if _, err := w.Checksums("none"); err == nil {
		t.Error("a tensor that is not there")
	}
}

// TestErrorsOfWriteFile writes several tensors that cannot be computed. The error of the first
// tensor is reported, whichever fails first.
func TestErrorsOfWriteFile(t *testing.T) {
	const bad = 4
	atCores(t, func(t *testing.T) {
		w := NewWeights()
		for i := range 12 {
			AddMade(w, fmt.Sprintf("w%02d", i), func(dst []float32) error {
				if i < bad {
					return nil
				}
				time.Sleep(time.Duration(12-i) * time.Millisecond) // later ones end earlier
				if i%2 == 1 {
					panic("out of order")
				}
				return fmt.Errorf("tensor %d is bad", i)
			}, 16)
		}
		for range 5 {
			_, err := w.WriteFile(discard{})
			if want := `weights: "w04": tensor 4 is bad`; err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
	t.Run("a panic", func(t *testing.T) {
		w := NewWeights()
		AddMade(w, "w", func([]float32) error { panic("no") }, 1)
		if _, err := w.WriteFile(discard{}); err == nil || !strings.Contains(err.Error(), "panic: no") {
			t.Error(err)
		}
	})
	t.Run("of the file", func(t *testing.T) {
		if _, err := everySource(t).WriteFile(full{}); !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
	})
	t.Run("a file stays as it is", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "w.safetensors")
		if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		w := everySource(t)
		AddMade(w, "bad", func([]float32) error { return errors.New("bad") }, 1)
		if w.Save(path) == nil {
			t.Error("saved")
		}
		if got, _ := os.ReadFile(path); string(got) != "old" {
			t.Errorf("%d bytes", len(got))
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Error(left)
		}
	})
	t.Run("elements without a size", func(t *testing.T) {
		w := NewWeights()
		AddMade(w, "w", func([]float32) error { return nil }, math.MaxInt, math.MaxInt)
		if w.Err() == nil || len(w.Names()) != 0 {
			t.Error(w.Err(), w.Names())
		}
	})
}

// discard takes everything.
type discard struct{}

func (discard) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// full has room for the first bytes only.
type full struct{}

func (full) WriteAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > 1<<20 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// TestBytesMadeAtATime counts the bytes of tensors that are computed and not yet written. They stay
// within the limit, except for a single larger tensor.
func TestBytesMadeAtATime(t *testing.T) {
	defer func(old int64) { sweptBytes = old }(sweptBytes)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for limit, want := range map[int64]int64{1 << 20: 1 << 20, 3 << 20: 3 << 20, 1: 1 << 20} {
		sweptBytes = limit
		var making, most atomic.Int64
		var mu sync.Mutex
		rooms := map[*float32]bool{}
		w := NewWeights()
		for i := range 40 {
			AddMade(w, fmt.Sprint(i), func(dst []float32) error {
				mu.Lock()
				rooms[&dst[0]] = true
				most.Store(max(most.Load(), making.Add(1<<20)))
				mu.Unlock()
				time.Sleep(time.Millisecond)
				making.Add(-1 << 20)
				return nil
			}, 1<<18)
		}
		if _, err := w.WriteFile(discard{}); err != nil {
			t.Fatal(err)
		}
		if most.Load() > want || int64(len(rooms)) > want>>20 {
			t.Errorf("limit %d: %d bytes at a time, in %d places", limit, most.Load(), len(rooms))
		}
	}
}
