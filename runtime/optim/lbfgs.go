package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// LBFGSConfig configures [LBFGS].
type LBFGSConfig struct {
	Iterations      int     // largest number of iterations in a step; default 20
	Evaluations     int     // a step starts no further iteration after this number of loss evaluations; default 5/4 of Iterations
	History         int     // number of steps kept; default 100, which takes 200 times the memory of the parameters
	GradTolerance   float64 // a step ends if no element of the gradient has a larger magnitude; default 1e-7
	ChangeTolerance float64 // a step ends if an iteration changes the loss, or all parameters, by less; default 1e-9
}

// LBFGS is the limited-memory BFGS method with a line search for the strong Wolfe conditions
// (Nocedal, Wright: Numerical optimization, 2006, algorithms 7.4 and 3.5). PyTorch: LBFGS with
// line_search_fn="strong_wolfe". A NaN loss counts as too large in a line search. LBFGS is for losses
// over all data, without randomness.
type LBFGS struct {
	bound
	c      LBFGSConfig
	g, x   []float32 // gradients and parameters at the start of the search
	points [3]point
	scales []float64 // scratch memory, one for each step in the history

	// State that is kept between steps.
	iterations    int64
	length        float64 // length of the last step along direction
	direction     []float32
	before        []float32   // gradients at the start of that step
	diagonal      float64     // diagonal of the initial approximation of the inverse Hessian
	changes, ways [][]float32 // changes of the gradients and of the parameters in past steps: a ring
	inverses      []float64   // reciprocals of the dot products of changes and ways
	first, count  int64       // first entry and number of entries in the ring
}

var errReleased = errors.New("lbfgs: step without parameters: they were released")

type point struct {
	t     float64 // multiple of the direction
	loss  float64
	slope float64   // directional derivative of the loss
	g     []float32 // gradients
}

// NewLBFGS binds L-BFGS to parameters. It returns the errors of [rt.Params.Bind], and an error if
// the configuration is invalid or there is no memory for the history.
func NewLBFGS(p *rt.Params, c LBFGSConfig) (*LBFGS, error) {
	err := complete("lbfgs", positive("GradTolerance", &c.GradTolerance, 1e-7), positive("ChangeTolerance", &c.ChangeTolerance, 1e-9))
	count := func(name string, n *int, def int) {
		const limit = 1 << 16
		if *n == 0 {
			*n = def
		}
		if *n < 1 || *n > limit {
			err = errors.Join(err, fmt.Errorf("lbfgs: %s is %d: at least 1 and at most %d expected", name, *n, limit))
		}
	}
	count("Iterations", &c.Iterations, 20)
	count("Evaluations", &c.Evaluations, max(1, c.Iterations*5/4))
	count("History", &c.History, 100)
	if err != nil {
		return nil, err
	}
	o := &LBFGS{}
	if err := o.bind("lbfgs", p); err != nil {
		return nil, err
	}
	o.c = c
	const others = 7 // vectors besides the history
	memory, err := rt.NewArena(4 * int64(o.size) * int64(others+2*c.History))
	if err != nil {
		p.Release()
		return nil, named("lbfgs", err)
	}
	all := rt.View[float32](memory, 0, len(memory)/4)
	vector := func() []float32 {
		x := all[:o.size:o.size]
		all = all[o.size:]
		return x
	}
	o.g, o.x, o.direction, o.before = vector(), vector(), vector(), vector()
	for i := range o.points {
		o.points[i].g = vector()
	}
	for range c.History {
		o.changes, o.ways = append(o.changes, vector()), append(o.ways, vector())
	}
	o.scales, o.inverses = make([]float64, c.History), make([]float64, c.History)
	return o, nil
}

// State implements [rt.Stater]. It registers the state that is kept between steps, and nothing after
// Release.
func (o *LBFGS) State(s *rt.State) {
	if o.params == nil {
		return
	}
	rt.StateKind(s, o.kind)
	rt.StateScalar(s, "n_iter", &o.iterations)
	rt.StateScalar(s, "t", &o.length)
	rt.StateScalar(s, "H_diag", &o.diagonal)
	rt.StateScalar(s, "first", &o.first)
	rt.StateScalar(s, "count", &o.count)
	rt.StateTensor(s, "ro", o.inverses, len(o.inverses))
	rt.StateTensor(s, "d", o.direction, o.size)
	rt.StateTensor(s, "prev_flat_grad", o.before, o.size)
	for i := range o.ways {
		rt.StateTensor(s, fmt.Sprintf("old_dirs/%d", i), o.changes[i], o.size)
		rt.StateTensor(s, fmt.Sprintf("old_stps/%d", i), o.ways[i], o.size)
	}
	rt.StateFunc(s, nil, func() error {
		n := int64(o.c.History)
		if o.iterations < 0 || o.first < 0 || o.first >= n || o.count < 0 || o.count > n {
			o.iterations, o.first, o.count = 0, 0, 0
			return errors.New("lbfgs: the history is not one of L-BFGS")
		}
		return nil
	})
}

