package rt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Symbols holds the values of a model's symbolic extents during one call. The first extent of a
// symbol binds it, and later extents must be equal. Each session has its own Symbols.
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

func (s *Symbols) rename(names []string) {
	if len(names) > cap(s.values) {
		s.values = make([]int, len(names))
	}
	s.names, s.values = names, s.values[:len(names)]
	s.Reset()
}

// Reset unbinds all symbols.
func (s *Symbols) Reset() {
	for i := range s.values {
		s.values[i] = -1
	}
}

// Value returns the value of symbol k, or -1 if it is unbound.
func (s *Symbols) Value(k int) int { return s.values[k] }

// Bind binds symbol k to v. It returns an error if v is negative or k is bound to another value.
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

// AnyDim stands for an arbitrary extent in the shapes that [Symbols.CheckShape] takes.
const AnyDim = -1

// Sym returns the number that stands for symbol k in the shapes that [Symbols.CheckShape] takes.
// Sym is its own inverse: Sym(Sym(k)) is k.
func Sym(k int) int { return -2 - k }

// CheckShape compares `shape`, the shape of the argument called `where`, with `want`. An element
// of `want` of 0 or more is the wanted extent. For an element Sym(k), the extent must equal the
// value of symbol k; if k is unbound, the extent becomes its value. [AnyDim] accepts any extent.
// CheckShape returns an error if the shape does not match.
func (s *Symbols) CheckShape(where string, shape []int, want ...int) error {
	if err := s.checkShape(shape, want); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

func (s *Symbols) checkShape(shape, want []int) error {
	if len(shape) != len(want) {
		return fmt.Errorf("shape %v: %s expected", slices.Clone(shape), s.format(want))
	}
	for i, n := range shape {
		w := want[i]
		k := Sym(w) // the inverse of Sym is Sym
		switch {
		case n < 0:
			return fmt.Errorf("shape %v: extent %d is negative", slices.Clone(shape), i)
		case w == AnyDim:
		case w >= 0 && w != n:
			return fmt.Errorf("shape %v: %s expected", slices.Clone(shape), s.format(want))
		case w >= 0:
		case s.values[k] < 0:
			s.values[k] = n
		case s.values[k] != n:
			return fmt.Errorf("shape %v: %s expected, and %s is %d elsewhere", slices.Clone(shape), s.format(want), s.names[k], s.values[k])
		}
	}
	return nil
}

// format returns a declared shape with the names of its symbols, such as "[N,3,?]".
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

// CheckMax returns an error if a bound symbol exceeds its limit in max.
func (s *Symbols) CheckMax(where string, max Max) error {
	for k, name := range s.names {
		if limit, ok := max[name]; ok && s.values[k] > limit {
			return fmt.Errorf("%s: %s = %d: session holds %d at most", where, name, s.values[k], limit)
		}
	}
	return nil
}

// Max maps symbolic extents to the largest values that a session accepts: rt.Max{"N": 64}.
type Max map[string]int

// Check returns an error if a limit in m is below 1 or a key of m is not in symbols. A symbol that
// is not in m is unlimited.
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
