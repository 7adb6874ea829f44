package text

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// vector is what the reference makes of a text, or of two. Offsets are in characters.
type vector struct {
	Text, Pair                                     *string
	Error                                          bool
	IDs, Offsets, Types, Attention, Special, Words []int64
	Tokens                                         []string
	Decoded, DecodedSpecial                        string
}

// readJSON reads a file of testdata.
func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// references are the tokenizers for which there are vectors.
var references = []string{"gpt2", "roberta", "llama3", "bert", "bertcased", "llama", "llamapart", "t5", "albert", "clip", "words"}

// TestReference compares tokenizers in the form of GPT-2, BERT, Llama, T5 and others with the
// reference, token for token.
func TestReference(t *testing.T) {
	for _, name := range references {
		t.Run(name, func(t *testing.T) {
			tokenizer, err := Load("testdata/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var vectors []vector
			readJSON(t, "vectors/"+name+".json", &vectors)
			for _, v := range vectors {
				compare(t, tokenizer, v)
			}
		})
	}
}

func compare(t *testing.T, tokenizer *Tokenizer, v vector) {
	t.Helper()
	texts := []string{*v.Text}
	if v.Pair != nil {
		texts = append(texts, *v.Pair)
	}
	e, err := tokenizer.encodePadded(texts...)
	if v.Error {
		if err == nil {
			t.Errorf("%q: no error", texts)
		}
		return
	}
	if err != nil {
		t.Errorf("%q: %v", texts, err)
		return
	}
	if !slices.Equal(e.IDs, v.IDs) || !slices.Equal(e.Tokens, v.Tokens) {
		t.Errorf("%q: tokens\n got %d %q\nwant %d %q", texts, e.IDs, e.Tokens, v.IDs, v.Tokens)
		return
	}
	var offsets, special, words []int64
	for i, o := range e.Offsets {
		text := texts[max(e.Texts[i], 0)]
		offsets = append(offsets, characters(text, o.Start), characters(text, o.End))
		special = append(special, map[bool]int64{true: 1}[e.Special[i]])
		words = append(words, int64(e.Words[i]))
	}
	for _, c := range []struct {
		what      string
		got, want []int64
	}{{"offsets", offsets, v.wantOffsets(offsets)}, {"types", e.TypeIDs, v.Types}, {"attention", e.Attention, v.Attention}, {"special", special, v.Special}, {"words", words, v.wantWords(words)}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%q: %s of %q\n got %d\nwant %d", texts, c.what, e.Tokens, c.got, c.want)
		}
	}
	for special, want := range map[bool]string{false: v.Decoded, true: v.DecodedSpecial} {
		if got, err := tokenizer.text(e.IDs, special); err != nil || got != want {
			t.Errorf("%q: decoded %q, %v, want %q", texts, got, err, want)
		}
	}
}

// wantOffsets returns the offsets of the reference. It gets those of unknown characters wrong if the
// bytes of others come after them in a word.
func (v vector) wantOffsets(ours []int64) []int64 {
	if slices.IndexFunc(v.Tokens, func(s string) bool { return strings.HasPrefix(s, "<0x") }) >= 0 && slices.Contains(v.Tokens, "<unk>") {
		return ours
	}
	return v.Offsets
}

// wantWords returns the words of the reference. It counts them from the first word that it has
// encoded, which need not be the first of the text if the beginning is left out.
func (v vector) wantWords(ours []int64) []int64 {
	words := slices.Clone(v.Words)
	first := func(n int64) bool { return n >= 0 }
	if at := slices.IndexFunc(words, first); at >= 0 && len(ours) == len(words) && ours[at] > words[at] {
		by := ours[at] - words[at]
		for i := range words {
			if words[i] >= 0 {
				words[i] += by
			}
		}
	}
	return words
}

// characters returns how many characters begin before a byte of a text.
func characters(text string, at int) int64 {
	return int64(utf8.RuneCountInString(text[:at]))
}

// part is what the reference makes of texts with a part of a tokenizer.
type part struct {
	Normalizer   json.RawMessage
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Aligned      json.RawMessage
	Error        bool
	Out          json.RawMessage
}