// Step performs iterations of L-BFGS. rate is the initial step length, usually 1. evaluate computes the
// loss and its gradients, as a trainer's Step does, and is called many times. Absent gradients count as
// zero. Step returns the loss before the step. It stops if a gradient is not finite.
//
// If evaluate returns an error, Step restores the parameters from the start of the iteration and
// returns the error. It also returns an error if `evaluate` is nil, if rate is one that no [Optimizer]
// accepts, or if the parameters were released before or during the call. It does not change released
// parameters.
func (o *LBFGS) Step(rate float64, evaluate func() (loss float64, err error)) (loss float64, err error) {
	if o.params == nil {
		return 0, errReleased
	}
	if err := o.checkRate(rate); err != nil {
		return 0, err
	}
	if evaluate == nil {
		return 0, errors.New("lbfgs: step without a loss")
	}
	defer o.params.UseUp()
	first, err := o.evaluate(evaluate, o.g)
	if err != nil {
		return 0, err
	}
	loss, evaluations := first, 1
	for n := 1; largest(o.g) > o.c.GradTolerance && largest(o.g) <= math.MaxFloat32; n++ {
		o.iterations++
		t := rate
		if o.iterations == 1 {
			for i, g := range o.g {
				o.direction[i] = -g
			}
			o.diagonal, o.count = 1, 0
			t *= min(1, 1/total(o.g))
		} else {
			o.remember()
			o.choose()
		}
		copy(o.before, o.g)
		slope := dot(o.g, o.direction)
		o.length = t
		if !(slope <= -o.c.ChangeTolerance) {
			break
		}
		o.gather(o.x, o.params.Value)
		end, calls, err := o.search(evaluate, t, loss, slope)
		if err != nil {
			o.move(0)
			return first, err
		}
		o.move(end.t)
		change := math.Abs(end.loss - loss)
		o.length, loss = end.t, end.loss
		copy(o.g, end.g)
		evaluations += calls
		if n == o.c.Iterations || evaluations >= o.c.Evaluations ||
			math.Abs(end.t)*largest(o.direction) <= o.c.ChangeTolerance || change < o.c.ChangeTolerance {
			break
		}
	}
	return first, nil
}

// evaluate computes the loss with f and stores the gradients in g. It stores zeros for a parameter
// without a gradient. It returns the loss. It returns the error of f, or an error if f has released the
// parameters.
func (o *LBFGS) evaluate(f func() (float64, error), g []float32) (float64, error) {
	o.params.UseUp()
	loss, err := f()
	if err != nil {
		return 0, err
	}
	if o.params == nil {
		return 0, errReleased
	}
	o.gather(g, o.params.Gradient)
	for i := range o.params.Items {
		if !o.params.Fresh(i) {
			clear(g[o.at[i]:][:len(o.params.Value(i))])
		}
	}
	return loss, nil
}

// gather copies source(i) of each parameter i to the parameter's place in x.
func (o *LBFGS) gather(x []float32, source func(i int) []float32) {
	for i, at := range o.at {
		copy(x[at:], source(i))
	}
}

// move sets the parameters to the start of the search plus t times the direction.
func (o *LBFGS) move(t float64) {
	step := float32(t)
	for i, at := range o.at {
		w := o.params.Value(i)
		x, d := o.x[at:][:len(w)], o.direction[at:][:len(w)]
		for k := range w {
			w[k] = x[k] + float32(step*d[k])
		}
	}
}

// remember adds the last step and the change of the gradients to the history, if the dot product of the
// two exceeds 1e-10. If the history is full, they replace the oldest entry.
func (o *LBFGS) remember() {
	n := int64(len(o.ways))
	at := (o.first + o.count) % n
	y, s := o.points[0].g, o.points[1].g // used as scratch memory
	for i, g := range o.g {
		y[i] = g - o.before[i]
		s[i] = float32(float32(o.length) * o.direction[i])
	}
	product := dot(y, s)
	if !(product > 1e-10) {
		return
	}
	if o.count == n {
		o.first = (o.first + 1) % n
	} else {
		o.count++
	}
	copy(o.changes[at], y)
	copy(o.ways[at], s)
	o.inverses[at] = 1 / product
	o.diagonal = product / dot(y, y)
}

// choose sets the direction to −H·g. H is the approximation of the inverse Hessian by the history, and
// g are the gradients (algorithm 7.4 of the book that [LBFGS] names).
func (o *LBFGS) choose() {
	q := o.direction
	for i, g := range o.g {
		q[i] = -g
	}
	n := int64(len(o.ways))
	for i := o.count - 1; i >= 0; i-- {
		k := (o.first + i) % n
		o.scales[i] = dot(o.ways[k], q) * o.inverses[k]
		add(q, o.changes[k], -o.scales[i])
	}
	diagonal := float32(o.diagonal)
	for i := range q {
		q[i] *= diagonal
	}
	for i := range o.count {
		k := (o.first + i) % n
		add(q, o.ways[k], o.scales[i]-float64(dot(o.changes[k], q)*o.inverses[k]))
	}
}

func dot(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(float64(v) * float64(y[i]))
	}
	return sum
}

func add(dst, x []float32, factor float64) {
	f := float32(factor)
	for i, v := range x {
		dst[i] += float32(f * v)
	}
}

// largest returns the largest magnitude, or NaN if an element is NaN.
func largest(x []float32) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}

func total(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(float64(v))
	}
	return sum
}
