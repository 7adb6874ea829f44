package rt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpenWeightsIndex(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a", "b"} {
		w := NewWeights()
		Add(w, name, []float32{float32(i), 2}, 2)
		Add(w, "not listed "+name, []float32{1}, 1)
		if err := w.Save(filepath.Join(dir, name+".safetensors")); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(dir, "model.safetensors.index.json")
	write := func(text string) {
		if err := os.WriteFile(index, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"metadata":{"total_size":16},"weight_map":{"a":"a.safetensors","b":"b.safetensors"}}`)
	w := OpenWeightsIndex(index)
	if got := slices.Concat(WeightsOf[float32](w, "a", 2), WeightsOf[float32](w, "b", 2)); !slices.Equal(got, []float32{0, 2, 1, 2}) {
		t.Error(got)
	}
	if got := w.Names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a tensor in another file", `{"weight_map":{"a":"b.safetensors"}}`, `"a": not in "b.safetensors"`},
		{"no such file", `{"weight_map":{"a":"c.safetensors"}}`, "c.safetensors"},
		{"not an index", `[]`, "'{' expected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(tt.text)
			w := OpenWeightsIndex(index)
			defer w.Close()
			if err := w.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
		})
	}
}

func TestRenamed(t *testing.T) {
	w := NewWeights()
	Add(w, "a", []int32{1}, 1)
	Add(w, "b", []int32{2}, 1)
	r, err := w.Renamed(map[string]string{"a": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := WeightsOf[int32](r, "x", 1); !slices.Equal(got, []int32{1}) || len(r.Names()) != 1 || r.Err() != nil {
		t.Error(got, r.Names(), r.Err())
	}
	if info, _ := r.Info("x"); info.Name != "x" {
		t.Error(info)
	}
	if _, err := r.Renamed(map[string]string{"a": "y"}); err == nil {
		t.Error("a tensor that is not there")
	}
	if _, err := w.Renamed(nil); err == nil {
		t.Error("closed weights")
	}
	w = NewWeights()
	Add(w, "a", []int32{1}, 1)
	Add(w, "b", []int32{2}, 1)
	if _, err := w.Renamed(map[string]string{"a": "x", "b": "x"}); err == nil || !strings.Contains(err.Error(), `"a" and "b" are both called "x"`) {
		t.Error(err)
	}
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
	w.AddFunc("none", "string", nil, nil)
	if w.Err() == nil {
		t.Error("strings have no size")
	}
}