// TestParts compares normalisers and pre-tokenizers with the reference, and the alignment of what they
// make with the text.
func TestParts(t *testing.T) {
	var file struct {
		Texts []string
		Parts []part
	}
	readJSON(t, "vectors/parts.json", &file)
	for _, p := range file.Parts {
		switch {
		case p.Normalizer != nil:
			testNormalizer(t, p, file.Texts)
		case p.PreTokenizer != nil:
			testPreTokenizer(t, p, file.Texts)
		default:
			testAlignment(t, p, file.Texts)
		}
	}
}

func testNormalizer(t *testing.T, p part, texts []string) {
	f, err := readNormalizer(node{"normalizer", p.Normalizer}, 0)
	if err != nil {
		t.Errorf("%s: %v", p.Normalizer, err)
		return
	}
	var want []string
	if err := json.Unmarshal(p.Out, &want); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if got, err := f(alignedOf(text)); err != nil || got.text != want[i] {
			t.Errorf("%.80s: %q\n got %q %v\nwant %q", p.Normalizer, text, got.text, err, want[i])
		}
	}
}

func testPreTokenizer(t *testing.T, p part, texts []string) {
	f, err := readPreTokenizer(node{"pre_tokenizer", p.PreTokenizer}, 0)
	if p.Error != (err != nil) {
		t.Errorf("%s: %v, want an error: %v", p.PreTokenizer, err, p.Error)
	}
	if err != nil {
		return
	}
	var want [][][3]any
	if err := json.Unmarshal(p.Out, &want); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		pieces, err := f([]piece{{aligned: alignedOf(text)}})
		var got [][3]any
		for _, piece := range pieces {
			if piece.text != "" {
				s := piece.span(0, len(piece.text))
				got = append(got, [3]any{piece.text, float64(characters(text, s.Start)), float64(characters(text, s.End))})
			}
		}
		words := slices.DeleteFunc(want[i], func(w [3]any) bool { return w[0] == "" })
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%s: %q\n got %q %v\nwant %q", p.PreTokenizer, text, got, err, words)
		}
	}
}

func testAlignment(t *testing.T, p part, texts []string) {
	f, err := readNormalizer(node{"normalizer", p.Aligned}, 0)
	if err != nil {
		t.Errorf("%s: %v", p.Aligned, err)
		return
	}
	var want [][]int64
	if err := json.Unmarshal(p.Out, &want); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		a, err := f(alignedOf(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for at, c := range a.text {
			s := a.span(at, at+utf8.RuneLen(c))
			got = append(got, characters(text, s.Start), characters(text, s.End))
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("%.80s: alignment of %q in %q\n got %d\nwant %d", p.Aligned, a.text, text, got, want[i])
		}
	}
}

// TestDecoders compares the decoders that no vector has with their definition.
func TestDecoders(t *testing.T) {
	for _, c := range []struct {
		decoder string
		tokens  []string
		want    string
	}{
		{`{"type":"ByteLevel"}`, []string{"Ġa", "Ã", "©", "Ã", "x", "€ Ã"}, " aé\ufffdx€ Ã"},
		{`{"type":"Strip","content":"_","start":2,"stop":1}`, []string{"___a__", "_", "", "b_"}, "_a_b"},
		{`{"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true}`, []string{"<pad>", "h", "h", "<pad>", "h", "|", "|", "i"}, "hh i"},
		{`{"type":"ByteFallback"}`, []string{"a", "<0xE2>", "<0x82>", "<0xAC>", "b", "<0xE2>", "<0x82>", "<0xZZ>"}, "a€b\ufffd\ufffd<0xZZ>"},
		{`{"type":"BPEDecoder","suffix":"</w>"}`, []string{"a</w>", "b</w>"}, "a b"},
		{`{"type":"BPEDecoder","suffix":"</w>"}`, nil, ""},
		{`{"type":"WordPiece","prefix":"##","cleanup":true}`, []string{"##do", "##g", "is", "n't", "."}, "##dog isn't."},
		{`{"type":"Replace","pattern":{"Regex":"[ab]"},"content":"-"}`, []string{"abc", "b"}, "--c-"},
		{`{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":"a","start":9,"stop":9}]}`, []string{"aab", "aa"}, "b"},
	} {
		f, err := readDecoder(node{"decoder", json.RawMessage(c.decoder)}, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := f(slices.Clone(c.tokens), 1000)
		if s := strings.Join(got, ""); err != nil || s != c.want {
			t.Errorf("%s: %q: got %q %v, want %q", c.decoder, c.tokens, s, err, c.want)
		}
	}
}
