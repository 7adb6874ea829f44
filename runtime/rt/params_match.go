package rt

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Match returns the subset of the parameters whose names match at least one of the patterns, in the
// order of p. [MatchName] describes the patterns. It is an error if a pattern is malformed or
// matches nothing. The subset's method Err returns the error, and so does an optimizer that binds
// the subset.
func (p *Params) Match(patterns ...string) *Params { return p.choose(patterns, true) }

// Except returns the subset of the parameters whose names do not match any of the patterns. Errors
// are reported as in [Params.Match].
func (p *Params) Except(patterns ...string) *Params { return p.choose(patterns, false) }

// choose returns the parameters whose names match at least one pattern. If matching is false, it
// returns the others.
func (p *Params) choose(patterns []string, matching bool) *Params {
	if p == nil || p.all == nil {
		return &Params{err: errors.New("params: none given")}
	}
	found := make([]bool, len(p.at))
	errs := []error{p.err}
	for _, pattern := range patterns {
		some := false
		for k, i := range p.at {
			ok, err := MatchName(pattern, p.all.items[i].Name)
			if err != nil {
				errs, some = append(errs, fmt.Errorf("params: %w", err)), true
				break
			}
			found[k], some = found[k] || ok, some || ok
		}
		if !some {
			errs = append(errs, fmt.Errorf("params: pattern %.100q matches no parameter", pattern))
		}
	}
	var at []int
	for k, ok := range found {
		if ok == matching {
			at = append(at, p.at[k])
		}
	}
	view := p.all.view(at)
	view.err = errors.Join(errs...)
	return view
}

// MatchName reports whether pattern matches the name of a parameter. A name is a path whose
// elements are separated by dots or slashes. A pattern is a path too and matches a name and
// everything below it: "body" matches "body.0.weight". Within an element, * matches any text, ?
// matches one character, [a-z] matches one character of a range, and \ escapes the next character,
// as in [path.Match]. The element ** matches any number of elements, as in "**.bias". MatchName
// returns an error if pattern is malformed.
func MatchName(pattern, name string) (bool, error) {
	elements := split(pattern)
	for _, e := range elements {
		if _, err := path.Match(e, ""); err != nil || e == "" {
			return false, fmt.Errorf("pattern %.100q: malformed", pattern)
		}
	}
	return matchElements(elements, split(name)), nil
}

// split returns the elements of a path, which are separated by dots or slashes. A separator at the
// start is ignored.
func split(name string) []string {
	separator := func(r rune) bool { return r == '.' || r == '/' }
	if name != "" && separator(rune(name[0])) {
		name = name[1:]
	}
	var list []string
	for {
		i := strings.IndexFunc(name, separator)
		if i < 0 {
			return append(list, name)
		}
		list, name = append(list, name[:i]), name[i+1:]
	}
}

// matchElements reports whether pattern, whose elements are well-formed, matches name or one of its
// ancestors.
func matchElements(pattern, name []string) bool {
	// reach[i] reports whether the pattern up to the current element matches the first i elements
	// of the name.
	reach := make([]bool, len(name)+1)
	reach[0] = true
	for _, e := range pattern {
		next := make([]bool, len(name)+1)
		for i, ok := range reach {
			switch {
			case !ok:
			case e == "**":
				for j := i; j <= len(name); j++ {
					next[j] = true
				}
			case i < len(name):
				if matched, _ := path.Match(e, name[i]); matched {
					next[i+1] = true
				}
			}
		}
		reach = next
	}
	for _, ok := range reach {
		if ok {
			return true
		}
	}
	return false
}
