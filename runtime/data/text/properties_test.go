package text

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// sample returns the characters that the tables of this program know: of the ideographs, the syllables
// of Hangul and the private characters only some.
var sample = sync.OnceValue(func() (all []rune) {
	for c := range rune(unicode.MaxRune + 1) {
		known := unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
		large := unicode.In(c, unicode.Unified_Ideograph, unicode.Hangul, unicode.Co) && c > 0x3100
		if known && !(large && c%61 != 0) {
			all = append(all, c)
		}
	}
	return all
})

// matched returns whether an expression that ends in + matches characters of the sample. U+0001, which
// it does not match, is between them.
func matched(t *testing.T, expr string) func(rune) bool {
	t.Helper()
	re, err := regular(expr)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range sample() {
		b.WriteString(string(c) + "\x01")
	}
	all, err := re(b.String())
	if err != nil {
		t.Fatal(err)
	}
	found := map[rune]bool{}
	for _, m := range all {
		if c, size := utf8.DecodeRuneInString(b.String()[m.start:m.end]); m.found && size == m.end-m.start {
			found[c] = true
		}
	}
	return func(c rune) bool { return found[c] }
}

// TestProperties compares what is made of each character of Unicode with the reference.
func TestProperties(t *testing.T) {
	var file map[string]string
	readJSON(t, "vectors/properties.json", &file)
	clean := func(text string) func(rune) bool {
		f, err := readNormalizer(node{"", []byte(`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":false,"strip_accents":false,"lowercase":false}`)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return func(c rune) bool {
			a, err := f(alignedOf(string(c)))
			return err == nil && a.text == text
		}
	}
	properties := map[string]func(rune) bool{
		"punctuation": isPunctuation, "space": unicode.IsSpace, "number": unicode.IsNumber, "word": isWord, "accent": isAccent, "mark": isMark,
		"gpt letter":     func(c rune) bool { return gptWord("a"+string(c)) > 1 },
		"gpt number":     func(c rune) bool { return gptWord("1"+string(c)) > 1 },
		"bert removed":   clean(""),
		"bert space":     clean(" "),
		"bert ideograph": isIdeograph,
		"cluster":        func(c rune) bool { return cluster("a"+string(c)) > 1 },
		"pictograph":     func(c rune) bool { return cluster("©\u200d"+string(c)) > len("©\u200d") },
	}
	for _, expr := range []string{`\w`, `\d`, `\s`, `\p{L}`, `\p{Mn}`, `\p{Lu}`, `\p{Han}`} {
		properties[expr] = matched(t, expr+"+")
	}
	for name, text := range file {
		holds, ok := properties[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		delete(properties, name)
		want := ranges(text)()
		var wrong []string
		for _, c := range sample() {
			reclassified := name == `\p{Mn}` && c == 0x1171e // in Unicode 16
			if holds(c) != want.contains(c) && !reclassified {
				wrong = append(wrong, fmt.Sprintf("%x", c))
			}
		}
		if wrong != nil {
			t.Errorf("%s: differs for %d characters: %.20s", name, len(wrong), wrong)
		}
	}
	if len(properties) > 0 {
		t.Errorf("no vectors for %v", properties)
	}
}

// TestMaps compares the normal forms and the lower case of each character with the reference.
func TestMaps(t *testing.T) {
	var file map[string]map[string]string
	readJSON(t, "vectors/maps.json", &file)
	for name, f := range map[string]normalizer{"NFC": normalForm(norm.NFC), "NFD": normalForm(norm.NFD), "NFKD": normalForm(norm.NFKD), "Lowercase": lowercase} {
		changed := file[name]
		for _, c := range sample() {
			if 0xac00 <= c && c <= 0xd7a3 {
				continue // the file leaves them out
			}
			want, ok := changed[fmt.Sprintf("%x", c)]
			if !ok && name == "NFKD" { // the file has what differs from NFD
				want, ok = file["NFD"][fmt.Sprintf("%x", c)]
			}
			if !ok {
				want = string(c)
			}
			if got, err := f(alignedOf(string(c))); err != nil || got.text != want {
				t.Errorf("%s of %x: got %+q %v, want %+q", name, c, got.text, err, want)
			}
		}
	}
}

// TestNormalForms compares normal forms with those of x/text, where these limit no sequence of marks.
func TestNormalForms(t *testing.T) {
	old := func(c rune) bool { return !newMarks().contains(c) && !newDecompositions(norm.NFKD).contains(c) }
	var interesting []rune
	for c := range rune(unicode.MaxRune + 1) {
		if p := norm.NFKD.PropertiesString(string(c)); old(c) && (p.CCC() != 0 || p.Decomposition() != nil || c >= 0x1100 && c < 0x1200) {
			interesting = append(interesting, c)
		}
	}
	n := uint64(1)
	draw := func(limit int) int {
		n = n*6364136223846793005 + 1442695040888963407
		return int(n>>33) % limit
	}
	for range 5_000 {
		var b strings.Builder
		for range draw(8) + 1 {
			if draw(3) == 0 {
				b.WriteRune(rune('a' + draw(26)))
			} else {
				b.WriteRune(interesting[draw(len(interesting))])
			}
		}
		for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
			got, err := normalForm(form)(alignedOf(b.String()))
			if want := form.String(b.String()); err != nil || got.text != want {
				t.Fatalf("%v of %+q: got %+q %v, want %+q", form, b.String(), got.text, err, want)
			}
		}
	}
}

// TestGPTWords compares the words of GPT-2 with their expression.
func TestGPTWords(t *testing.T) {
	re, err := regular(`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`)
	if err != nil {
		t.Fatal(err)
	}
	pool := []rune(" \t\n\u00a0a'sdlév1½-!中\u0301😀")
	n := uint64(1)
	for range 3_000 {
		var b strings.Builder
		for {
			n = n*6364136223846793005 + 1442695040888963407
			k := int(n>>33) % (len(pool) + 1)
			if k == len(pool) {
				break
			}
			b.WriteRune(pool[k])
		}
		want, err := re(b.String())
		if got := gptWords(b.String()); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v %v", b.String(), got, want, err)
		}
	}
}
