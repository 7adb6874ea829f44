package rt

import (
	"encoding/json"
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

func TestSaveIndex(t *testing.T) {
	w := NewWeights()
	for i, name := range []string{"a", "b", "c", "large", "z\n\"ж"} {
		n := 4
		if name == "large" {
			n = 100
		}
		Add(w, name, slices.Repeat([]float32{float32(i)}, n), n)
	}
	w.SetMetadata("format", "pt")
	AddPacked(w, "four", 4, []int8{1, -2, 3}, 3)
	dir := t.TempDir()
	path := filepath.Join(dir, "model.safetensors.index.json")
	if err := w.SaveIndex(path, 32); err != nil {
		t.Fatal(err)
	}
	var files []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
		if f := OpenWeightsFile(filepath.Join(dir, e.Name())); strings.HasSuffix(e.Name(), ".safetensors") && f.Verify() != nil {
			t.Error(f.Verify())
		}
	}
	if want := []string{"model-00001-of-00004.safetensors", "model-00002-of-00004.safetensors", "model-00003-of-00004.safetensors",
		"model-00004-of-00004.safetensors", "model.safetensors.index.json"}; !slices.Equal(files, want) {
		t.Error(files)
	}
	got := OpenWeightsIndex(path)
	defer got.Close()
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		if again, ok := got.Info(name); !ok || again.String() != info.String() || !slices.Equal(w.Raw(name), got.Raw(name)) {
			t.Errorf("%q: %v", name, again)
		}
	}
	if len(got.Names()) != len(w.Names()) || got.Metadata()["format"] != "pt" || got.Err() != nil {
		t.Error(got.Names(), got.Metadata(), got.Err())
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "{\n  \"metadata\": {\"total_size\": 466},\n") || !json.Valid(text) {
		t.Errorf("%s %v", text, err)
	}
	bad := NewWeights()
	Add(bad, "\xff", []float32{1}, 1)
	for name, err := range map[string]error{
		"another end": w.SaveIndex(filepath.Join(dir, "model.json"), 32), "no room": w.SaveIndex(path, 0),
		"no folder": w.SaveIndex(filepath.Join(dir, "none", "m"+indexEnd), 32), "a name": bad.SaveIndex(path, 32),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if now, _ := os.ReadFile(path); !slices.Equal(now, text) {
		t.Error("the index has changed")
	}
}

// TestWeightsThatAreNone calls what weights that no function has made, that could not be
// opened or are closed offer: nothing panics, and what gives a result gives an error.
func TestWeightsThatAreNone(t *testing.T) {
	closed := func() *Weights {
		w := NewWeights()
		w.Close()
		return w
	}
	for _, tt := range []struct {
		name string
		make func() *Weights
		want string
	}{
		{"nil", func() *Weights { return nil }, "weights: none given"},
		{"zero", func() *Weights { return &Weights{} }, "weights: none given"},
		{"no file system", func() *Weights { return OpenWeightsFS(nil, "x") }, "weights: x: no file system given"},
		{"closed", closed, "weights: weights are closed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m"+indexEnd)
			if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			wantError(t, tt.make().SaveIndex(path, 1), tt.want)
			if now, err := os.ReadFile(path); err != nil || string(now) != "before" {
				t.Errorf("the index has become %q (%v)", now, err)
			}
			wantError(t, tt.make().Save(path), tt.want)
			_, err := tt.make().Sum()
			wantError(t, err, tt.want)
			_, err = tt.make().Renamed(nil)
			wantError(t, err, tt.want)
			if err := tt.make().Convert(map[string]string{"x": "f16"}); err == nil {
				t.Error("converted")
			}
			if err := tt.make().Transpose("x"); err == nil {
				t.Error("transposed")
			}

			w := tt.make()
			w.Share(NewWeights(), "x")
			w.SetMetadata("key", "value")
			w.DropMetadata("")
			Add(w, "x", []float32{1}, 1)
			AddPacked(w, "y", 4, []int8{1}, 1)
			w.AddRaw("z", "f32", nil, make([]byte, 4))
			w.AddFunc("f", "f32", nil, func() ([]byte, error) { return make([]byte, 4), nil })
			Keep(new(int), w)
			if x := WeightsOf[float32](w, "x", 1); x != nil {
				t.Error("there are elements")
			}
			if w.Err() == nil {
				t.Error("no error")
			}
			w.Raw("x")
			w.Fork().RawOnce("y")
			w.Without("x")
			w.Abandon()
			wantError(t, w.Close(), "")

			other := NewWeights()
			other.Share(tt.make())
			wantError(t, other.Err(), "")
			other.Share(tt.make(), "x")
			if other.Err() == nil {
				t.Error("shared")
			}
		})
	}
	_, err := NewWeights().WriteTo(nil)
	wantError(t, err, "weights: no writer to write to")
}
