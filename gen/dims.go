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
	for _, name := range slices.Sorted(maps.Keys(dims)) {
		n, bounded, err := onnx.ParseExtent(dims[name])
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: -dim %.100s=%.100s: %w", s.File, name, dims[name], err))
		case !slices.ContainsFunc(s.Module.Funcs, func(f *ir.Func) bool { return takes(f, name) }):
			errs = append(errs, fmt.Errorf("%s: -dim %.100s: no method has such a dimension", s.File, name))
		case bounded:
			limits[name] = int(n)
		default:
			fixed[name] = ir.Const64(n)
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

// takes reports whether an extent of a parameter is a symbol.
func takes(f *ir.Func, symbol string) bool {
	return slices.ContainsFunc(f.Params, func(p *ir.Value) bool {
		return slices.ContainsFunc(p.Type.Shape, func(d ir.Dim) bool { return slices.Contains(d.Symbols(), symbol) })
	})
}
