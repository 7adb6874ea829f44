package onnx

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

type symbols struct {
	names map[string]string  // the model's text → symbol
	taken map[string]bool    // symbols
	next  map[string]int     // the last number appended to make a symbol unique
	fixed map[string]dim.Dim // extents set by Options.Dims, by the model's text or symbol
}

func newSymbols() symbols {
	return symbols{names: map[string]string{}, taken: map[string]bool{}, next: map[string]int{}, fixed: map[string]dim.Dim{}}
}

// dim returns the extent for a dimension parameter of the model. Parameters with the same text have
// the same extent. Options.Dims may set or bound the extent.
func (s *symbols) dim(text string) dim.Dim {
	name, ok := s.names[text]
	if !ok {
		hint := ir.SymbolName(text)
		name = hint
		for s.taken[name] {
			s.next[hint] = max(s.next[hint]+1, 2)
			name = hint + "_" + strconv.Itoa(s.next[hint])
		}
		s.names[text], s.taken[name] = name, true
	}
	if d, ok := s.fixed[text]; ok {
		return d
	}
	if d, ok := s.fixed[name]; ok {
		return d
	}
	return dim.Sym(name)
}

func (s *symbols) readOptions(im *importer) {
	dims := map[string]string{}
	for text, extent := range im.options.Dims {
		dims[unquoted(text)] = extent
	}
	im.options.Dims = dims
	for _, name := range slices.Sorted(maps.Keys(dims)) {
		switch n, bounded, err := ParseExtent(dims[name]); {
		case err != nil:
			im.problems.add("-dim %s=%s: %v", plain(name), plain(dims[name]), err)
		case bounded:
			im.Limits[name] = int(n)
		default:
			s.fixed[name] = dim.Const64(n)
		}
	}
}

// ParseExtent parses the value of a symbol on the command line. The value is an extent such as "4",
// or a range such as "1..64". For a range, ParseExtent returns the upper end and true. It returns an
// error for other texts, and if the extent or the upper end is 0.
func ParseExtent(text string) (n int64, bounded bool, err error) {
	low, high, bounded := strings.Cut(text, "..")
	if !bounded {
		high = low
	}
	least, errLow := strconv.ParseInt(low, 10, 64)
	n, errHigh := strconv.ParseInt(high, 10, 64)
	switch {
	case errLow != nil || errHigh != nil || least < 0 || n < least || bounded && n > math.MaxInt32:
		return 0, false, errors.New("an extent, as in 4, or a range of extents, as in 1..64, expected")
	case n == 0:
		return 0, false, errors.New("an extent of at least 1 expected: tensors without elements leave nothing to compute")
	}
	return n, bounded, nil
}

// checkOptions reports the names in Options.Dims that are not dimensions of the model. A
// dimension's text in the model can differ from its symbol in the IR. If im.Limits has an upper
// bound for the text, checkOptions moves the bound to the symbol.
func (s *symbols) checkOptions(im *importer) {
	im.problems.at = beforeNodes
	for _, name := range slices.Sorted(maps.Keys(im.options.Dims)) {
		symbol, ok := s.names[name]
		if !ok && !s.taken[name] {
			_, err := Named("dimension", name, slices.Sorted(maps.Keys(s.taken)))
			im.problems.add("-dim %s: %v", plain(name), err)
		}
		if most, bounded := im.Limits[name]; bounded && ok && symbol != name {
			delete(im.Limits, name)
			im.Limits[symbol] = most
		}
	}
}
