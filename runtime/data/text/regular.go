package text

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlclark/regexp2"
)

// These are the limits of regular expressions. A file may contain expressions that are made to be
// slow.
const (
	maxExpression = 1 << 14     // bytes
	matchTime     = time.Second // for all matches in a piece of text
	tries         = 3           // of a search; one that is not slow may still take long on a busy or suspended machine
)

// regular returns a pattern for an expression in the syntax of Oniguruma, the library of the
// reference implementation. It returns an error if the expression is too long or not supported. The
// pattern returns an error if a search takes longer than matchTime in each of its tries.
func regular(expr string) (pattern, error) {
	if len(expr) > maxExpression {
		return nil, fmt.Errorf("the expression has %d bytes, more than %d", len(expr), maxExpression)
	}
	translated, err := translate(expr)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", expr, err)
	}
	re, err := regexp2.Compile(translated, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", expr, err)
	}
	re.MatchTimeout = matchTime
	return func(text string) ([]match, error) {
		if text == "" {
			return nil, nil // even if the expression matches it
		}
		matches, err := search(re, text)
		for try := 1; err != nil && try < tries; try++ {
			matches, err = search(re, text)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", expr, err)
		}
		return between(text, matches), nil
	}, nil
}

// search returns all matches. It skips an empty match at the end of the previous match. It returns
// an error if the search takes longer than matchTime.
func search(re *regexp2.Regexp, text string) ([]match, error) {
	runes := make([]rune, 0, len(text))
	offsets := make([]int, 0, len(text)+1)
	for i, c := range text {
		runes, offsets = append(runes, c), append(offsets, i)
	}
	offsets = append(offsets, len(text))
	var out []match
	last := -1 // the end of the last match
	started := time.Now()
	for at := 0; at <= len(runes); {
		m, err := re.FindRunesMatchStartingAt(runes, at)
		switch {
		case err != nil || time.Since(started) > matchTime:
			return nil, errors.New("the expression takes too long on this text")
		case m == nil:
			return out, nil
		}
		start, end := m.Index, m.Index+m.Length
		if start == end && end == last {
			at++
			continue
		}
		out = append(out, match{offsets[start], offsets[end], true})
		at, last = end, end
	}
	return out, nil
}
