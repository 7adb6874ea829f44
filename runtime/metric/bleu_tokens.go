package metric

import (
	"regexp"
	"strings"
)

// bleuRules are the replacements of the tokenizer 13a of the script mteval-v13a, in their order.
// They put spaces around ASCII punctuation. They do not put spaces around apostrophes, nor around
// periods, commas and dashes that may be part of a number or a word.
var bleuRules = []struct {
	match *regexp.Regexp
	with  string
}{
	{regexp.MustCompile(`[!-&(-+/:-@\[-` + "`" + `{-~]`), " $0 "},
	{regexp.MustCompile(`([^0-9])([.,])`), "$1 $2 "},
	{regexp.MustCompile(`([.,])([^0-9])`), " $1 $2"},
	{regexp.MustCompile(`([0-9])(-)`), "$1 $2 "},
}

// bleuEntities are pairs of an entity and its replacement. The tokenizer replaces them in this
// order.
var bleuEntities = [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}

func bleuTokens(text string) []string {
	text = strings.TrimRightFunc(text, isSpace)
	text = strings.ReplaceAll(text, "<skipped>", "")
	text = strings.ReplaceAll(text, "-\n", "")
	text = strings.ReplaceAll(text, "\n", " ")
	for _, e := range bleuEntities {
		text = strings.ReplaceAll(text, e[0], e[1])
	}
	text = " " + text + " "
	for _, r := range bleuRules {
		text = r.match.ReplaceAllString(text, r.with)
	}
	return words(text)
}
