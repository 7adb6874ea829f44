package pytorch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTorch compares with what PyTorch reads of the files in testdata, which
// make.py there writes.
func TestTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]json.RawMessage
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	for file, expected := range files {
		t.Run(file, func(t *testing.T) {
			w, err := Open(filepath.Join("testdata", file))
			var why string
			if json.Unmarshal(expected, &why) == nil {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("error %v, %q expected", err, why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			var tensors map[string]struct {
				DType, SHA256 string
				Shape         []int
			}
			if err := json.Unmarshal(expected, &tensors); err != nil {
				t.Fatal(err)
			}
			if len(w.Names()) != len(tensors) {
				t.Errorf("%q: %d expected", w.Names(), len(tensors))
			}
			for name, want := range tensors {
				info, _ := w.Info(name)
				sum := sha256.Sum256(w.Raw(name))
				if info.DType != want.DType || !slices.Equal(info.Shape, want.Shape) || hex.EncodeToString(sum[:]) != want.SHA256 {
					t.Errorf("%q: %v %x, expected %v", name, info, sum, want)
				}
			}
			if err := w.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	w, err := Open("testdata/checkpoint_2.pt", TopKey("model"), Remap(`^(\d+)=>net.$1`), Renumber(), Transpose(`net\.0\.weight`))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	info, _ := w.Info("net.0.weight")
	if got := w.Names(); len(got) != 9 || got[0] != "net.0.bias" || !slices.Equal(info.Shape, []int{3, 4}) {
		t.Error(got, info)
	}
	if len(w.Raw("net.0.weight")) != 48 || w.Err() != nil {
		t.Error(w.Err())
	}
	for _, tt := range []struct {
		option Option
		want   string
	}{
		{TopKey("modle"), `top key "modle"`},
		{Remap("no arrow"), "regex=>replacement"},
		{Remap(`.*=>x`), "all become"},
		{Transpose("("), "missing closing"},
		{Transpose("step"), "no matrix"},
	} {
		if _, err := Open("testdata/checkpoint_2.pt", tt.option); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, %q expected", err, tt.want)
		}
	}
}
