package optim

import (
	"fmt"
	"math"
	"sort"

	"github.com/burngen/burngen/runtime/rt"
)

// Optimizer is implemented by all optimizers except [LBFGS].
type Optimizer interface {
	// Step updates the parameters whose gradients are present at the given learning rate, and
	// consumes the gradients. It does nothing after Release. It returns an error, and changes
	// nothing, if rate is negative, NaN or not representable as a float32.
	Step(rate float64) error

	// Release unbinds the parameters, so that another optimizer may be bound to them.
	Release()

	rt.Stater
}

// bound holds the parameters of an optimizer and its state. The state consists of vectors with an
// element for each element of the parameters.
type bound struct {
	kind    string // kind of optimizer, as in messages and saved states
	params  *rt.Params
	at      []int    // offset of each parameter in the vectors
	size    int      // of the vectors
	steps   []int64  // number of steps of each parameter
	names   []string // of the vectors
	vectors [][]float32
	pass    pass
}

// line is the alignment of a parameter in elements. unit is the number of elements in a part of a
// pass.
const (
	line = 16
	unit = 64
)

// bind reserves the parameters for an optimizer of the given kind, and allocates a zeroed vector
// for each of names.
func (b *bound) bind(kind string, p *rt.Params, names ...string) error {
	if err := p.Bind(); err != nil {
		return named(kind, err)
	}
	*b = bound{kind: kind, params: p, names: names, steps: make([]int64, len(p.Items)), at: make([]int, len(p.Items))}
	for i := range p.Items {
		b.at[i] = b.size
		b.size += (len(p.Value(i)) + line - 1) / line * line
	}
	for range names {
		memory, err := rt.NewArena(4 * int64(b.size))
		if err != nil {
			p.Release()
			return named(kind, err)
		}
		b.vectors = append(b.vectors, rt.View[float32](memory, 0, b.size))
	}
	return nil
}

// vector returns the vector called name, or nil.
func (b *bound) vector(name string) []float32 {
	for k, n := range b.names {
		if n == name {
			return b.vectors[k]
		}
	}
	return nil
}

// Release unbinds the parameters, so that another optimizer may be bound to them.
func (b *bound) Release() {
	b.params.Release()
	b.params = nil
}

// State registers the kind of optimizer, the number of steps of each parameter, and its part of the
// vectors.
func (b *bound) State(s *rt.State) {
	if b.params == nil {
		return
	}
	rt.StateKind(s, b.kind)
	for i, it := range b.params.Items {
		rt.StateScalar(s, "step/"+it.Name, &b.steps[i])
		for k, name := range b.names {
			rt.StateTensor(s, name+"/"+it.Name, b.vectors[k][b.at[i]:][:len(b.params.Value(i))], it.Shape...)
		}
	}
}

// rule is the update rule of an optimizer.
type rule interface {
	// prepare computes the constants of step n of a parameter, n = 1, 2, ….
	prepare(n int64, rate float64)

	// update changes the weights w with gradients g. from is their offset in the vectors.
	update(w, g []float32, from int)
}

// step updates the parameters whose gradients are present, and consumes these gradients.
// nanoseconds is about the time that a unit takes.
func (b *bound) step(r rule, rate float64, nanoseconds int64) error {
	if err := b.checkRate(rate); err != nil || b.params == nil {
		return err
	}
	if b.size >= shared {
		rt.Begin()
		defer rt.End()
	}
	for i := range b.steps {
		if b.params.Fresh(i) {
			b.steps[i]++
		}
	}
	for n := b.after(0); n > 0; n = b.after(n) {
		r.prepare(n, rate)
		b.pass = pass{b, r, n}
		parts := rt.Parts(int64(b.size/unit) * nanoseconds)
		if err := rt.Run(&b.pass, parts); err != nil {
			panic(err)
		}
	}
	b.params.UseUp()
	return nil
}

// checkRate returns an error if rate is not a learning rate.
func (b *bound) checkRate(rate float64) error {
	if !(rate >= 0 && rate <= math.MaxFloat32) {
		return fmt.Errorf("%s: learning rate is %v: at least 0 and finite expected", b.kind, rate)
	}
	return nil
}

// shared is the smallest number of elements for which the work is shared among threads.
const shared = 1 << 15

// after returns the smallest step count above n among the parameters whose gradients are present,
// or 0.
func (b *bound) after(n int64) int64 {
	var least int64
	for i, s := range b.steps {
		if s > n && (least == 0 || s < least) && b.params.Fresh(i) {
			least = s
		}
	}
	return least
}

// pass updates the parameters that have the same step count n. Its parts are ranges of the vectors.
type pass struct {
	bound *bound
	rule  rule
	n     int64
}

// Part updates the elements of part i.
func (p *pass) Part(i, parts int) {
	b := p.bound
	units := int64(b.size+unit-1) / unit
	from := int(units*int64(i)/int64(parts)) * unit
	to := min(b.size, int(units*int64(i+1)/int64(parts))*unit)
	first := sort.SearchInts(b.at, from+1) - 1 // the last parameter that starts at or before from
	for k := max(0, first); k < len(b.at) && b.at[k] < to; k++ {
		if b.steps[k] != p.n || !b.params.Fresh(k) {
			continue
		}
		w, at := b.params.Value(k), b.at[k]
		if lo, hi := max(from-at, 0), min(to-at, len(w)); lo < hi {
			p.rule.update(w[lo:hi], b.params.Gradient(k)[lo:hi], at+lo)
		}
	}
}
