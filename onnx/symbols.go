package onnx

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
)

// symbols maps what a model writes for dimensions to symbols of the IR.
type symbols struct {
	names map[string]string // the model's text → symbol
	taken map[string]bool   // symbols
	next  map[string]int    // the number tried last to make a symbol unique
	fixed map[string]ir.Dim // texts and symbols that Options.Dims fix
}

func newSymbols() symbols {
	return symbols{names: map[string]string{}, taken: map[string]bool{}, next: map[string]int{}, fixed: map[string]ir.Dim{}}
}

// dim returns the extent that a model's text for a dimension stands for: the
// same for the same text, and what Options.Dims say of it.
func (s *symbols) dim(text string) ir.Dim {
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
	return ir.Sym(name)
}

// readOptions reads Options.Dims.
func (s *symbols) readOptions(im *importer) {
	for _, name := range slices.Sorted(maps.Keys(im.options.Dims)) {
		switch n, bounded, err := ParseExtent(im.options.Dims[name]); {
		case err != nil:
			im.problems.add("-dim %s=%s: %v", plain(name), plain(im.options.Dims[name]), err)
		case bounded:
			im.Limits[name] = int(n)
		default:
			s.fixed[name] = ir.Const64(n)
		}
	}
}

// ParseExtent reads what is given for a symbol: the extent that it stands for, "4", or a
// range, "1..64", which bounds it by its end.
func ParseExtent(text string) (n int64, bounded bool, err error) {
	low, high, bounded := strings.Cut(text, "..")
	if !bounded {
		high = low
	}
	least, errLow := strconv.ParseInt(low, 10, 64)
	n, errHigh := strconv.ParseInt(high, 10, 64)
	if errLow != nil || errHigh != nil || least < 0 || n < least || bounded && n > math.MaxInt32 {
		return 0, false, errors.New("an extent or a range of extents expected")
	}
	return n, bounded, nil
}

// checkOptions reports the dimensions of Options.Dims that the model does not
// have.
func (s *symbols) checkOptions(im *importer) {
	im.problems.at = beforeNodes
	for _, name := range slices.Sorted(maps.Keys(im.options.Dims)) {
		if _, ok := s.names[name]; !ok && !s.taken[name] {
			im.problems.add("-dim %s: the model has no such dimension", plain(name))
		}
	}
}
