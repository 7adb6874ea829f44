// Package progress turns the events of a run into what a dashboard shows: curves, values and a log.
// The memory that it takes does not grow with the length of the run.
package progress

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

const (
	maxSeries  = 64      // metrics, and series of the machine, that are kept
	maxName    = 64      // bytes of a name
	paceWindow = 64      // batches over which speeds are averaged
	maxSeconds = 1 << 33 // times are cut at 270 years
)

// Optimizer is the split for curves of the optimizer, which are the learning rate and the gradient
// norm.
const Optimizer learn.Split = "optimizer"

const (
	rateName     = "rate"
	gradNormName = "grad norm"
)

type key struct {
	split learn.Split
	name  string
}

type best struct {
	value float64
	epoch int
}

// Run is the state of a run, which is computed from the run's events. Its methods may be called
// from any goroutine.
type Run struct {
	mu         sync.Mutex
	generation int
	log        *Log
	state
}

// state is the part of a Run that starts anew with each new run.
type state struct {
	started    learn.Started
	hasStarted bool
	// the run has been followed from its first step on
	whole   bool
	metrics []learn.Series
	system  []learn.Series
	values  map[key]float64
	bests   map[string]best
	curves  map[key]*curve
	// the curve has a value for each step, not for each epoch
	perStep map[key]bool
	now     learn.Stepped
	step    int
	paces   map[learn.Split]*pace
	loss    mean
	// number of batches of training so far
	trained int
	stopped *learn.Stopped
}

// New returns an empty Run.
func New() *Run {
	return &Run{log: newLog(), state: newState()}
}

func newState() state {
	return state{now: learn.Stepped{Batch: -1}, values: map[key]float64{}, bests: map[string]best{}, curves: map[key]*curve{}, perStep: map[key]bool{},
		paces: map[learn.Split]*pace{}}
}

// Reset forgets the run, and its log.
func (r *Run) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.generation++
	r.log, r.state = newLog(), newState()
}

// Print adds a line that the program printed to the log.
func (r *Run) Print(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.add(Line{Kind: Output, Text: text})
}

// Event updates the state with an event. Events may come in any order and may have any contents.
func (r *Run) Event(e learn.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case learn.Started:
		r.start(e)
	case learn.Stepped:
		r.stepped(e)
	case learn.Measured:
		r.measured(e)
	case learn.EpochEnded:
		r.step = e.Step
	case learn.Improved:
		r.improved(e)
	case learn.Stopped:
		r.step, r.stopped = e.Step, &e
	}
	if l, ok := r.narrate(e); ok {
		r.log.add(l)
	}
}

// start begins a run, or continues it from a step. It cuts off the points of the curves that are
// after this step.
func (r *Run) start(e learn.Started) {
	if !r.hasStarted {
		r.whole = e.Step == 0
	}
	e.Run = cleanName(e.Run)
	r.started, r.hasStarted, r.stopped = e, true, nil
	r.step = e.Step
	r.now = learn.Stepped{Split: learn.Train, Epoch: e.Epoch, Batch: e.Batch - 1, Step: e.Step}
	for _, s := range e.Metrics {
		register(&r.metrics, s)
	}
	for _, s := range e.System {
		register(&r.system, s)
	}
	for _, c := range r.curves {
		if c.cut(float64(e.Step)) {
			r.generation++
		}
	}
}

// register adds a series to a list. It replaces a series of the same name. It returns the name
// without control characters. If the list is full, it returns false.
func register(list *[]learn.Series, s learn.Series) (string, bool) {
	s.Name, s.Unit = cleanName(s.Name), cleanName(s.Unit)
	if i := slices.IndexFunc(*list, func(o learn.Series) bool { return o.Name == s.Name }); i >= 0 {
		(*list)[i] = s
		return s.Name, true
	}
	if len(*list) >= maxSeries {
		return "", false
	}
	*list = append(*list, s)
	return s.Name, true
}

// known returns the name of a series without control characters. If the series is not in the list,
// known adds it. It returns false if the list is full.
func known(list *[]learn.Series, name string) (string, bool) {
	name = cleanName(name)
	if slices.ContainsFunc(*list, func(s learn.Series) bool { return s.Name == name }) {
		return name, true
	}
	return register(list, learn.Series{Name: name, Curve: true})
}

