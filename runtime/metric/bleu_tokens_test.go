package metric

import (
	"strings"
	"testing"
)

// TestBLEUTokens has tokens that sacreBLEU's tokenizer 13a gives.
func TestBLEUTokens(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, world!":         "Hello , world !",
		"1,234.5 and 3.":        "1,234.5 and 3 .",
		"a.b":                   "a . b",
		"don't":                 "don't",
		"well-known 1990-2000":  "well-known 1990 - 2000",
		"(x/y) [z] {w}~`a`":     "( x / y ) [ z ] { w } ~ ` a `",
		"&quot;a&quot; &lt;b>":  "\" a \" < b >",
		"&amp;lt;":              "<",
		"hyphen-\nated\nline":   "hyphenated line",
		"a<skipped>b":           "ab",
		"...":                   ". . .",
		"  \u00a0\u3000 é ü.  ": "é ü .",
		"":                      "",
	} {
		if got := strings.Join(bleuTokens(text), " "); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestEdits compares with the definition: the least of the three last edits.
func TestEdits(t *testing.T) {
	var define func(a, b string) int
	define = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		n := define(a[1:], b[1:])
		if a[0] != b[0] {
			n++
		}
		return min(n, 1+define(a[1:], b), 1+define(a, b[1:]))
	}
	words := []string{"", "a", "ab", "ba", "abcab", "bcbac", "ccc", "cabab"}
	for _, a := range words {
		for _, b := range words {
			if got, want := edits([]byte(a), []byte(b)), define(a, b); got != want {
				t.Errorf("%q and %q: %d edits, want %d", a, b, got, want)
			}
		}
	}
}
