package rt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetMetadataFunc sets a string that is known only when the tensor beside it is computed. Both
// ways of writing must give the same file as the string itself.
func TestSetMetadataFunc(t *testing.T) {
	weights := func() *Weights {
		w := NewWeights()
		known := ""
		AddMade(w, "x", func(dst []float32) error {
			dst[0], known = 1, "1.000000"
			return nil
		}, 1)
		w.SetMetadataFunc("x", 8, func() (string, error) { return known, nil })
		return w
	}
	plain := NewWeights()
	Add(plain, "x", []float32{1}, 1)
	plain.SetMetadata("x", "1.000000")
	var want, got bytes.Buffer
	if _, err := plain.WriteTo(&want); err != nil {
		t.Fatal(err)
	}
	if _, err := weights().WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("WriteTo makes another file", err)
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := weights().Save(path); err != nil {
		t.Fatal(err)
	}
	if saved, err := os.ReadFile(path); err != nil || !bytes.Equal(saved, want.Bytes()) {
		t.Error("Save makes another file", err)
	}
	w := weights()
	used := WeightsOf[float32](w, "x", 1)
	if text := w.Metadata()["x"]; text != "1.000000" || len(used) != 1 {
		t.Errorf("%q", text)
	}
	if sum, err := w.Sum(); err != nil || sum == "" {
		t.Error(sum, err)
	}
	renamed, err := w.Renamed(map[string]string{"x": "y"})
	if err != nil || renamed.Metadata()["x"] != "1.000000" {
		t.Error(renamed.Metadata(), err)
	}
	if left := w.Fork().Without("z"); left.Metadata()["x"] != "1.000000" {
		t.Error(left.Metadata())
	}
	of := NewWeights()
	Add(of, "w", []float32{1}, 1)
	of.SetMetadata(SourcesPrefix+"w", "kept")
	of.SetMetadata(SourcesPrefix+"prepared/w", "left")
	if left := of.Without(PreparedPrefix).Metadata(); len(left) != 1 || left[SourcesPrefix+"w"] != "kept" {
		t.Error(left)
	}
	w.SetMetadata("x", "other")
	if text := w.Metadata()["x"]; text != "other" {
		t.Errorf("%q", text)
	}
	w.SetMetadataFunc("x", 1, func() (string, error) { return "y", nil })
	w.DropMetadata("x")
	if m := w.Metadata(); len(m) != 0 {
		t.Error(m)
	}
}

func TestErrorsOfSetMetadataFunc(t *testing.T) {
	broken := errors.New("no value")
	for want, set := range map[string]func(w *Weights){
		"no value":            func(w *Weights) { w.SetMetadataFunc("k", 1, func() (string, error) { return "", broken }) },
		"3 bytes, 2 expected": func(w *Weights) { w.SetMetadataFunc("k", 2, func() (string, error) { return "abc", nil }) },
		"no function":         func(w *Weights) { w.SetMetadataFunc("k", 2, nil) },
		"-1 bytes":            func(w *Weights) { w.SetMetadataFunc("k", -1, func() (string, error) { return "", nil }) },
		"is taken":            func(w *Weights) { w.SetMetadataFunc("burngen.digest", 0, func() (string, error) { return "", nil }) },
		"of a header, 192 expected": func(w *Weights) {
			w.SetMetadataFunc("k", 64, func() (string, error) { return strings.Repeat("\"", 64), nil })
		},
	} {
		w := NewWeights()
		set(w)
		path := filepath.Join(t.TempDir(), "w.safetensors")
		if err := w.Save(path); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a file is there")
		}
	}
	var none *Weights
	none.SetMetadataFunc("k", 1, func() (string, error) { return "", nil })
}
