package gen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn/record"
)

// keep records which functions use states: values that a session keeps between calls. It returns all errors joined.
// It is an error if a loss has a state, or if the method of a function with states is called Reset. It is also an
// error if an extent of a state is known only while the model runs.
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
						errs = append(errs, fmt.Errorf("%s: method %s: state %q becomes %s, and %s is known only at run time", s.File, f.Method, state.Name, after, symbol))
					}
				}
			}
		}
	}
	return errors.Join(errs...)
}

// BeginStates sets the initial values of states, in args. If an argument of Forward is a state and is nil, it
// becomes a tensor of zeros. A state gets extent 0 along symbols that no other argument has. BeginStates returns an
// error if a state has a negative extent or more elements than an int can count.
func (m *Model) BeginStates(args []any, shapes [][]int) error {
	return beginStates(m.Forward.IR, m.Source.Functions[0].States, args, shapes)
}

func beginStates(f *ir.Func, states []string, args []any, shapes [][]int) error {
	known := map[string]int{}
	for i, p := range f.Params {
		if slices.Contains(states, p.Name) || len(shapes[i]) != len(p.Type.Shape) {
			continue
		}
		for axis, n := range shapes[i] {
			known[p.Type.Shape[axis].String()] = n
		}
	}
	for i, p := range f.Params {
		if args[i] != nil || !slices.Contains(states, p.Name) {
			continue
		}
		shape, _ := p.Type.Subst(func(symbol string) (dim.Dim, bool) { return dim.Const(known[symbol]), true }).Static()
		n, err := ir.CheckedLen(shape)
		if err != nil {
			return fmt.Errorf("state %q: %w", p.Name, err)
		}
		args[i], shapes[i] = exec.MakeSlice(p.Type.DType, n), shape
	}
	return nil
}
