package gen

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// fix gives symbols of a described model the extents that dims says, in every function
// that has them, or the largest ones. Errors, all at once: what is no extent, and symbols
// that no function has.
func (s *Source) fix(dims map[string]string) error {
	fixed, limits := map[string]ir.Dim{}, map[string]int{}
	var errs []error
	var symbols []string
	for _, f := range s.Module.Funcs {
		for _, p := range f.Params {
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
			fixed[symbol] = ir.Const64(n)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.Limits = limits
	if len(fixed) == 0 {
		return nil
	}
	for _, f := range s.Module.Funcs {
		f.Subst(fixed)
	}
	if err := ir.Verify(s.Module); err != nil {
		return fmt.Errorf("%s: -dim: %w", s.File, err)
	}
	return nil
}
