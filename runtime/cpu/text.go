package cpu

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/burngen/burngen/runtime/rt"
)

// StringConcat concatenates strings: dst[i] = a[i] + b[i] (ONNX StringConcat). The slices have the
// same length. StringConcat returns an error if the results together exceed [rt.ArenaLimit].
func StringConcat(dst, a, b []string) error {
	room := rt.ArenaLimit(0)
	for i := range dst {
		if room -= int64(len(a[i])) + int64(len(b[i])); room < 0 {
			return fmt.Errorf("texts: limit is %d bytes (rt.ArenaLimit)", rt.ArenaLimit(0))
		}
	}
	zip(dst, a, b, func(x, y string) string { return x + y })
	return nil
}

// ChangeCase sets dst[i] to x[i] in lower case, or in upper case if upper is true (ONNX
// StringNormalizer). It converts letter by letter.
func ChangeCase(dst, x []string, upper bool) {
	if upper {
		each(dst, x, strings.ToUpper)
		return
	}
	each(dst, x, strings.ToLower)
}

// RegexFullMatch reports which elements of x match a regular expression as a whole (ONNX
// RegexFullMatch). It returns an error if the expression is invalid.
func RegexFullMatch(dst []bool, x []string, pattern string) error {
	whole, err := wholeRegexp(pattern)
	if err == nil {
		each(dst, x, whole.MatchString)
	}
	return err
}

var regexps sync.Map

// wholeRegexp compiles a regular expression that matches only whole texts. It returns an error if
// pattern is invalid.
func wholeRegexp(pattern string) (*regexp.Regexp, error) {
	if re, ok := regexps.Load(pattern); ok {
		return re.(*regexp.Regexp), nil
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err == nil {
		regexps.Store(pattern, re)
	}
	return re, err
}

// CountWithoutStopwords returns the length of the result of [RemoveStopwords].
func CountWithoutStopwords(x, words []string, caseSensitive bool) int {
	n := 0
	for _, s := range x {
		if !isStopword(words, s, caseSensitive) {
			n++
		}
	}
	return max(n, 1)
}

// RemoveStopwords copies the elements of x that are not in `words` to dst (ONNX StringNormalizer).
// It ignores case unless caseSensitive is set. If no element is left, the result is one empty
// string. dst has at least [CountWithoutStopwords] elements.
func RemoveStopwords(dst, x, words []string, caseSensitive bool) {
	dst = trim(dst, CountWithoutStopwords(x, words, caseSensitive))
	dst[0] = ""
	n := 0
	for _, s := range x {
		if !isStopword(words, s, caseSensitive) {
			dst[n] = s
			n++
		}
	}
}

func isStopword(words []string, s string, caseSensitive bool) bool {
	for _, w := range words {
		if w == s || !caseSensitive && strings.EqualFold(w, s) {
			return true
		}
	}
	return false
}

// StringParts returns the largest number of parts that [StringSplit] finds in an
// element of x.
func StringParts(x []string, delimiter string, maxSplit int) int {
	most := 0
	for _, s := range x {
		most = max(most, splitParts(nil, s, delimiter, maxSplit))
	}
	return most
}

// StringSplit splits each element of x at delimiter, at most maxSplit times (ONNX StringSplit). A
// row of dst receives the parts of one element, padded with empty strings. counts receives the
// number of parts of each element. An empty delimiter means any sequence of white space; then no
// part is empty. A row of dst has len(dst)/len(counts) elements, which must be at least
// [StringParts].
func StringSplit(dst []string, counts []int64, x []string, delimiter string, maxSplit int) {
	x = trim(x, len(counts))
	clear(dst)
	for i, s := range x {
		width := len(dst) / len(x)
		counts[i] = int64(splitParts(dst[i*width:][:width], s, delimiter, maxSplit))
	}
}

// splitParts splits s, and returns the number of parts. It stores the parts in dst unless dst is
// nil.
func splitParts(dst []string, s, delimiter string, maxSplit int) int {
	n := 0
	put := func(part string) {
		if dst != nil {
			dst[n] = part
		}
		n++
	}
	if delimiter != "" {
		for n < maxSplit {
			before, after, found := strings.Cut(s, delimiter)
			if !found {
				break
			}
			put(before)
			s = after
		}
		put(s)
		return n
	}
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || n >= maxSplit {
			end = len(s)
		}
		put(s[:end])
		s = s[end:]
	}
	return n
}
