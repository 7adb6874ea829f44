package rt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Variable is a weight that training changes unless it is frozen.
type Variable struct {
	Name  string
	Shape []int
	// DType is the type of the model's weight if it is not f32: "f16", "bf16" or "f64". Training
	// uses f32 regardless.
	DType string
	// Buffer marks a variable whose new value a step computes, such as running statistics.
	// Optimizers do not change it.
	Buffer bool
	// Needed marks a variable whose gradient takes memory even if it is frozen, because other
	// gradients are computed from it.
	Needed bool
	// Weight points to the slice that steps read as the value. Change points to the slice into which they write the
	// gradient, or the new value of a buffer. A nil pointer is not set.
	Weight, Change *[]float32
}

// TrainingOptions configure a [Training].
type TrainingOptions struct {
	Where  string   // prefix of errors
	Batch  int      // the largest batch; 1 if the model has no batch axis
	Seed   uint64   // seed of random numbers
	Freeze []string // patterns of variables that are never trained, see [MatchName]
	// CheckNaN makes a step return an error if it computes a NaN.
	CheckNaN bool
	// Unchecked says that the generated steps cannot check for NaN. CheckNaN is then an error.
	Unchecked bool
	// Scaled says that steps take a loss scale, see [Training.Scale].
	Scaled bool

	// Symbol is the symbol that Batch bounds, or "" if there is none. Limits bounds other symbols.
	Symbol string
	Limits Max
	// Kept are weights, besides the variables, that methods read.
	Kept []*Weights
}

// Training is the state of a generated Trainer: a copy of the weights that change, their gradients,
// the new values of buffers, and the number of steps. Weights whose names match a pattern of Freeze
// do not change. The buffers of a module whose parameters are all frozen do not change either.
type Training struct {
	TrainingOptions
	variables []Variable
	frozen    []bool // excluded for good
	held      []bool // frozen between steps, see [Trainer.Freeze]
	still     []bool // do not change: frozen or held, or buffers of a module whose parameters all are
	weights   [][]float32
	params    *Params
	place     []int       // index of each variable among the parameters, -1 if it is not one
	next      [][]float32 // new values of buffers
	needed    [][]float32 // gradients of frozen parameters that other gradients are computed from
	aside     []float32   // gradients of a step that are added to existing ones
	raw       *Weights
	steps     int64
	key       [2]int64
	watch     *Watch
	scale     lossScale
}

