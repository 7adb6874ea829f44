package text

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestLoadBERT asserts that vocab.txt gives the same tokens as tokenizer.json.
func TestLoadBERT(t *testing.T) {
	for name, o := range map[string]BERTOptions{"bert": {}, "bertcased": {Cased: true}} {
		want, err := load(t, name).WithPadding(nil)
		if err == nil {
			want, err = want.WithTruncation(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		tokens := want.model.(*wordPiece).tokens
		var b strings.Builder
		for _, id := range slices.Sorted(maps.Keys(tokens)) {
			b.WriteString(tokens[id] + "\n")
		}
		path := t.TempDir() + "/vocab.txt"
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := LoadBERT(path, o)
		if err != nil {
			t.Fatal(err)
		}
		g, err := got.EncodePair("Hello, Éva [MASK] 中文!", "The newest")
		w, err2 := want.EncodePair("Hello, Éva [MASK] 中文!", "The newest")
		if err != nil || err2 != nil || !reflect.DeepEqual(g, w) {
			t.Errorf("%s: got %v %v, want %v %v", name, g, err, w, err2)
		}
	}
	path := t.TempDir() + "/vocab.txt"
	if err := os.WriteFile(path, []byte("[PAD]\n[UNK]\n[CLS]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadBERT(path, BERTOptions{}); err == nil || !strings.Contains(err.Error(), "[SEP] is not in the vocabulary") {
		t.Errorf("got %v", err)
	}
}
