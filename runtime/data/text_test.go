package data_test

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
)

func TestVocabulary(t *testing.T) {
	v := data.Characters("hello, wörld\xff")
	tokens, err := v.Encode("wörld")
	if err != nil || v.Len() != 11 || v.Decode(tokens) != "wörld" {
		t.Errorf("%v, %v of %d, %q", tokens, err, v.Len(), v.Decode(tokens))
	}
	if again := data.Characters("wörld, hello\xff"); !reflect.DeepEqual(again, v) {
		t.Error("the order of a text matters")
	}
	_, err = v.Encode("wör?")
	wantError(t, err, `text: '?' at byte 4 is not in the vocabulary of 11 characters`)
	if got := v.Decode([]int64{-1, 0, 99}); got != "\ufffd \ufffd" {
		t.Errorf("decoded %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		v := data.Characters(text)
		tokens, err := v.Encode(text)
		if err != nil || v.Decode(tokens) != text {
			t.Errorf("%q became %v, %q: %v", text, tokens, v.Decode(tokens), err)
		}
		for _, k := range tokens {
			if k < 0 || k >= int64(v.Len()) {
				t.Errorf("token %d of %d", k, v.Len())
			}
		}
	})
}

func TestVocabularyOfCorpus(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "datasets/text/tinyshakespeare.txt"))
	if err != nil {
		t.Fatal(err)
	}
	v := data.Characters(string(text))
	tokens, err := v.Encode(string(text))
	if err != nil || v.Len() != 65 || len(tokens) != 1115394 || v.Decode(tokens) != string(text) {
		t.Errorf("%d characters, %d tokens, %v", v.Len(), len(tokens), err)
	}
}

func TestCategories(t *testing.T) {
	numbers, names := data.Categories([]string{"spam", "ham", "spam", "eggs"})
	if !slices.Equal(numbers, []int64{2, 1, 2, 0}) || !slices.Equal(names, []string{"eggs", "ham", "spam"}) {
		t.Errorf("%v of %q", numbers, names)
	}
	if numbers, names := data.Categories(nil); len(numbers) != 0 || len(names) != 0 {
		t.Errorf("%v of %q", numbers, names)
	}
}

func TestWindows(t *testing.T) {
	tokens := data.Bytes("abcdefgh")
	type window = data.Pair[[3]int64, [3]int64]
	datatest.Run(t, data.Windows[[3]int64](tokens, 2), datatest.Options[window]{Want: []window{
		{X: [3]int64{97, 98, 99}, Y: [3]int64{98, 99, 100}},
		{X: [3]int64{99, 100, 101}, Y: [3]int64{100, 101, 102}},
		{X: [3]int64{101, 102, 103}, Y: [3]int64{102, 103, 104}},
	}})
	if n := data.Windows[[8]int64](tokens, 1).Len(); n != 0 {
		t.Errorf("%d windows have nothing after them", n)
	}
	if n := data.Windows[[7]int64](tokens, 100).Len(); n != 1 {
		t.Errorf("%d windows", n)
	}
	wantError(t, data.Err(data.Windows[[3]int64](tokens, 0)), "windows: stride 0: at least 1 expected")
	wantError(t, data.Err(data.Windows[[6]int32](tokens, 1)), "windows: a window is a [6]int32: an array of int64 expected, as [64]int64")
	wantError(t, data.Err(data.Windows[[0]int64](tokens, 1)), "windows: a window is a [0]int64: an array of int64 expected, as [64]int64")
	wantError(t, data.Err(data.Windows[int64](tokens, 1)), "windows: a window is a int64: an array of int64 expected, as [64]int64")
}
