package rt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mark sets marks[i] to true if variable i, a parameter or a buffer, matches a pattern. It returns
// an error for each pattern that is malformed or matches no variable. verb is the prefix of the
// errors.
func (t *Training) mark(marks []bool, verb string, patterns []string) error {
	var errs []error
	for _, pattern := range patterns {
		some := false
		for i, v := range t.variables {
			ok, err := MatchName(pattern, v.Name)
			if err != nil {
				errs, some = append(errs, fmt.Errorf("%s: %w", verb, err)), true
				break
			}
			marks[i], some = marks[i] || ok, some || ok
		}
		if !some {
			errs = append(errs, fmt.Errorf("%s: pattern %.100q matches no parameter", verb, pattern))
		}
	}
	return errors.Join(errs...)
}

// settle sets t.still[i] to true if variable i does not change: it is frozen, or it is a buffer of
// a module whose parameters are all frozen. A buffer of a module without parameters changes, unless
// it is frozen itself.
func (t *Training) settle() {
	t.still = make([]bool, len(t.variables))
	trained := map[string]bool{} // modules with parameters, and whether one of the parameters is trained
	for i, v := range t.variables {
		t.still[i] = t.frozen[i] || t.held[i]
		if !v.Buffer {
			trained[module(v.Name)] = trained[module(v.Name)] || !t.still[i]
		}
	}
	for i, v := range t.variables {
		if is, beside := trained[module(v.Name)]; v.Buffer && beside && !is {
			t.still[i] = true
		}
	}
}

// module returns the path of the module that owns a variable: the variable's name without its last
// element.
func module(name string) string { return name[:max(strings.LastIndexAny(name, "./"), 0)] }

// hold freezes the variables that match patterns, as [Trainer.Freeze] says. If held is false, it
// unfreezes them, as [Trainer.Unfreeze] says. It also removes the gradients of all parameters that are
// frozen afterwards. verb is the prefix of the errors.
func (t *Training) hold(verb string, patterns []string, held bool) error {
	found := make([]bool, len(t.variables))
	errs := []error{t.mark(found, verb, patterns)}
	after, left := slices.Clone(t.held), false
	for i, ok := range found {
		if ok {
			after[i] = held
		}
		left = left || t.place[i] >= 0 && !after[i]
	}
	if held && !left {
		errs = append(errs, fmt.Errorf("%s: nothing would be left to train", verb))
	}
	if !held {
		for _, pattern := range patterns {
			errs = append(errs, t.excluded(pattern))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return prefixed(t.Where, errs)
	}
	t.held = after
	t.settle()
	for i, p := range t.place {
		if p >= 0 && after[i] {
			t.params.all.there[p] = false
		}
	}
	return nil
}

// excluded returns an error if `pattern` matches variables, and TrainerOptions.Freeze has excluded
// all of them.
func (t *Training) excluded(pattern string) error {
	excluded := false
	for i, v := range t.variables {
		if ok, err := MatchName(pattern, v.Name); err != nil || ok && !t.frozen[i] {
			return nil
		} else if ok {
			excluded = true
		}
	}
	if !excluded {
		return nil
	}
	return fmt.Errorf("unfreeze: pattern %.100q matches only what TrainerOptions.Freeze excludes", pattern)
}
