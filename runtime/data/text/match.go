package text

import (
	"strings"
	"unicode/utf8"
)

// match is a range of bytes of a text: a match of a pattern, or a gap before, between or after
// matches.
type match struct {
	start, end int
	// it is a match, not a gap
	found bool
}

// pattern divides a text into its matches and the gaps between them.
type pattern func(text string) ([]match, error)

// between returns matches and the gaps between them, in order.
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

// charactersIn returns a pattern that matches each character for which in is true.
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

// runsOf returns a pattern that matches the longest runs of characters of the same class. The class
// of a character is the index of the first function in classes that is true for it.
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

// literal returns a pattern that matches s, which is not empty.
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

// inverted returns a pattern that matches the gaps of p; the matches of p are its gaps.
func inverted(p pattern) pattern {
	return func(text string) ([]match, error) {
		matches, err := p(text)
		for i := range matches {
			matches[i].found = !matches[i].found
		}
		return matches, err
	}
}

// replacedSize returns the length in bytes of a text after its matches are replaced by content.
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

// readPattern reads the field "pattern": a string to find or a regular expression.
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
