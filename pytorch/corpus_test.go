package pytorch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/rt"
)

func TestCorpus(t *testing.T) {
	for _, e := range corpus.WeightFiles(t, func(format string) bool { return format != "safetensors" }) {
		t.Run(filepath.Base(e.File), func(t *testing.T) {
			w, err := Open(e.File)
			if e.Error != "" {
				if err == nil {
					err = useError(w)
				}
				if err == nil {
					t.Fatal("no error, the reader has", e.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if len(w.Names()) != len(e.Tensors) {
				t.Errorf("%d tensors, %d expected", len(w.Names()), len(e.Tensors))
			}
			for name, want := range e.Tensors {
				info, ok := w.Info(name)
				if !ok {
					t.Errorf("no %q", name)
					continue
				}
				sum := sha256.Sum256(w.Raw(name))
				if info.DType != want.DType || fmt.Sprint(info.Shape) != fmt.Sprint(want.Shape) || hex.EncodeToString(sum[:]) != want.Contiguous {
					t.Errorf("%v, %x expected %v", info, sum, want)
				}
			}
			if err := w.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCorpusTar compares what the independent reader does not read.
func TestCorpusTar(t *testing.T) {
	dir := corpus.Path(t, "weights/burn-reader/reader/test_data")
	w, err := Open(filepath.Join(dir, "tar_multi_dtype.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := rt.WeightsOf[float32](w, "float_tensor", 3); !slices.Equal(got, []float32{1.5, 2.5, 3.5}) {
		t.Error(got)
	}
	if got := rt.WeightsOf[float64](w, "double_tensor", 2); !slices.Equal(got, []float64{1.111, 2.222}) {
		t.Error(got)
	}
	if got := rt.WeightsOf[int64](w, "int_tensor", 4); !slices.Equal(got, []int64{10, 20, 30, 40}) {
		t.Error(got)
	}
	for _, name := range []string{"2d_tensor", "float32", "float64", "int64", "weight_bias"} {
		w, err := Open(filepath.Join(dir, "tar_"+name+".tar"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range w.Names() {
			w.Raw(name)
		}
		if err := w.Err(); err != nil {
			t.Error(err)
		}
		w.Close()
	}
}

// TestCorpusRefused opens everything malicious and broken.
func TestCorpusRefused(t *testing.T) {
	dir := corpus.Path(t, "weights")
	var files []string
	for _, pattern := range []string{"picklescan/*/*", "synthetic/*", "burn-reader/reader/test_data/broken.pt"} {
		list, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	if len(files) < 100 {
		t.Fatal(len(files), "files")
	}
	for _, file := range files {
		base := filepath.Base(file)
		if base == "pytorch_model.bin" || strings.HasPrefix(base, "bigendian_") {
			continue // in order
		}
		t.Run(base, func(t *testing.T) {
			w, err := Open(file)
			if err == nil {
				t.Fatal("no error:", w.Names())
			}
			if strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
			t.Log(err)
		})
	}
}
