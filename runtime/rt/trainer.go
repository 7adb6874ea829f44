package rt

import (
	"context"
	"fmt"
	"strings"
)

// Trainer is the part of a generated Trainer that is the same in every package. W is a struct of
// the weights that the methods read. C is a struct of the slices into which they write gradients
// and new values.
type Trainer[W, C any] struct {
	frame     TrainingFrame[W, C]
	base      *Training
	weights   *W
	variables func(*W, *C) []Variable
	direct    *C // its gradients are the gradients of the parameters
	aside     *C // its gradients are separate memory; nil until a call needs it
	passes    []*Pass
	pending   *Method // the method whose gradients the caller may give
}

// TrainingFrame is a call of a trainer's method, from [EnterTraining] to Leave.
type TrainingFrame[W, C any] struct {
	Frame[W]
	// Changes is where the call writes gradients and new values. A nil slice in it is not computed.
	Changes *C
	// Watch looks for NaN. A nil Watch looks at nothing.
	Watch *Watch

	t    *Trainer[W, C]
	pass *Pass // nil if the call computes no gradients
	half half
}

type half int

const (
	bothHalves half = iota // all of it
	firstHalf              // the results; the caller then computes their gradients
	secondHalf             // the gradients of the parameters, from those of the results
)

// OpenTrainer makes t a trainer of a copy of `variables`. The values come from raw. w holds the weights that are not
// trained. If the memory of a method has a fixed size or depends only on the batch, OpenTrainer allocates it, for a
// batch of o.Batch. Other methods allocate memory when they are called. It returns the errors of [NewTraining], of
// o.Kept, and of [NewArena].
func OpenTrainer[W, C any](t *Trainer[W, C], raw *Weights, w *W, variables func(*W, *C) []Variable, o TrainingOptions, methods ...*Method) error {
	direct := new(C)
	base, err := NewTraining(raw, variables(w, direct), o)
	if err != nil {
		return err
	}
	base.bind(variables(w, direct), false)
	for _, kept := range o.Kept {
		Keep(t, kept)
		if err := kept.Err(); err != nil {
			return err
		}
	}
	t.base, t.weights, t.variables, t.direct = base, w, variables, direct
	f := &t.frame
	f.t, f.Watch, f.max = t, base.watch, Max{}
	if o.Symbol != "" {
		f.max = Max{o.Symbol: o.Batch}
	}
	f.max = f.max.Within(o.Limits)
	for _, m := range methods {
		if m.trains() {
			t.passes = append(t.passes, base.Pass(m))
		}
		if m.isFixed() || len(m.Symbols) == 1 && m.Symbols[0] == o.Symbol {
			if err := f.openFor(m, o.Batch); err != nil {
				t.base = nil
				return err
			}
		}
	}
	return nil
}

// Freeze stops the training of the parameters that match patterns, see [MatchName], from the next call on. These
// parameters keep their values, and their gradients are removed. Steps compute a gradient of a frozen parameter only
// if other gradients need it. Buffers that match do not change either, nor do the buffers of a module whose
// parameters are all frozen. Optimizers and their states stay as they are.
//
// If Freeze or Unfreeze is called between a method and its Backward, the Backward returns an error. Freeze returns an
// error and changes nothing in these cases: a pattern is malformed or matches neither a parameter nor a buffer,
// nothing would be left to train, or a call is in progress.
//
// TrainerOptions.Freeze excludes parameters for good, and saves their memory. A state that [SaveState] writes does
// not say which parameters Freeze has frozen.
func (t *Trainer[W, C]) Freeze(patterns ...string) error { return t.hold("freeze", patterns, true) }

// Unfreeze undoes Freeze for the parameters and buffers that match patterns. It returns an error and changes nothing
// if a call is in progress, or if a pattern is malformed, matches nothing, or matches only parameters that
// TrainerOptions.Freeze excludes.
func (t *Trainer[W, C]) Unfreeze(patterns ...string) error {
	return t.hold("unfreeze", patterns, false)
}

func (t *Trainer[W, C]) hold(verb string, patterns []string, held bool) error {
	if t.base == nil {
		return ErrNoTrainer
	}
	if err := t.frame.guard.Enter(); err != nil {
		return err
	}
	defer t.frame.guard.Leave()
	if err := t.base.hold(verb, patterns, held); err != nil {
		return err
	}
	t.base.bind(t.variables(t.weights, t.direct), false)
	if t.aside != nil {
		t.base.bind(t.variables(t.weights, t.aside), true)
	}
	for _, p := range t.passes {
		*p = *t.base.Pass(p.method)
	}
	t.pending = nil
	return nil
}

// TrainOn makes the device m hold copies of the parameters. While an optimizer changes the parameters there, they
// need not be copied for each call. TrainOn returns an error if the device has too little memory.
func (t *Trainer[W, C]) TrainOn(m Mirror) error { return t.base.trainOn(m) }

// Params returns the parameters and their gradients, without the parameters that
// TrainerOptions.Freeze excludes. It returns nil if t is not open.
func (t *Trainer[W, C]) Params() *Params {
	if t.base == nil {
		return nil
	}
	return t.base.Params()
}

// Weights returns a copy of the current weights, see [Training.Weights]. The generated package's
// function LoadFrom and its model's method Swap accept this copy. Weights returns nil if t is not open.
func (t *Trainer[W, C]) Weights() *Weights {
	if t.base == nil {
		return nil
	}
	return t.base.Weights()
}

// LossScale returns the factor by which the next step multiplies the gradient of the loss, in a package that trains
// in f16. It is 1 in other packages. A step that halves the factor does not change the gradients of the parameters.
func (t *Trainer[W, C]) LossScale() float64 {
	if t.base == nil || !t.base.Scaled {
		return 1
	}
	return t.base.scale.value()
}

