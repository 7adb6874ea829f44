package text

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestLoadGPT2 asserts that vocab.json and merges.txt give the same tokens as tokenizer.json.
func TestLoadGPT2(t *testing.T) {
	want := load(t, "gpt2")
	var file struct {
		Model struct{ Vocab, Merges json.RawMessage }
	}
	readJSON(t, "gpt2.json", &file)
	var merges [][2]string
	if err := json.Unmarshal(file.Model.Merges, &merges); err != nil {
		t.Fatal(err)
	}
	lines := []string{"#version: 0.2"}
	for _, m := range merges {
		lines = append(lines, m[0]+" "+m[1])
	}
	vocab, text := t.TempDir()+"/vocab.json", t.TempDir()+"/merges.txt"
	write := func(path, data string) {
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(vocab, string(file.Model.Vocab))
	write(text, strings.Join(lines, "\r\n")+"\r\n")
	got, err := LoadGPT2(vocab, text, GPT2Options{End: "<|endoftext|>"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"", "The lowest river<|endoftext|> naïve  12"} {
		g, err := got.Encode(s)
		w, err2 := want.Encode(s)
		if err != nil || err2 != nil || !reflect.DeepEqual(g, w) {
			t.Errorf("%q: got %v %v, want %v %v", s, g, err, w, err2)
		}
	}
	write(text, "a b c\n")
	if _, err := LoadGPT2(vocab, text, GPT2Options{}); err == nil || !strings.Contains(err.Error(), "merges.txt:1:") {
		t.Errorf("three in a line: %v", err)
	}
	write(text, "a nosuch\n")
	if _, err := LoadGPT2(vocab, text, GPT2Options{}); err == nil || !strings.Contains(err.Error(), `"nosuch" is not in the vocabulary`) {
		t.Errorf("an unknown token: %v", err)
	}
}
