package rt

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Match returns a view of the parameters whose names match at least one of the
// patterns, see [MatchName], in the order of p. What is wrong with the patterns, one
// that matches nothing included, shows in Err and when an optimizer is bound.
func (p *Params) Match(patterns ...string) *Params { return p.choose(patterns, true) }

// Except returns a view of the parameters whose names match none of the patterns.
// It is otherwise like [Params.Match].
func (p *Params) Except(patterns ...string) *Params { return p.choose(patterns, false) }

// choose returns a view of the parameters that match, or of the others.
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

// MatchName reports whether a pattern matches the name of a parameter. Names are
// paths whose elements a dot or a slash ends. A pattern is a path, too: it matches
// what it names and everything below, so "body" matches "body.0.weight". In an element
// of the pattern * stands for any text, ? for a character, [a-z] for one of a range,
// and \ takes the meaning from what follows, as in [path.Match]; the element ** stands
// for any number of elements, as in "**.bias". Errors: a malformed pattern.
func MatchName(pattern, name string) (bool, error) {
	elements := split(pattern)
	for _, e := range elements {
		if _, err := path.Match(e, ""); err != nil || e == "" {
			return false, fmt.Errorf("pattern %.100q: malformed", pattern)
		}
	}
	return matchElements(elements, split(name)), nil
}

// split returns the elements of a path. A separator at its start is ignored.
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

// matchElements reports whether a pattern of sound elements matches a path or one that
// it is below.
func matchElements(pattern, name []string) bool {
	// reach[i] says that the pattern up to the current element matches the first i
	// elements of the name.
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