// State implements [Stater], see [Training.State]. It registers nothing if t is not open.
func (t *Trainer[W, C]) State(s *State) {
	if t.base != nil {
		t.base.State(s)
	}
}

// SetContext sets the context of the following calls. When ctx is done, they end early with its
// cause. A nil ctx is never done.
func (t *Trainer[W, C]) SetContext(ctx context.Context) { t.frame.Ctx = ctx }

func (t *Trainer[W, C]) trainer() *Trainer[W, C] { return t }

// EnterTraining begins a call of a trainer's method, as [Enter] does. It returns
// [ErrNoTrainer] if t is nil or not open.
func EnterTraining[W, C, T any, P interface {
	*T
	trainer() *Trainer[W, C]
}](t P, m *Method, args ...Passed) (*TrainingFrame[W, C], error) {
	if t == nil {
		return nil, ErrNoTrainer
	}
	return t.trainer().enter(m, args)
}

// EnterBackward begins the backward pass of m, whose forward pass must have been the last call. gradients are the
// gradients with respect to m's results. It returns [ErrNoTrainer] if t is nil or not open, and [ErrBusy] while
// another call runs. It also returns an error if the last call was of another method or failed, or if a gradient is
// not valid.
func EnterBackward[W, C, T any, P interface {
	*T
	trainer() *Trainer[W, C]
}](t P, m *Method, gradients ...Passed) (*TrainingFrame[W, C], error) {
	if t == nil {
		return nil, ErrNoTrainer
	}
	return t.trainer().backward(m, gradients)
}

func (t *Trainer[W, C]) enter(m *Method, args []Passed) (f *TrainingFrame[W, C], err error) {
	if t.base == nil {
		return nil, ErrNoTrainer
	}
	f = &t.frame
	if err := f.enter(m); err != nil {
		return nil, err
	}
	defer f.abandon(&err)
	t.pending = nil // the arena no longer has its values
	f.Weights, f.half = t.weights, bothHalves
	if m.Backward != "" {
		f.half = firstHalf
	}
	if err := f.begin(args); err != nil {
		return nil, err
	}
	if m.trains() {
		f.pass = t.passOf(m)
		aside := f.pass.Begin()
		if f.Changes, err = t.changes(aside && f.half != firstHalf); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (t *Trainer[W, C]) backward(m *Method, gradients []Passed) (f *TrainingFrame[W, C], err error) {
	if t.base == nil {
		return nil, ErrNoTrainer
	}
	f = &t.frame
	if err := f.guard.Enter(); err != nil {
		return nil, err
	}
	defer f.abandon(&err)
	f.method, f.second = m, true
	if t.pending != m {
		before := m.Name[strings.LastIndex(m.Name, " ")+1:]
		return nil, fmt.Errorf("%s: the last call was not %s, or it failed", m.Backward, before)
	}
	f.args, f.refused = f.args[:0], false
	if err := f.check(gradients); err != nil {
		return nil, err
	}
	f.Weights, f.half, f.pass = t.weights, secondHalf, t.passOf(m)
	if f.Changes, err = t.changes(f.pass.Begin()); err != nil {
		return nil, err
	}
	if !m.Serial {
		workers.begin()
		f.sharing = true
	}
	return f, nil
}

func (t *Trainer[W, C]) passOf(m *Method) *Pass {
	for _, p := range t.passes {
		if p.method == m {
			return p
		}
	}
	p := t.base.Pass(m)
	t.passes = append(t.passes, p)
	return p
}

// changes returns the slices into which a call writes gradients. They are the gradients of the parameters or, if
// aside is true, separate memory. changes returns an error if a device has too little memory for them.
func (t *Trainer[W, C]) changes(aside bool) (*C, error) {
	if !aside {
		return t.direct, nil
	}
	if t.aside == nil {
		c := new(C)
		t.base.bind(t.variables(t.weights, c), true)
		if m := t.base.params.all.mirror; m != nil {
			if err := m.Hold(t.base.aside); err != nil {
				return nil, err
			}
		}
		t.aside = c
	}
	return t.aside, nil
}

// Key returns the key of the call's random numbers.
func (f *TrainingFrame[W, C]) Key() []int64 { return f.t.base.Key() }

// Scale returns the loss scale of the call and its inverse.
func (f *TrainingFrame[W, C]) Scale() []float32 { return f.t.base.Scale() }

// Ends reports whether the call may end at this place of the backward pass. It may if all later steps serve only
// frozen parameters. Generated code numbers the places in their order.
func (f *TrainingFrame[W, C]) Ends(place int) bool { return f.pass.Ends() <= place }

// Leave ends the call, as [Frame.Leave] does. After a successful step it also does what [Pass.End] does. After a
// successful forward pass whose backward pass is a separate call, it only looks for NaN; see [Pass.Check].
func (f *TrainingFrame[W, C]) Leave(err *error) {
	if r := recover(); r != nil {
		*err = recovered(f.where(), r)
	}
	if f.half == secondHalf && !f.refused {
		f.t.pending = nil
	}
	if f.pass != nil && *err == nil {
		if f.half == firstHalf {
			if *err = f.pass.Check(nil); *err == nil {
				f.t.pending = f.method
			}
		} else {
			*err = f.pass.End(nil)
		}
	}
	if failed := f.t.base.params.all.settle(); *err == nil {
		*err = failed
	}
	f.pass, f.Changes = nil, nil
	f.leave()
}

// abandon ends the call if *err is not nil or a panic is under way. It recovers the panic and stores it in *err.
func (f *TrainingFrame[W, C]) abandon(err *error) {
	if r := recover(); r != nil {
		*err = recovered(f.where(), r)
	}
	if *err != nil {
		f.pass, f.Changes = nil, nil
		f.leave()
	}
}
