package rt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

func encodeWeights(t testing.TB, w *Weights) []byte {
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d reported", b.Len(), n)
	}
	return b.Bytes()
}

func TestVerify(t *testing.T) {
	data := encodeWeights(t, everyKind())
	w := ParseWeights(data)
	if err := w.Verify(); err != nil {
		t.Fatal(err)
	}
	if len(w.Digest()) != 64 {
		t.Errorf("digest is %q", w.Digest())
	}
	h, err := safetensors.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a flipped bit anywhere is noticed", func(t *testing.T) {
		padding := len(bytes.TrimRight(data[:h.Data], " "))
		for i := range data {
			if i >= padding && i < int(h.Data) && data[i] == ' ' {
				continue // tabs and the like after the header say the same
			}
			changed := bytes.Clone(data)
			changed[i] ^= 1 << (i % 8)
			if err := ParseWeights(changed).Verify(); err == nil {
				t.Fatalf("no error for bit %d of byte %d: %.60q", i%8, i, changed[max(0, i-20):])
			}
		}
	})
	t.Run("a file without a digest", func(t *testing.T) {
		wantError(t, ParseWeights(foreign(t, nil)).Verify(), "weights: file has no digest to compare with")
	})
	t.Run("a file that is broken", func(t *testing.T) {
		if err := ParseWeights(data[:len(data)-1]).Verify(); err == nil {
			t.Error("no error")
		}
	})
	t.Run("metadata that was changed", func(t *testing.T) {
		w := ParseWeights(data)
		w.SetMetadata("source", "elsewhere")
		if err := w.Verify(); err == nil {
			t.Error("no error")
		}
	})
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.safetensors")
	one := NewWeights()
	Add(one, "x", []float32{1})
	two := NewWeights()
	Add(two, "x", []float32{2})
	for i, w := range []*Weights{one, two} {
		if err := w.Save(path); err != nil {
			t.Fatal(err)
		}
		saved := OpenWeightsFile(path)
		same(t, saved, "x", nil, float32(i+1))
		saved.Close()
	}
	t.Run("an error leaves the file and nothing else", func(t *testing.T) {
		bad := NewWeights()
		Add(bad, "\xff", []float32{1}) // a name that the format cannot hold
		if err := bad.Save(path); err == nil {
			t.Fatal("no error")
		}
		saved := OpenWeightsFile(path)
		defer saved.Close()
		same(t, saved, "x", nil, float32(2))
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("folder holds %v, error %v", entries, err)
		}
	})
	t.Run("no such folder", func(t *testing.T) {
		if err := one.Save(filepath.Join(dir, "none", "x")); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

func TestAddFunc(t *testing.T) {
	calls := 0
	w := NewWeights()
	w.AddFunc("a", "i32", []int{2}, func() ([]byte, error) { calls++; return []byte{1, 0, 0, 0, 2, 0, 0, 0}, nil })
	w.AddFunc("short", "i32", []int{2}, func() ([]byte, error) { return []byte{1}, nil })
	w.AddFunc("damaged", "i32", []int{2}, func() ([]byte, error) { return nil, os.ErrInvalid })
	if info, _ := w.Info("a"); info.Bytes != 8 || calls != 0 {
		t.Error(info, calls)
	}
	for range 2 {
		if got := WeightsOf[int32](w, "a", 2); !slices.Equal(got, []int32{1, 2}) || calls != 1 {
			t.Error(got, calls)
		}
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"short": "is not 1 bytes", "damaged": "invalid"} {
		f := w.Fork()
		if raw := f.Raw(name); raw != nil && f.Err() == nil || !strings.Contains(f.Err().Error(), want) {
			t.Error(f.Err())
		}
		if _, err := w.Fork().WriteTo(&strings.Builder{}); err == nil {
			t.Error("written")
		}
	}
	for want, add := range map[string]func(w *Weights){
		`weights: "x": elements of type "string" have no size`: func(w *Weights) {
			w.AddFunc("x", "string", nil, func() ([]byte, error) { return nil, nil })
		},
		`weights: "x": no function that reads it`: func(w *Weights) { w.AddFunc("x", "i32", nil, nil) },
	} {
		w := NewWeights()
		add(w)
		wantError(t, w.Err(), want)
	}
}
