package rt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Symbols holds the values that a model's symbolic extents have in one call:
// the first place a symbol stands in binds it, the others must agree. It is made
// once per session.
type Symbols struct {
	names  []string
	values []int // -1 while unbound
}

// NewSymbols returns the symbols of a model, all unbound.
func NewSymbols(names ...string) Symbols {
	s := Symbols{names, make([]int, len(names))}
	s.Reset()
	return s
}

// Reset unbinds all symbols.
func (s *Symbols) Reset() {
	for i := range s.values {
		s.values[i] = -1
	}
}

// Value returns what symbol k is bound to, -1 if to nothing.
func (s *Symbols) Value(k int) int { return s.values[k] }

// Bind binds symbol k to v, or compares v with what it is bound to.
func (s *Symbols) Bind(where string, k, v int) error {
	switch {
	case v < 0:
		return fmt.Errorf("%s: %s = %d: extent is negative", where, s.names[k], v)
	case s.values[k] < 0:
		s.values[k] = v
	case s.values[k] != v:
		return fmt.Errorf("%s: %s = %d: it is %d elsewhere", where, s.names[k], v, s.values[k])
	}
	return nil
}

// AnyDim stands for any extent in the shapes that [Symbols.CheckShape] takes.
const AnyDim = -1

// Sym stands for symbol k in the shapes that [Symbols.CheckShape] takes.
func Sym(k int) int { return -2 - k }

// CheckShape checks a caller's shape, called where, against want: an extent of 0
// or more stands for itself, Sym(k) for symbol k, which is bound or compared,
// [AnyDim] for whatever comes.
func (s *Symbols) CheckShape(where string, shape []int, want ...int) error {
	if len(shape) != len(want) {
		return fmt.Errorf("%s: shape %v: %s expected", where, slices.Clone(shape), s.format(want))
	}
	for i, n := range shape {
		w := want[i]
		k := Sym(w) // the inverse of Sym is Sym
		switch {
		case n < 0:
			return fmt.Errorf("%s: shape %v: extent %d is negative", where, slices.Clone(shape), i)
		case w == AnyDim:
		case w >= 0 && w != n:
			return fmt.Errorf("%s: shape %v: %s expected", where, slices.Clone(shape), s.format(want))
		case w >= 0:
		case s.values[k] < 0:
			s.values[k] = n
		case s.values[k] != n:
			return fmt.Errorf("%s: shape %v: %s expected, and %s is %d elsewhere", where, slices.Clone(shape), s.format(want), s.names[k], s.values[k])
		}
	}
	return nil
}

// format returns want as "[N,3,?]".
func (s *Symbols) format(want []int) string {
	parts := make([]string, len(want))
	for i, w := range want {
		switch {
		case w >= 0:
			parts[i] = strconv.Itoa(w)
		case w == AnyDim:
			parts[i] = "?"
		default:
			parts[i] = s.names[Sym(w)]
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// CheckMax compares the bound symbols with the largest extents of a session.
func (s *Symbols) CheckMax(where string, max Max) error {
	for k, name := range s.names {
		if limit, ok := max[name]; ok && s.values[k] > limit {
			return fmt.Errorf("%s: %s = %d: session holds %d at most", where, name, s.values[k], limit)
		}
	}
	return nil
}

// Max says how large a symbolic extent may become in a session: rt.Max{"N": 64}.
type Max map[string]int

// Check returns an error for an extent below 1 and for a name that is none of the
// symbols. A symbol that m does not have is unlimited.
func (m Max) Check(where string, symbols ...string) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(symbols, name) {
			return fmt.Errorf("%s: Max[%q]: the model has no such symbol, only [%s]", where, name, strings.Join(symbols, ","))
		}
		if m[name] < 1 {
			return fmt.Errorf("%s: Max[%q] = %d: 1 or more expected", where, name, m[name])
		}
	}
	return nil
}
