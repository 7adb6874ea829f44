package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestTellsWhatTextsAreAbout(t *testing.T) {
	var out bytes.Buffer
	p := plan{epochs: 3, rate: 5e-3, seed: 42, folder: t.TempDir()}
	texts := []string{"the referee gave a penalty", "snow and frost this morning", "simmer the garlic in butter", "a bug in the compiler", strings.Repeat("the kernel of the browser ", 20)}
	if err := p.run(context.Background(), &out, texts); err != nil {
		t.Fatal(err)
	}
	for i, topic := range []string{"sport", "weather", "cooking", "computers", "computers"} {
		if want := texts[i] + ": " + topic + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in\n%s", want, &out)
		}
	}
}

func TestContinues(t *testing.T) {
	p := plan{epochs: 2, rate: 5e-3, seed: 42}
	digest := func(p plan) string {
		notes := write(400, p.seed)
		tokens, err := tokenizer(notes)
		if err != nil {
			t.Fatal(err)
		}
		trained, _, err := p.train(context.Background(), nil, notes, tokens)
		if err != nil {
			t.Fatal(err)
		}
		return trained.Weights().Digest()
	}
	want := digest(p)
	p.folder = t.TempDir()
	p.epochs = 1
	digest(p)
	p.epochs = 2
	if got := digest(p); got != want {
		t.Error("a run that continued has other weights")
	}
}

func TestNotesSayWhatTheyAreAbout(t *testing.T) {
	for _, n := range write(200, 1) {
		about := false
		for _, word := range strings.Fields(n.text) {
			about = about || strings.Contains(" "+topics[n.topic].words+" ", " "+word+" ")
		}
		if !about {
			t.Errorf("%q is not about %s", n.text, topics[n.topic].name)
		}
	}
}
