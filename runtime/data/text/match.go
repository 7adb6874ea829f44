package text

import (
	"strings"
	"unicode/utf8"
)

// match is a part of a text: a match of a pattern, or a gap before, between or after matches.
type match struct {
	start, end int
	found      bool
}

// pattern cuts a text into its matches and the gaps between them.
type pattern func(text string) ([]match, error)

// between adds the gaps to the matches of a text.
func between(text string, matches []match) []match {
	out, at := make([]match, 0, 2*len(matches)+1), 0
	for _, m := range matches {
		if at != m.start {
			out = append(out, match{at, m.start, false})
		}
		out, at = append(out, m), m.end
	}
	if at != len(text) {
		out = append(out, match{at, len(text), false})
	}
	return out
}

// charactersIn matches each character for which in is true.
func charactersIn(in func(rune) bool) pattern {
	return func(text string) ([]match, error) {
		var out []match
		for i, c := range text {
			if in(c) {
				_, size := utf8.DecodeRuneInString(text[i:])
				out = append(out, match{i, i + size, true})
			}
		}
		return between(text, out), nil
	}
}

// runsOf matches the longest sequences of characters of the same class. The class of a character is the first of
// classes that is true for it.
func runsOf(classes ...func(rune) bool) pattern {
	return func(text string) ([]match, error) {
		var out []match
		last := -1
		for i, c := range text {
			class := -1
			for k, in := range classes {
				if in(c) {
					class = k
					break
				}
			}
			_, size := utf8.DecodeRuneInString(text[i:])
			if class >= 0 && class == last {
				out[len(out)-1].end = i + size
			} else if class >= 0 {
				out = append(out, match{i, i + size, true})
			}
			last = class
		}
		return between(text, out), nil
	}
}

// literal matches a string, which is not empty.
func literal(s string) pattern {
	return func(text string) ([]match, error) {
		var out []match
		for at := 0; ; {
			i := strings.Index(text[at:], s)
			if i < 0 {
				break
			}
			out = append(out, match{at + i, at + i + len(s), true})
			at += i + len(s)
		}
		return between(text, out), nil
	}
}

// inverted exchanges matches and gaps.
func inverted(p pattern) pattern {
	return func(text string) ([]match, error) {
		matches, err := p(text)
		for i := range matches {
			matches[i].found = !matches[i].found
		}
		return matches, err
	}
}

// replacedSize returns the length of a text with content in place of its matches.
func replacedSize(matches []match, content string) int {
	size := 0
	for _, m := range matches {
		if m.found {
			size += len(content)
		} else {
			size += m.end - m.start
		}
	}
	return size
}

// readPattern reads a field "pattern": a string or a regular expression.
func readPattern(o *object) pattern {
	p, err := o.at("pattern").object()
	if err != nil {
		o.fail(err)
		return nil
	}
	s, expr := get(p, "String", ""), ""
	if p.at("String").missing() {
		expr = need[string](p, "Regex")
	}
	if p.err != nil {
		o.fail(p.err)
		return nil
	}
	if s != "" {
		return literal(s)
	}
	re, err := regular(expr)
	if err != nil {
		o.fail(p.at("Regex").errorf("%w", err))
	}
	return re
}
