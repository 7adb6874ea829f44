package pytorchtest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/burngen/burngen/pytorch"
)

func TestSave(t *testing.T) {
	data := []byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64, 0, 0, 160, 64, 0, 0, 192, 64}
	for _, key := range []string{"", "state_dict"} {
		w, err := pytorch.Parse(Save(key, Tensor{"a.weight", "FloatStorage", []int{2, 3}, data}, Tensor{"n", "LongStorage", nil, data[:8]}), pytorch.TopKey(key))
		if err != nil {
			t.Fatal(err)
		}
		if names := w.Names(); !slices.Equal(names, []string{"a.weight", "n"}) {
			t.Errorf("key %q: tensors %q", key, names)
		}
		info, _ := w.Info("a.weight")
		if !slices.Equal(info.Shape, []int{2, 3}) || !bytes.Equal(w.Raw("a.weight"), data) || !bytes.Equal(w.Raw("n"), data[:8]) {
			t.Errorf("key %q: %v of %v", key, w.Raw("a.weight"), info)
		}
		if err := w.Err(); err != nil {
			t.Error(err)
		}
	}
}