func (r *Run) stepped(e learn.Stepped) {
	r.now, r.step = e, e.Step
	r.now.Split, r.now.Values = learn.Split(cleanName(string(e.Split))), nil
	if p := r.pace(e.Split); p != nil {
		p.add(e)
	}
	if e.Split != learn.Train {
		return
	}
	r.trained++
	x := float64(e.Step)
	if name, ok := known(&r.metrics, "loss"); ok {
		r.loss.add(float64(e.Loss), paceWindow)
		k := key{learn.Train, name}
		r.values[k] = r.loss.value
		r.curve(k, true).add(x, float64(e.Loss))
	}
	for _, v := range e.Values {
		if name, ok := known(&r.metrics, v.Name); ok {
			k := key{learn.Train, name}
			r.values[k] = float64(v.Value)
			if name != "loss" { // its curve has the loss of each batch
				r.curve(k, true).add(x, float64(v.Value))
			}
		}
	}
	if e.Rate != 0 {
		r.optimizer(rateName, x, e.Rate)
	}
	if e.GradNorm != 0 {
		r.optimizer(gradNormName, x, e.GradNorm)
	}
}

func (r *Run) optimizer(name string, x float64, v learn.Number) {
	k := key{Optimizer, name}
	r.values[k] = float64(v)
	r.curve(k, true).add(x, float64(v))
}

// pace returns the speed of a split. It returns nil if the split is not in [splits].
func (r *Run) pace(s learn.Split) *pace {
	if !slices.Contains(splits, s) {
		return nil
	}
	if r.paces[s] == nil {
		r.paces[s] = &pace{}
	}
	return r.paces[s]
}

// splits lists the splits that have metrics. Columns are in this order.
var splits = []learn.Split{learn.Train, learn.Valid, learn.Test}

func (r *Run) measured(e learn.Measured) {
	list := &r.metrics
	switch {
	case e.Split == learn.System:
		list = &r.system
	case !slices.Contains(splits, e.Split):
		return
	}
	for _, v := range e.Values {
		name, ok := known(list, v.Name)
		if !ok {
			continue
		}
		k := key{e.Split, name}
		r.values[k] = float64(v.Value)
		if e.Split == learn.Train && name == "loss" {
			r.loss = mean{} // the next epoch has its own
		}
		if !r.perStep[k] {
			r.curve(k, false).add(float64(e.Step), float64(v.Value))
		}
		if r.whole && e.Split == r.bestSplit() {
			r.compare(name, float64(v.Value), e.Epoch)
		}
	}
}

// bestSplit returns the split whose best values are shown. It is the validation split if the run
// has validation data or values, and otherwise the training split.
func (r *Run) bestSplit() learn.Split {
	if r.started.Valid > 0 {
		return learn.Valid
	}
	for k := range r.values {
		if k.split == learn.Valid {
			return learn.Valid
		}
	}
	return learn.Train
}

func (r *Run) compare(name string, v float64, epoch int) {
	i := slices.IndexFunc(r.metrics, func(s learn.Series) bool { return s.Name == name })
	better := r.metrics[i].Better
	if better == 0 || math.IsNaN(v) {
		return
	}
	if b, ok := r.bests[name]; !ok || better > 0 && v > b.value || better < 0 && v < b.value {
		r.bests[name] = best{v, epoch}
	}
}

func (r *Run) improved(e learn.Improved) {
	split := r.bestSplit()
	for _, s := range r.metrics {
		if e.Key == split.Key(s.Name) {
			r.bests[s.Name] = best{float64(e.Value), e.Epoch}
		}
	}
}

// curve returns the curve of key k. If there is no such curve, it adds an empty one. Set perStep if
// the curve gets a value for each step. Values of epochs are then no longer added to it.
func (r *Run) curve(k key, perStep bool) *curve {
	if perStep {
		r.perStep[k] = true
	}
	c := r.curves[k]
	if c == nil {
		c = newCurve()
		r.curves[k] = c
	}
	return c
}

type mean struct {
	value float64
	n     int
}

// add adds a value to a running mean. The mean of the first `window` values is arithmetic. After
// that, each new value has weight 1/window. A value that is not finite becomes the mean, and the
// next finite value starts a new mean.
func (m *mean) add(v float64, window int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		*m = mean{value: v} // the next finite value begins anew
		return
	}
	m.n = min(m.n+1, window)
	w := 1 / float64(m.n)
	if m.n == 1 {
		m.value = v
		return
	}
	m.value += v*w - m.value*w
}

type pace struct{ items, seconds, waited mean }

func (p *pace) add(e learn.Stepped) {
	p.items.add(float64(max(e.Items, 0)), paceWindow)
	p.waited.add(seconds(e.Waited), paceWindow)
	p.seconds.add(seconds(e.Waited)+seconds(e.Took), paceWindow)
}

func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
