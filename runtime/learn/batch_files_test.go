package learn

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestBatchFiles writes values of batches in burn's layout, and goes on from a mark.
func TestBatchFiles(t *testing.T) {
	dir := t.TempDir()
	contents := func() map[string]string {
		all := map[string]string{}
		for _, name := range filesOf(t, dir) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(text)
		}
		return all
	}
	put := func(l Logger, events ...Event) {
		for _, e := range events {
			if err := l.Event(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	batch := func(epoch int, loss Number, values ...Value) Stepped {
		return Stepped{Split: Train, Epoch: epoch, Items: 8, Loss: loss, Values: values}
	}
	top3 := Value{Name: "top-3 accuracy", Value: 62.5}
	l := &batchFiles{}
	if err := l.Open(dir, ""); err != nil {
		t.Fatal(err)
	}
	put(l, batch(0, 1.5), batch(0, 1.25, top3), Stepped{Split: Valid, Items: 3, Loss: nan}, Stepped{Split: Train}, EpochEnded{Epoch: 0}, batch(1, 1))
	mark := l.Mark()
	put(l, batch(1, 9, top3), EpochEnded{Epoch: 1}, batch(2, 9, Value{Name: "else"}))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(); len(got) != 7 {
		t.Errorf("%q", got)
	}
	l = &batchFiles{}
	if err := l.Open(dir, mark); err != nil {
		t.Fatal(err)
	}
	put(l, batch(1, 0.5, top3))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"train/epoch-1/Loss.log":           "1.5,8\n1.25,8\n",
		"train/epoch-1/Top-3_accuracy.log": "62.5,16\n",
		"valid/epoch-1/Loss.log":           "NaN,3\n",
		"train/epoch-2/Loss.log":           "1,8\n0.5,8\n",
		"train/epoch-2/Top-3_accuracy.log": "62.5,16\n",
	}
	if got := contents(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if err := l.Open(dir, ""); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if got := contents(); len(got) != 0 {
		t.Errorf("anew: %q", got)
	}
}

func TestFileNames(t *testing.T) {
	for name, want := range map[string]string{"loss": "Loss", "F1 (macro)": "F1_(macro)", "a/b\\c:d": "A_b_c_d", "..": "..", "écart": "Écart"} {
		if got := fileName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
