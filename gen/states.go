package gen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/nn/record"
)

// keep notes which functions have states. Errors, all at once: a state that changes the
// number of its axes or its type, or that takes an extent which shows only when the model
// runs.
func (s *Source) keep(states []record.State) error {
	var errs []error
	for _, state := range states {
		for i := range s.Functions {
			f := &s.Functions[i]
			if !slices.Contains(state.Funcs, f.Name) {
				continue
			}
			f.States = append(f.States, state.Name)
			if f.Loss {
				errs = append(errs, fmt.Errorf("%s: method %s: state %q: a loss has no states", s.File, f.Method, state.Name))
			}
			if f.Method == "Reset" {
				errs = append(errs, fmt.Errorf("%s: method Reset: sessions with states have a method of this name", s.File))
			}
			fn := s.Module.Func(f.Name)
			after := fn.Results[slices.Index(fn.ResultNames, state.Name)].Type
			known := fn.Symbols()
			for _, d := range after.Shape {
				for _, symbol := range d.Symbols() {
					if !slices.Contains(known, symbol) {
						errs = append(errs, fmt.Errorf("%s: method %s: state %q becomes %s, and %s shows only when it runs", s.File, f.Method, state.Name, after, symbol))
					}
				}
			}
		}
	}
	return errors.Join(errs...)
}

// beginStates makes arguments that are states what they are before the first call.
func beginStates(f *emit.Function, args []any, shapes [][]int) {
	own := &ir.Func{}
	for _, p := range f.IR.Params {
		if !slices.Contains(f.States, p.Name) {
			own.Params = append(own.Params, p)
		}
	}
	known := own.Symbols()
	for i, p := range f.IR.Params {
		if !slices.Contains(f.States, p.Name) {
			continue
		}
		shape, _ := p.Type.Subst(func(symbol string) (ir.Dim, bool) {
			if slices.Contains(known, symbol) {
				return ir.Const(emit.SampleExtent), true
			}
			return ir.Const(0), true
		}).Static()
		n, _ := ir.CheckedLen(shape)
		args[i], shapes[i] = exec.MakeSlice(p.Type.DType, n), shape
	}
}
