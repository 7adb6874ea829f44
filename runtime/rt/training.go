package rt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Variable is a weight that training changes.
type Variable struct {
	Name  string
	Shape []int
	// DType is the type of the model's weight, "f16", "bf16" or "f64" where it is not
	// f32. It is trained as f32 all the same.
	DType string
	// Buffer tells that a step gives its new value, as with running statistics, and
	// no optimizer changes it.
	Buffer bool
	// Needed tells that the gradient takes memory also where it is frozen: other
	// gradients are made of it.
	Needed bool
}

// TrainingOptions say what a [Training] trains.
type TrainingOptions struct {
	Where  string // what errors begin with
	Batch  int    // the largest; 1 where there is none
	Seed   uint64 // of random numbers
	Freeze []string
	// CheckNaN makes a step that computes a NaN an error.
	CheckNaN bool
	// Unchecked tells that the steps do not look for NaN: CheckNaN is an error.
	Unchecked bool
}

// Training is what a generated Trainer works on, whatever its model computes: a copy
// of the weights that change, their gradients, the new values of buffers, and the
// count of steps. Weights whose names match a pattern of Freeze stay what they are,
// and so do buffers beside frozen parameters.
type Training struct {
	TrainingOptions
	variables []Variable
	frozen    []bool
	weights   [][]float32
	params    *Params
	place     []int       // of each variable among the parameters, -1 of the others
	next      [][]float32 // new values of buffers
	needed    [][]float32 // gradients of frozen parameters that others are made of
	aside     []float32   // gradients that are to be added
	raw       *Weights
	steps     int64
	key       [2]int64
	watch     *Watch
}

// NewTraining returns a training of a copy of variables, of the weights that a model
// was made from. Errors, all of them at once: a batch below 1, patterns of Freeze
// that are none or match no variable, nothing left to train, CheckNaN where the steps are
// Unchecked, and weights that are missing or of another type or shape.
func NewTraining(raw *Weights, variables []Variable, o TrainingOptions) (*Training, error) {
	t := &Training{TrainingOptions: o, variables: variables, raw: raw,
		frozen: make([]bool, len(variables)), place: make([]int, len(variables)),
		weights: make([][]float32, len(variables)), next: make([][]float32, len(variables)), needed: make([][]float32, len(variables))}
	var errs []error
	if o.Batch < 1 {
		errs = append(errs, fmt.Errorf("batch %d: 1 or more expected", o.Batch))
	}
	errs = append(errs, t.freeze(o.Freeze))
	switch {
	case o.CheckNaN && o.Unchecked:
		errs = append(errs, errUnchecked)
	case o.CheckNaN:
		t.watch = &Watch{}
	}
	errs = append(errs, t.allocate())
	if err := errors.Join(errs...); err != nil {
		return nil, prefixed(o.Where, errs)
	}
	return t, nil
}

// prefixed joins errors, each line of them after where.
func prefixed(where string, errs []error) error {
	var lines []error
	for line := range strings.Lines(errors.Join(errs...).Error()) {
		lines = append(lines, fmt.Errorf("%s: %s", where, strings.TrimSuffix(line, "\n")))
	}
	return errors.Join(lines...)
}

// freeze marks the variables that match patterns, and the buffers beside parameters
// that all do.
func (t *Training) freeze(patterns []string) error {
	var errs []error
	for _, pattern := range patterns {
		some := false
		for i, v := range t.variables {
			ok, err := MatchName(pattern, v.Name)
			if err != nil {
				errs, some = append(errs, fmt.Errorf("freeze: %w", err)), true
				break
			}
			t.frozen[i], some = t.frozen[i] || ok, some || ok
		}
		if !some {
			errs = append(errs, fmt.Errorf("freeze: pattern %.100q matches no parameter", pattern))
		}
	}
	trained := map[string]bool{} // modules with parameters: whether one is trained
	for i, v := range t.variables {
		if !v.Buffer {
			trained[module(v.Name)] = trained[module(v.Name)] || !t.frozen[i]
		}
	}
	for i, v := range t.variables {
		if is, beside := trained[module(v.Name)]; v.Buffer && beside && !is {
			t.frozen[i] = true
		}
	}
	return errors.Join(errs...)
}

// module returns the path of the module that a weight is of.
func module(name string) string { return name[:max(strings.LastIndexAny(name, "./"), 0)] }

