package rt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"
)

// Stater has a state that [SaveState] saves and [LoadState] restores: trainers,
// optimizers, [Params]. State registers its variables, always the same and under
// the same names, with [StateTensor] and [StateScalar].
type Stater interface{ State(s *State) }

// State is a list of variables.
type State struct {
	vars []variable
	save []func() error
	load []func() error
}

// variable is memory that is saved and restored.
type variable struct {
	name string
	add  func(w *Weights, name string)
	read func(w *Weights, name string) (restore func(), err error)
}

// StateTensor registers the elements of data, which have the given shape; no shape
// stands for a scalar.
func StateTensor[T Number | bool](s *State, name string, data []T, shape ...int) {
	shape = slices.Clone(shape)
	s.vars = append(s.vars, variable{
		name: name,
		add:  func(w *Weights, name string) { Add(w, name, data, shape...) },
		read: func(w *Weights, name string) (func(), error) {
			if err := (Tensor[T]{data, shape}).Check(); err != nil {
				return nil, err
			}
			stored, err := read[T](w, name, shape)
			return func() { copy(data, stored) }, err
		},
	})
}

// StateScalar registers a number.
func StateScalar[T Number | bool](s *State, name string, x *T) {
	var data []T
	if x != nil {
		data = unsafe.Slice(x, 1)
	}
	StateTensor(s, name, data)
}

// StateFunc registers what prepares the variables before they are saved and what
// takes them over after all have been restored. Either may be nil.
func StateFunc(s *State, save, load func() error) {
	if save != nil {
		s.save = append(s.save, save)
	}
	if load != nil {
		s.load = append(s.load, load)
	}
}

// SaveState writes the state of the parts, which are named by the caller, into one
// safetensors file whose names are "part/variable". A file of that name is replaced
// when the new one is whole, and stays as it is on error.
func SaveState(path string, parts map[string]Stater) error {
	err := func() error {
		states, err := statesOf(parts)
		if err != nil {
			return err
		}
		w := NewWeights()
		for _, part := range slices.Sorted(maps.Keys(states)) {
			s := states[part]
			for _, f := range s.save {
				if err := f(); err != nil {
					return fmt.Errorf("%s: %w", part, err)
				}
			}
			for _, v := range s.vars {
				v.add(w, part+"/"+v.name)
			}
		}
		return w.Save(path)
	}()
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// LoadState restores the state of the parts, bit for bit, from a file that SaveState
// wrote; parts of the file that are not asked for are ignored. Configurations are not
// in the file: the parts must be made as they were. Errors, all of them at once: a
// file that is not whole or was changed, variables that are missing, that have another
// type or shape, and that a part does not have. No part has changed then. Last come
// errors of what [StateFunc] registered.
func LoadState(path string, parts map[string]Stater) error {
	states, err := statesOf(parts)
	if err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	w := OpenWeightsFile(path)
	defer w.Close()
	if err := w.Err(); err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	if err := restore(w, states); err != nil {
		return fmt.Errorf("load state: %s: %w", path, err)
	}
	return nil
}

// restore gives the variables of states their values in w.
func restore(w *Weights, states map[string]*State) error {
	if err := w.Verify(); err != nil {
		return err
	}
	parts := slices.Sorted(maps.Keys(states))
	var copies []func()
	var errs []error
	known := map[string]bool{}
	for _, part := range parts {
		for _, v := range states[part].vars {
			name := part + "/" + v.name
			known[name] = true
			f, err := v.read(w, name)
			if err != nil {
				errs = append(errs, fmt.Errorf("%.100q: %w", name, err))
			}
			copies = append(copies, f)
		}
	}
	for _, name := range w.Names() {
		part, _, _ := strings.Cut(name, "/")
		if _, wanted := states[part]; wanted && !known[name] {
			errs = append(errs, fmt.Errorf("%.100q: not among the variables of %.100q", name, part))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, f := range copies {
		f()
	}
	for _, part := range parts {
		for _, f := range states[part].load {
			if err := f(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", part, err))
			}
		}
	}
	return errors.Join(errs...)
}

// statesOf returns what the parts register. Errors: a name that is empty or has a
// slash, a part that is nil.
func statesOf(parts map[string]Stater) (map[string]*State, error) {
	states := map[string]*State{}
	var errs []error
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		switch {
		case part == "" || strings.Contains(part, "/"):
			errs = append(errs, fmt.Errorf("part %.100q: not a name without slashes", part))
		case parts[part] == nil:
			errs = append(errs, fmt.Errorf("part %.100q is nil", part))
		default:
			states[part] = &State{}
			parts[part].State(states[part])
		}
	}
	return states, errors.Join(errs...)
}
