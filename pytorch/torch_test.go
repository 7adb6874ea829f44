package pytorch

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// TestTorch compares with the tensors that PyTorch reads from the files in testdata, which make.py
// there writes.
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
				if err == nil {
					err = useError(w)
				}
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

// useError reads all tensors and returns what went wrong.
func useError(w *rt.Weights) error {
	for _, name := range w.Names() {
		w.Raw(name)
	}
	return w.Err()
}

// TestRefusesOne opens a file one of whose tensors has elements of no type of burngen's.
func TestRefusesOne(t *testing.T) {
	file := rebuild(4, "K\x00", "K\x04", "K\x01")
	one := strings.Replace(rebuild(1, "K\x00", "K\x01", "K\x01"), "FloatStorage", "ComplexDoubleStorage", 1)
	one = strings.Replace(one, "X\x01\x00\x00\x000", "X\x01\x00\x00\x001", 1)
	both := strings.TrimSuffix(file, ".") + strings.Replace(one[1:], "X\x01\x00\x00\x00a", "X\x01\x00\x00\x00z", 1)
	w, err := Parse(archiveOf(t, zip.Store, part{"m/data.pkl", both}, part{"m/data/0", "0123456789abcdef"}, part{"m/data/1", "0123456789abcdef"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(w.Raw("a")); got != "0123456789abcdef" || w.Err() != nil {
		t.Errorf("%q, error %v", got, w.Err())
	}
	if w.Raw("z"); w.Err() == nil || !strings.Contains(w.Err().Error(), `"z": burngen does not have element type torch.ComplexDoubleStorage`) {
		t.Error(w.Err())
	}
	if _, err := w.WriteTo(io.Discard); err == nil {
		t.Error("written")
	}
}

// TestWholeModel opens files of models that were saved themselves.
func TestWholeModel(t *testing.T) {
	const advice = "the file has a whole model; save only its weights: torch.save(model.state_dict(), FILE)"
	for name, pickle := range map[string]string{
		"a layer":             global("torch.nn.modules.linear", "Linear") + ")\x81}b.",
		"a class of its own":  global("__main__", "Net") + ")\x81}b.",
		"in a legacy archive": "(X\x06\x00\x00\x00module" + global("__main__", "Net") + "NNtQ.",
	} {
		if _, err := Parse(saved(t, pickle)); err == nil || !strings.Contains(err.Error(), advice) {
			t.Errorf("%s: %v", name, err)
		}
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
		{Transpose("step"), "is not a matrix"},
	} {
		if _, err := Open("testdata/checkpoint_2.pt", tt.option); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, %q expected", err, tt.want)
		}
	}
}

// TestOpenIndex opens files that PyTorch saved by an index.
func TestOpenIndex(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"checkpoint_2.pt", "checkpoint_4.pt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(dir, "pytorch_model.bin.index.json")
	for _, c := range []struct{ text, want string }{
		{`{"metadata": {}, "weight_map": {"model.0.weight": "checkpoint_2.pt", "model.0.bias": "checkpoint_4.pt"}}`, ""},
		{`{"weight_map": {"model.0.weight": "checkpoint_2.pt", "none": "checkpoint_4.pt"}}`, `"none": not in "checkpoint_4.pt"`},
		{`{"weight_map": {"model.0.weight": "missing.bin"}}`, "missing.bin: "},
		{`{"weight_map": {"model.0.weight": "pytorch_model.bin.index.json"}}`, "pytorch_model.bin.index.json: "},
		{`{"weight_map": {"model.0.weight": "../x.bin"}}`, "not a file in the folder"},
	} {
		if err := os.WriteFile(index, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		w, err := OpenIndex(index, TopKey("model"))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Open("testdata/checkpoint_2.pt", TopKey("model"))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Names(); !slices.Equal(got, []string{"0.bias", "0.weight"}) {
			t.Error(got)
		}
		for _, name := range w.Names() {
			if !bytes.Equal(w.Raw(name), whole.Raw(name)) {
				t.Errorf("%s differs", name)
			}
		}
		if err := errors.Join(w.Close(), whole.Close()); err != nil {
			t.Error(err)
		}
	}
}
