package hf

import (
	"fmt"
	"regexp"
	"strings"
)

// pattern translates a pattern of files to an expression for paths. In an element of a path, *
// matches any text, and ? matches one character. [abc] matches one of the characters a, b and c,
// and [!abc] matches one character other than these. The element ** matches any number of elements.
func pattern(text string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	parts := strings.Split(strings.TrimPrefix(text, "./"), "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "**" && last:
			b.WriteString("(?:[^/]+/)*[^/]+")
		case part == "**":
			b.WriteString("(?:[^/]+/)*")
		default:
			writePart(&b, part)
			if !last {
				b.WriteString("/")
			}
		}
	}
	b.WriteString("$")
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	return re, nil
}

// writePart translates one element of a pattern.
func writePart(b *strings.Builder, part string) {
	for len(part) > 0 {
		c := part[:1]
		end := strings.IndexByte(part, ']')
		switch {
		case c == "*":
			b.WriteString("[^/]*")
		case c == "?":
			b.WriteString("[^/]")
		case c == "[" && end > 1:
			set, not := strings.CutPrefix(part[1:end], "!")
			b.WriteString("[")
			if not {
				b.WriteString("^/")
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(set) + "]")
			part = part[end+1:]
			continue
		default:
			b.WriteString(regexp.QuoteMeta(c))
		}
		part = part[1:]
	}
}

// matching returns the files that match one of the patterns, in the order of the patterns, without
// repetitions.
func matching(files, patterns []string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, p := range patterns {
		re, err := pattern(p)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if !seen[name] && re.MatchString(name) {
				seen[name] = true
				list = append(list, name)
			}
		}
	}
	return list, nil
}
