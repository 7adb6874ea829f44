package keys

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// Map describes how names in a file become names of a model. The fields apply in their order. The
// zero Map changes nothing.
type Map struct {
	Top      string // Top-level key: names outside of it are dropped, names inside lose it
	Rules    []Rule // applied in order
	Renumber bool   // whether to close gaps in indices

	// Transpose are patterns of the rewritten names of matrices that the model stores transposed,
	// such as the weight of a Linear layer that computes x·W.
	Transpose []*regexp.Regexp
}

// Rule rewrites names with a regular expression.
type Rule struct {
	Pattern     *regexp.Regexp
	Replacement string // with $1 and ${name} for the pattern's groups
}

// maxRule is the largest length in bytes of a rule, and of a name that a rule produces. Longer ones
// are errors.
const maxRule = 1 << 16

// ParseRule parses "regex=>replacement". Every match of the regular expression (in the syntax of
// package regexp) becomes the replacement, in which $1 and ${1} stand for groups. It returns an
// error if "=>" is missing, the expression is invalid, or text exceeds 64 KiB.
func ParseRule(text string) (Rule, error) {
	pattern, replacement, ok := strings.Cut(text, "=>")
	if !ok {
		return Rule{}, fmt.Errorf("remap %.100q: regex=>replacement expected", text)
	}
	if len(text) > maxRule {
		return Rule{}, fmt.Errorf("remap %.100q: %d bytes: limit is %d", text, len(text), maxRule)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Rule{}, fmt.Errorf("remap %.100q: %w", text, err)
	}
	return Rule{re, replacement}, nil
}

// ParsePattern parses a regular expression that selects the matrices to transpose.
func ParsePattern(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("transpose %.100q: %w", text, err)
	}
	return re, nil
}

// String returns the rule in the syntax of ParseRule.
func (r Rule) String() string { return fmt.Sprintf("%v=>%s", r.Pattern, r.Replacement) }

// IsZero reports whether m changes nothing.
func (m Map) IsZero() bool {
	return m.Top == "" && len(m.Rules) == 0 && !m.Renumber && len(m.Transpose) == 0
}

// Names maps each name to its rewritten form. Names outside of Top are left out. If no name is
// inside Top, it returns an error that lists the keys that exist. It also returns an error if two
// names become the same, a name becomes longer than 64 KiB, or a rule does not have a pattern.
func (m Map) Names(names []string) (map[string]string, error) {
	if slices.ContainsFunc(m.Rules, func(r Rule) bool { return r.Pattern == nil }) {
		return nil, errors.New("remap: a rule without a pattern")
	}
	became := make(map[string]string, len(names))
	for _, name := range names {
		below := name
		if m.Top != "" {
			var ok bool
			if below, ok = strings.CutPrefix(name, m.Top+"."); !ok {
				continue
			}
		}
		for _, r := range m.Rules {
			below = r.Pattern.ReplaceAllString(below, r.Replacement)
			if len(below) > maxRule {
				return nil, fmt.Errorf("remap %v: makes a name of %d bytes of %.100q", r, len(below), name)
			}
		}
		became[name] = below
	}
	if m.Top != "" && len(became) == 0 {
		return nil, fmt.Errorf("top key %.100q: no tensor is below it; there are %s", m.Top, list(tops(names)))
	}
	if m.Renumber {
		renumber(became)
	}
	return became, unique(became)
}

// Apply returns the weights under their new names, in the same memory, and closes w. Closing the
// result releases the memory. If the Map is zero, Apply returns w itself and does not close it. Apply
// returns the errors of w, of [Map.Names] and of [rt.Weights.Transpose]. It also returns an error if
// a pattern of Transpose is nil or matches no name. After an error w stays open.
func (m Map) Apply(w *rt.Weights) (*rt.Weights, error) {
	if m.IsZero() {
		return w, w.Err()
	}
	renamed, err := m.renamed(w)
	if err != nil {
		return nil, err
	}
	return renamed, w.Close()
}

// renamed is Apply without closing w.
func (m Map) renamed(w *rt.Weights) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	names, err := m.Names(w.Names())
	if slices.Contains(m.Transpose, nil) {
		err = errors.Join(err, errors.New("transpose: no pattern"))
	}
	if err != nil {
		return nil, err
	}
	renamed, err := w.Renamed(names)
	if err != nil {
		return nil, err
	}
	for _, re := range m.Transpose {
		matrices := slices.DeleteFunc(renamed.Names(), func(name string) bool { return !re.MatchString(name) })
		if len(matrices) == 0 {
			return nil, errors.Join(fmt.Errorf("transpose %.100q: no tensor is called so", re), renamed.Close())
		}
		if err := renamed.Transpose(matrices...); err != nil {
			return nil, errors.Join(err, renamed.Close())
		}
	}
	return renamed, nil
}

// unique returns an error if several old names became the same new name. The error lists all such
// names. `became` maps old names to new names.
func unique(became map[string]string) error {
	from := map[string][]string{}
	for old, name := range became {
		from[name] = append(from[name], old)
	}
	var errs []error
	for name, olds := range from {
		if len(olds) > 1 {
			slices.Sort(olds)
			errs = append(errs, fmt.Errorf("remap: %s all become %.100q", list(olds), name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func tops(names []string) []string {
	var firsts []string
	for _, name := range names {
		first, _, _ := strings.Cut(name, ".")
		firsts = append(firsts, first)
	}
	slices.Sort(firsts)
	return slices.Compact(firsts)
}

// listed is the largest number of names in an error.
const listed = 8

// list formats names for an error, at most [listed] of them.
func list(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == listed {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.100q", name)
	}
	return b.String()
}

// renumber changes the new names, the values of `became`, so that their indices have no gaps. An
// index is an element of a name that is a number. For example, "layer.3" and "layer.7" become
// "layer.0" and "layer.1".
func renumber(became map[string]string) {
	indices := map[string][]int{} // keyed by the elements before the index
	for _, name := range became {
		for before, index := range numbers(name) {
			indices[before] = append(indices[before], index)
		}
	}
	for before, list := range indices {
		slices.Sort(list)
		indices[before] = slices.Compact(list)
	}
	for old, name := range became {
		parts := strings.Split(name, ".")
		for before, index := range numbers(name) {
			i, _ := slices.BinarySearch(indices[before], index)
			parts[strings.Count(before, ".")] = strconv.Itoa(i)
		}
		became[old] = strings.Join(parts, ".")
	}
}

// numbers yields each index in a name, with the text before it. For "a.2.b.0" it yields "a.", 2 and
// then "a.2.b.", 0.
func numbers(name string) func(func(string, int) bool) {
	return func(yield func(string, int) bool) {
		for at := 0; at < len(name); {
			end := strings.IndexByte(name[at:], '.')
			if end < 0 {
				end = len(name) - at
			}
			part := name[at : at+end]
			if n, err := strconv.Atoi(part); err == nil && strconv.Itoa(n) == part && n >= 0 {
				if !yield(name[:at], n) {
					return
				}
			}
			at += end + 1
		}
	}
}
