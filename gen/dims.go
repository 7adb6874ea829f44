package gen

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
)

// fix sets or bounds symbolic extents of a described model in all of its functions. dims maps
// symbols to extents or ranges. It returns all errors joined: invalid extents, and symbols that no
// function has.
func (s *Source) fix(dims map[string]string) error {
	fixed, limits := map[string]dim.Dim{}, map[string]int{}
	var errs []error
	var symbols []string
	for _, offered := range s.Functions {
		for _, p := range s.Module.Func(offered.Name).Params {
			for _, d := range p.Type.Shape {
				symbols = append(symbols, d.Symbols()...)
			}
		}
	}
	slices.Sort(symbols)
	symbols = slices.Compact(symbols)
	for _, name := range slices.Sorted(maps.Keys(dims)) {
		n, bounded, err := onnx.ParseExtent(dims[name])
		symbol, unknown := onnx.Named("dimension", name, symbols)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: -dim %.100s=%.100s: %w", s.File, name, dims[name], err))
		case unknown != nil:
			errs = append(errs, fmt.Errorf("%s: -dim %.100s: %w", s.File, name, unknown))
		case bounded:
			limits[symbol] = int(n)
		default:
			fixed[symbol] = dim.Const64(n)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.Limits = limits
	if len(fixed) == 0 {
		return nil
	}
	for _, offered := range s.Functions {
		s.Module.Func(offered.Name).Subst(fixed)
	}
	if err := ir.Verify(s.Module); err != nil {
		return fmt.Errorf("%s: -dim: %w", s.File, err)
	}
	return nil
}
