package text

import (
	"errors"
	"testing"
)

type texts []string

func (t texts) Len() int { return len(t) }

func (t texts) At(i int) (string, error) {
	if t[i] == "!" {
		return "", errors.New("cannot be read")
	}
	return t[i], nil
}

// TestPack asserts that windows go through the tokens of all texts, with an end after each.
func TestPack(t *testing.T) {
	tokenizer := load(t, "gpt2")
	p, err := Pack[[4]int64](tokenizer, texts{"xyz", "", "jkpqz"}, PackOptions{Stride: 3, End: "<|endoftext|>"})
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for _, s := range []string{"x", "y", "z", "<|endoftext|>", "<|endoftext|>", "j", "k", "p", "q", "z", "<|endoftext|>"} {
		id, ok := tokenizer.ID(s)
		if !ok {
			t.Fatal(s)
		}
		want = append(want, id)
	}
	if p.Tokens() != len(want) || p.Len() != 3 {
		t.Fatalf("%d tokens in %d windows", p.Tokens(), p.Len())
	}
	for i := range p.Len() {
		w, err := p.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if w.X != [4]int64(want[3*i:]) || w.Y != [4]int64(want[3*i+1:]) {
			t.Errorf("window %d: got %v, want %v", i, w, want[3*i:])
		}
	}
	for _, i := range []int{-1, 3} {
		if _, err := p.At(i); err == nil {
			t.Errorf("window %d: no error", i)
		}
	}
	if p, err := Pack[[11]int64](tokenizer, texts{"xyz", "jkpqz"}, PackOptions{}); err != nil || p.Len() != 0 {
		t.Errorf("too few tokens: %v", err)
	}
}

func TestPackErrors(t *testing.T) {
	tokenizer := load(t, "gpt2")
	_, window := Pack[[4]int32](tokenizer, texts{}, PackOptions{})
	_, stride := Pack[[4]int64](tokenizer, texts{}, PackOptions{Stride: -1})
	_, end := Pack[[4]int64](tokenizer, texts{}, PackOptions{End: "none"})
	_, text := Pack[[4]int64](tokenizer, texts{"a", "!"}, PackOptions{})
	for _, err := range []error{window, stride, end, text} {
		if err == nil {
			t.Error("no error")
		}
	}
}
