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
		"a\x1cb":                "a b",
		"":                      "",
	} {
		if got := strings.Join(bleuTokens(text), " "); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
