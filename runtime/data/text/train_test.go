package text

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/gpt2.json and testdata/corpus.txt anew")

// corpus is a text to train on. Words of few letters repeat in many combinations, so that there are
// ties, and tokens that can be made in several ways.
func corpus() []string {
	var lines []string
	stems := []string{"low", "new", "wid", "riv", "aab", "aba", "baa", "abab", "été", "日本", "naïve"}
	ends := []string{"", "er", "est", "en", "ing", "ab", "a", "语", "!", "'s"}
	for i := range 120 {
		var b strings.Builder
		for k := range 7 {
			n := i*i + 5*k*i + k*k*k
			b.WriteString(stems[n%len(stems)])
			b.WriteString(ends[(n/3)%len(ends)])
			b.WriteString([]string{" ", "  ", " the ", ", ", " 12"}[(n/7)%5])
		}
		lines = append(lines, b.String()+"\n")
	}
	return lines
}

// TestTrainedFile trains a small tokenizer. Its file is the one from which vectors are made.
func TestTrainedFile(t *testing.T) {
	trained, err := TrainBPE(slices.Values(corpus()), BPEOptions{Size: 420, Special: []string{"<|endoftext|>"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := trained.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		for name, data := range map[string][]byte{"testdata/gpt2.json": append(got, '\n'), "testdata/corpus.txt": []byte(strings.Join(corpus(), ""))} {
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := os.ReadFile("testdata/gpt2.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Error("training gives another file than testdata/gpt2.json; -update writes it")
	}
	if trained.Size() != 420 {
		t.Errorf("size %d", trained.Size())
	}
}

// TestTrainReference compares the merges with those of the reference, until no pair is left.
func TestTrainReference(t *testing.T) {
	trained, err := TrainBPE(slices.Values(corpus()), BPEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/vectors/merges.json")
	if err != nil {
		t.Fatal(err)
	}
	var want [][2]string
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	raw, err := trained.model.json()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Merges [][2]string }
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if i >= len(got.Merges) || got.Merges[i] != want[i] {
			t.Fatalf("merge %d of %d: got %q, want %q", i, len(want), got.Merges[min(i, len(got.Merges)-1)], want[i])
		}
	}
	if len(got.Merges) != len(want) {
		t.Errorf("%d merges, want %d", len(got.Merges), len(want))
	}
}