// allocate gives the variables their memory and their values.
func (t *Training) allocate() error {
	var items []Param
	var errs []error
	end := 0
	for i, v := range t.variables {
		t.place[i] = -1
		n, err := Elems(v.Shape)
		if err != nil {
			errs = append(errs, fmt.Errorf("%.100q: %w", v.Name, err))
			continue
		}
		if !v.Buffer && !t.frozen[i] {
			t.place[i] = len(items)
			items = append(items, Param{Name: v.Name, Shape: v.Shape, Off: end})
			end += (n + 15) / 16 * 16 // whole cache lines
		}
	}
	if len(items) == 0 {
		errs = append(errs, errors.New("nothing to train"))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	if t.params, err = NewParams(items); err != nil {
		return err
	}
	from := t.raw.Fork()
	for i, v := range t.variables {
		begin := asFloat32(from, v.DType, v.Name, v.Shape)
		switch {
		case t.place[i] >= 0:
			t.weights[i] = t.params.Value(t.place[i])
			copy(t.weights[i], begin)
		case v.Buffer:
			t.weights[i], t.next[i] = slices.Clone(begin), make([]float32, len(begin))
		default:
			t.weights[i] = begin
			if v.Needed {
				t.needed[i] = Make[float32](len(begin))
			}
		}
	}
	Keep(t, from)
	return from.Err()
}

// Params returns the parameters that are trained.
func (t *Training) Params() *Params { return t.params }

// Weight returns the elements of variable i.
func (t *Training) Weight(i int) []float32 { return t.weights[i] }

// Gradient returns where a step writes the gradient of variable i: among the
// parameters', or with aside where those are that are to be added to them; nil if
// nobody needs it.
func (t *Training) Gradient(i int, aside bool) []float32 {
	p := t.place[i]
	switch {
	case p < 0:
		return t.needed[i]
	case !aside:
		return t.params.Gradient(p)
	}
	if t.aside == nil {
		t.aside = Make[float32](len(t.params.Grad))
	}
	return t.params.all.of(t.aside, p)
}

// Next returns where a step writes the new value of variable i, a buffer.
func (t *Training) Next(i int) []float32 { return t.next[i] }

// Watch returns what looks for NaN, nil if nothing does.
func (t *Training) Watch() *Watch { return t.watch }

// Key returns the numbers that random ones are keyed by: the seed, and how many steps
// there were.
func (t *Training) Key() []int64 {
	t.key = [2]int64{int64(t.Seed), t.steps}
	return t.key[:]
}

// Weights returns a copy of the weights as they are now, among those that training
// does not change.
func (t *Training) Weights() *Weights {
	w := NewWeights()
	changed := map[string]bool{}
	for i, v := range t.variables {
		if t.place[i] >= 0 || v.Buffer {
			changed[v.Name] = true
			addFloat32(w, v.DType, v.Name, t.weights[i], v.Shape)
		}
	}
	for _, name := range t.raw.Names() {
		if info, _ := t.raw.Info(name); !changed[name] {
			w.AddRaw(name, info.DType, info.Shape, t.raw.Raw(name))
		}
	}
	Keep(w, t.raw)
	return w
}

// State registers parameters, buffers, the seed, and the count of steps.
func (t *Training) State(s *State) {
	for i, v := range t.variables {
		if t.place[i] >= 0 || v.Buffer {
			StateTensor(s, v.Name, t.weights[i], v.Shape...)
		}
	}
	StateScalar(s, "training/seed", &t.Seed)
	StateScalar(s, "training/steps", &t.steps)
}

// Backward describes the gradient of a variable that a pass gives.
type Backward struct {
	Variable int
	// End is the number of the place, counted from 1, from which on the pass does
	// nothing for this gradient.
	End int
}

// Pass is the backward pass of one loss.
type Pass struct {
	t       *Training
	params  *Params
	buffers []int
	ends    int
	direct  bool
}

// Pass returns the pass that gives these gradients and the new values of these
// buffers.
func (t *Training) Pass(gradients []Backward, buffers []int) *Pass {
	p := &Pass{t: t}
	var at []int
	for _, g := range gradients {
		if i := t.place[g.Variable]; i >= 0 {
			at = append(at, i)
			p.ends = max(p.ends, g.End)
		}
	}
	slices.Sort(at)
	p.params = t.params.all.view(at)
	for _, i := range buffers {
		if !t.frozen[i] {
			p.buffers = append(p.buffers, i)
		}
	}
	return p
}

// Ends returns the number of the place from which on the pass may end: whatever comes
// after it serves what is frozen.
func (p *Pass) Ends() int { return p.ends }

// Begin begins a step and reports whether it writes gradients aside, because there are
// some that they are to be added to.
func (p *Pass) Begin() (aside bool) {
	p.direct = true
	for i := range p.params.at {
		p.direct = p.direct && !p.params.Fresh(i)
	}
	p.t.watch.reset()
	return !p.direct
}

// End ends a step that returned err: without an error its gradients are there, and
// buffers have their new values.
func (p *Pass) End(err error) error {
	t := p.t
	if err == nil {
		err = t.watch.err()
	}
	if err != nil {
		return err
	}
	if p.direct {
		p.params.Renew()
	} else if err := p.params.Accumulate(t.aside); err != nil {
		return fmt.Errorf("%s: %w", t.Where, err)
	}
	for _, i := range p.buffers {
		copy(t.weights[i], t.next[i])
	}
	t.steps++
	return nil
}

// Watch looks for the first NaN that is computed. A nil Watch looks at nothing.
type Watch struct {
	node  string
	found bool
}

// See looks at what a node computed, where that is floats of 32 bits.
func (w *Watch) See(node string, x []float32) {
	if w != nil && !w.found {
		w.look(node, x)
	}
}

func (w *Watch) look(node string, x []float32) {
	for _, v := range x {
		if v != v {
			w.node, w.found = node, true
			return
		}
	}
}

func (w *Watch) reset() {
	if w != nil {
		w.found = false
	}
}

var (
	errNaN       = errors.New("computed a NaN")
	errUnchecked = errors.New("CheckNaN: the package has no checks for NaN: generate it with -check-nan")
)

// err returns an error that names the node.
func (w *Watch) err() error {
	if w == nil || !w.found {
		return nil
	}
	return At(w.node, errNaN)
}

// Check returns err, or an error that names the first node that computed a NaN.
func (p *Pass) Check(err error) error {
	if err != nil {
		return err
	}
	return p.t.watch.err()
}

// NotPending is the error of a method that has to follow a call of another, and does
// not.
func NotPending(where, before string) error {
	return fmt.Errorf("%s: the last call was not %s, or it failed", where, before)
}

// CheckSame checks that what has the shape of another tensor.
func CheckSame(where, what string, shape, want []int) error {
	if !slices.Equal(shape, want) {
		return fmt.Errorf("%s: %s: shape %v: %v expected", where, what, slices.Clone(shape), slices.Clone(want))
	}
	return nil
}