// NewTraining returns a Training of a copy of `variables`, whose values are weights in raw. It returns one error
// that lists all problems: a batch below 1; a pattern of Freeze that is malformed or matches no variable; no
// variable left to train; CheckNaN with Unchecked; a weight that is missing or has another type or shape.
func NewTraining(raw *Weights, variables []Variable, o TrainingOptions) (*Training, error) {
	t := &Training{TrainingOptions: o, variables: variables, raw: raw, scale: lossScale{exponent: firstExponent},
		frozen: make([]bool, len(variables)), held: make([]bool, len(variables)), place: make([]int, len(variables)),
		weights: make([][]float32, len(variables)), next: make([][]float32, len(variables)), needed: make([][]float32, len(variables))}
	var errs []error
	if o.Batch < 1 {
		errs = append(errs, fmt.Errorf("batch %d: 1 or more expected", o.Batch))
	}
	errs = append(errs, t.mark(t.frozen, "freeze", o.Freeze))
	t.settle()
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

// prefixed joins errors into one error, and puts the prefix before each line.
func prefixed(prefix string, errs []error) error {
	var lines []error
	for line := range strings.Lines(errors.Join(errs...).Error()) {
		lines = append(lines, fmt.Errorf("%s: %s", prefix, strings.TrimSuffix(line, "\n")))
	}
	return errors.Join(lines...)
}

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
			end = padded(end + n) // whole cache lines
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
			t.weights[i] = t.params.all.of(t.params.all.data, t.place[i])
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

// Params returns the parameters, without the parameters that Freeze of [TrainingOptions] excludes.
func (t *Training) Params() *Params { return t.params }

// Weight returns the current elements of variable i.
func (t *Training) Weight(i int) []float32 { return t.weights[i] }

// Gradient returns the memory into which a step writes the gradient of variable i, or nil if no step computes it.
// For a trained variable, this is the parameter's gradient. If aside is true, it is separate memory that is added to
// the gradient later. A frozen variable has memory too if it is Needed: a step computes other gradients from its
// gradient. The gradient of the frozen parameter then stays absent.
func (t *Training) Gradient(i int, aside bool) []float32 {
	p := t.place[i]
	switch {
	case p < 0:
		return t.needed[i]
	case t.held[i] && !t.variables[i].Needed:
		return nil
	case !aside:
		return t.params.all.of(t.params.all.grad, p)
	}
	if t.aside == nil {
		t.aside = Make[float32](len(t.params.all.grad))
	}
	return t.params.all.of(t.aside, p)
}

// Next returns the memory into which a step writes the new value of variable i, a buffer.
func (t *Training) Next(i int) []float32 { return t.next[i] }

// Watch returns the check for NaN, or nil if it is off.
func (t *Training) Watch() *Watch { return t.watch }

// Key returns two numbers that decide the random numbers of a step: the seed, and the number of completed steps. The
// next call overwrites the slice.
func (t *Training) Key() []int64 {
	t.key = [2]int64{int64(t.Seed), t.steps}
	return t.key[:]
}

// Scale returns two numbers. A step multiplies the gradient of the loss by the first number. It multiplies the
// gradients of the parameters by the second one, which is the inverse of the first. [Pass.End] changes the factor.
// The next call overwrites the slice.
func (t *Training) Scale() []float32 { return t.scale.pair() }

// Weights returns weights for use in a model: a copy of the current values of parameters and buffers, together with
// the other weights of the model, which are not copied. If the device fails, the result's method Err returns the
// error.
func (t *Training) Weights() *Weights {
	w := NewWeights()
	if err := t.toHost(); err != nil {
		w.fail(err)
		return w
	}
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

// State implements [Stater]. It registers the parameters, the buffers, the seed, the number of steps, and the loss
// scale if there is one.
func (t *Training) State(s *State) {
	if err := t.toHost(); err != nil {
		s.fail(err)
	}
	for i, v := range t.variables {
		if t.place[i] >= 0 || v.Buffer {
			StateTensor(s, v.Name, t.weights[i], v.Shape...)
		}
	}
	StateScalar(s, "training/seed", &t.Seed)
	StateScalar(s, "training/steps", &t.steps)
	t.scale.register(s, t.Scaled)
}

func (t *Training) trainOn(m Mirror) error {
	all := t.params.all
	if err := m.Hold(all.data, all.grad); err != nil {
		return fmt.Errorf("%s: %w", t.Where, err)
	}
	all.mirror = m
	return nil
}

// toHost copies the parameters and buffers to host memory if a device has changed them.
func (t *Training) toHost() error {
	if err := t.params.Fetch(); err != nil || t.params.all.mirror == nil {
		return err
	}
	var buffers [][]float32
	for i, v := range t.variables {
		if v.Buffer {
			buffers = append(buffers, t.weights[i])
		}
	}
	return t.params.all.mirror.ToHost(buffers...)
}

// bind sets two slices of each variable: *Weight becomes the value that steps read, and *Change the memory into which
// they write its gradient or, if it is a buffer, its new value. [Training.Gradient] explains aside.
func (t *Training) bind(variables []Variable, aside bool) {
	for i, v := range variables {
		if v.Weight != nil {
			*v.Weight = t.Weight(i)
		}
		switch {
		case v.Change == nil:
		case v.Buffer:
			*v.Change = t.Next(i)
		default:
			*v.Change = t.Gradient(i, aside)
		}
	}
}

// Pass is the backward pass of one method.
type Pass struct {
	t       *Training
	method  *Method
	params  *Params // the parameters whose gradients the method computes
	buffers []int   // the variables that the method gives new values
	ends    int     // see Ends
	direct  bool    // the step writes the gradients of params, not separate memory
}

// Pass returns the backward pass of a method.
func (t *Training) Pass(m *Method) *Pass {
	p := &Pass{t: t, method: m}
	var at []int
	for v, end := range m.Ends {
		if i := t.place[v]; i >= 0 && end > 0 && !t.held[v] {
			at = append(at, i)
			p.ends = max(p.ends, end)
		}
	}
	slices.Sort(at)
	p.params = t.params.all.view(at)
	for _, i := range m.Updates {
		if !t.still[i] {
			p.buffers = append(p.buffers, i)
		}
	}
	return p
}

// Ends returns the number of the place where the backward pass may end: all later steps serve only frozen
// parameters. [TrainingFrame.Ends] compares places with this number.
func (p *Pass) Ends() int { return p.ends }

// Begin begins a step. aside is true if some gradients are present already. The step must then write its gradients
// to separate memory, because [Pass.End] adds them to the present ones.
func (p *Pass) Begin() (aside bool) {
	p.direct = true
	for i := range p.params.at {
		p.direct = p.direct && !p.params.Fresh(i)
	}
	p.t.watch.reset()
	return !p.direct
}

// End ends a step that returned err. If err is not nil, End returns it. If a NaN was found, it returns an error.
// Otherwise it adds gradients that were written aside, marks all gradients of the pass as present, gives buffers
// their new values, and counts the step. If one of these actions fails, it returns the error.
//
// If steps take a loss scale and a gradient is not finite, End instead halves the scale, drops the gradients and the
// new values of buffers, and counts the step. It returns an error if the scale is too small to be halved. If all
// gradients were finite in 2,000 steps after the last change, it doubles the scale, to 2²⁴ at most. Gradients also
// count as not finite if the sum of their squares is not finite.
func (p *Pass) End(err error) error {
	t := p.t
	if err == nil && t.Scaled {
		isFinite, failed := p.params.isFinite(p.written())
		if failed == nil {
			failed = t.scale.adapt(isFinite)
		}
		if failed != nil {
			return fmt.Errorf("%s: %w", t.Where, failed)
		}
		if !isFinite {
			t.steps++
			return nil
		}
	}
	if err == nil {
		err = t.watch.err()
	}
	if err != nil {
		return err
	}
	if p.direct {
		p.params.Renew()
	} else if err := p.params.accumulate(t.aside); err != nil {
		return fmt.Errorf("%s: %w", t.Where, err)
	}
	for _, i := range p.buffers {
		if err := t.params.all.assign(t.weights[i], t.next[i]); err != nil {
			return fmt.Errorf("%s: %w", t.Where, err)
		}
	}
	t.steps++
	return nil
}

// written returns the vector into which the step writes gradients.
func (p *Pass) written() []float32 {
	if p.direct {
		return p.t.params.all.grad
	}
	return p.t.aside
}

// Watch records the first NaN that a step computes. A nil Watch does nothing.
type Watch struct {
	node  string
	found bool
}

// See looks for a NaN in x, a result of `node`. It does nothing if a NaN has been found before.
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

// err returns an error that names the node of the first NaN, or nil.
func (w *Watch) err() error {
	if w == nil || !w.found {
		return nil
	}
	return At(w.node, errNaN)
}

// Check returns err if it is not nil. Otherwise, if a node has computed a NaN, it returns an error
// that names the first such node. If there was no NaN, it returns nil.
func (p *Pass) Check(err error) error {
	if err != nil {
		return err
	}
	return p.t.watch.err()
}
