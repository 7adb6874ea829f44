package rt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"
)

// Stater is a trainer, optimizer, [Params] or other value whose state [SaveState] saves and
// [LoadState] restores. State registers its variables with [StateTensor] and [StateScalar]. It must
// register the same variables under the same names every time.
type Stater interface{ State(s *State) }

// State collects the variables that a [Stater] registers.
type State struct {
	kind string
	vars []variable
	save []func() error
	load []func() error
}

// variable is memory to save and restore.
type variable struct {
	name string
	// add adds the variable to w under name. read checks the tensor called name in w, and returns a
	// function that sets the variable to it.
	add  func(w *Weights, name string)
	read func(w *Weights, name string) (restore func(), err error)
	// isAbsent reports whether the variable is not saved. A state may lack a variable that has this
	// function. A variable without it is always saved, and every state must have it.
	isAbsent func() bool
}

// StateTensor registers data as a tensor of the given shape, or as a scalar if there is no shape.
// Saving and restoring return an error if data does not have as many elements as the shape.
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

const kindName = "kind"

// StateKind registers the kind of the state, such as "adam". It is saved under the name "kind".
// Restoring a state of another kind is an error that names both kinds.
func StateKind(s *State, kind string) { s.kind = kind }

// checkKind returns an error if the saved state of a part is of another kind than s.
func (s *State) checkKind(w *Weights, part string) error {
	name := part + "/" + kindName
	info, ok := w.Info(name)
	if s.kind == "" || !ok {
		return nil
	}
	saved, err := read[uint8](w, name, info.Shape)
	if err == nil && string(saved) != s.kind {
		err = fmt.Errorf("saved state is of %.100q, but the part is %.100q: load it into what it was saved from", saved, s.kind)
	}
	return err
}

// StateScalar registers the number that x points to as a variable.
func StateScalar[T Number | bool](s *State, name string, x *T) {
	var data []T
	if x != nil {
		data = unsafe.Slice(x, 1)
	}
	StateTensor(s, name, data)
}

// StateFunc registers two functions, either of which may be nil. save is called before the variables
// are saved. load is called after all variables have been restored.
func StateFunc(s *State, save, load func() error) {
	if save != nil {
		s.save = append(s.save, save)
	}
	if load != nil {
		s.load = append(s.load, load)
	}
}

// fail makes saving and restoring the state return an error.
func (s *State) fail(err error) {
	failed := func() error { return err }
	StateFunc(s, failed, failed)
}

// StateBytes registers a variable of arbitrary length. save returns the bytes to store. load checks
// stored bytes and returns a function that applies them. [RestoreState] calls that function once all
// variables of all parts have been found valid.
func StateBytes(s *State, name string, save func() ([]byte, error), load func(saved []byte) (restore func(), err error)) {
	s.vars = append(s.vars, variable{
		name: name,
		add: func(w *Weights, name string) {
			var text []byte
			err := errors.New("no function that saves it")
			if save != nil {
				text, err = save()
			}
			if err != nil {
				w.fail(fmt.Errorf("%.100q: %w", name, err))
				return
			}
			Add(w, name, text, len(text))
		},
		read: func(w *Weights, name string) (func(), error) {
			if load == nil {
				return nil, errors.New("no function that restores it")
			}
			shape := []int{0}
			if info, ok := w.Info(name); ok && len(info.Shape) == 1 {
				shape = info.Shape
			}
			text, err := read[uint8](w, name, shape)
			if err != nil {
				return nil, err
			}
			return load(text)
		},
	})
}

// CollectState returns the state of the parts as weights named "part/variable". They share the
// memory of the parts, which must not change while the weights are in use. It returns an error if
// the name of a part is empty or contains a slash, if a part is nil, or if its State panics or
// registers something invalid. It also returns the errors of functions from [StateFunc].
func CollectState(parts map[string]Stater) (*Weights, error) {
	states, err := statesOf(parts)
	if err != nil {
		return nil, err
	}
	w := NewWeights()
	for _, part := range slices.Sorted(maps.Keys(states)) {
		s := states[part]
		for _, f := range s.save {
			if err := f(); err != nil {
				return nil, fmt.Errorf("%s: %w", part, err)
			}
		}
		if s.kind != "" {
			Add(w, part+"/"+kindName, []byte(s.kind), len(s.kind))
		}
		for _, v := range s.vars {
			if v.isAbsent == nil || !v.isAbsent() {
				v.add(w, part+"/"+v.name)
			}
		}
	}
	return w, w.Err()
}

// SaveState writes the state of the parts, see [CollectState], to a safetensors file. An existing
// file is replaced when the new one is complete. On error it stays as it is.
func SaveState(path string, parts map[string]Stater) error {
	w, err := CollectState(parts)
	if err == nil {
		err = w.Save(path)
	}
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// LoadState restores the state of the parts, bit for bit, from a file that SaveState wrote. It works
// like [RestoreState]. It also returns an error if the file is truncated or was modified.
func LoadState(path string, parts map[string]Stater) error {
	w := OpenWeightsFile(path)
	defer w.Close()
	err := w.Err()
	if err == nil {
		if err = w.Verify(); err == nil {
			err = RestoreState(w, parts)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	return nil
}

// RestoreState restores the state of the parts, bit for bit, from w. w are weights that
// [CollectState] returned, or that were read from a file of such weights. Parts in w that are not in
// `parts` are ignored. Configurations are not saved: the caller constructs the parts as before.
//
// RestoreState first checks everything. It returns one error that lists all problems: a part has
// another kind, see [StateKind]; a variable is missing, has another type or shape, or is unknown to
// its part. No part has then changed. If there is no problem, it changes the parts, calls the
// functions from [StateFunc], and returns the errors of these functions.
func RestoreState(w *Weights, parts map[string]Stater) error {
	states, err := statesOf(parts)
	if err != nil {
		return err
	}
	if err := w.Err(); err != nil {
		return err
	}
	return restore(w, states)
}

// restore sets the variables of states, which are keyed by part, to their values in w.
func restore(w *Weights, states map[string]*State) error {
	parts := slices.Sorted(maps.Keys(states))
	var copies []func()
	var errs []error
	known := map[string]bool{}
	other := map[string]bool{} // parts of another kind
	for _, part := range parts {
		known[part+"/"+kindName] = states[part].kind != ""
		if err := states[part].checkKind(w, part); err != nil {
			errs, other[part] = append(errs, fmt.Errorf("%.100q: %w", part, err)), true
			continue
		}
		for _, v := range states[part].vars {
			name := part + "/" + v.name
			known[name] = true
			if _, there := w.Info(name); !there && v.isAbsent != nil {
				continue
			}
			f, err := v.read(w, name)
			if err != nil {
				errs = append(errs, fmt.Errorf("%.100q: %w", name, err))
			}
			if f != nil {
				copies = append(copies, f)
			}
		}
	}
	for _, name := range w.Names() {
		part, _, _ := strings.Cut(name, "/")
		if _, wanted := states[part]; wanted && !known[name] && !other[part] {
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

// statesOf returns the states that the parts register. It returns an error if a name is empty or
// has a slash, a part is nil, or its State panics.
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
			s, err := stateOf(part, parts[part])
			errs = append(errs, err)
			states[part] = s
		}
	}
	return states, errors.Join(errs...)
}

// stateOf returns the state that one part registers. It turns a panic into an error.
func stateOf(name string, part Stater) (s *State, err error) {
	defer Recover(fmt.Sprintf("part %.100q", name), &err)
	s = &State{}
	part.State(s)
	return s, nil
}
