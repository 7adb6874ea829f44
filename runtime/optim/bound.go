package optim

import (
	"fmt"
	"math"
	"sort"

	"github.com/burngen/burngen/runtime/rt"
)

// Optimizer is what all optimizers are but [LBFGS].
type Optimizer interface {
	// Step updates the parameters whose gradients are there at a learning rate, and uses
	// the gradients up. It does nothing after Release. It returns an error, and changes
	// nothing, if the rate is NaN, negative or no float32.
	Step(rate float64) error

	// Release ends the use of the parameters, so that another optimizer may be bound
	// to them.
	Release()

	rt.Stater
}

// bound is what every optimizer knows of its parameters. What optimizers remember of
// their elements lies in vectors that have a place for every parameter.
type bound struct {
	kind    string // of the optimizer, as messages and states have it
	params  *rt.Params
	at      []int    // where the parameters begin in those vectors
	size    int      // of the vectors
	steps   []int64  // that every parameter has seen
	names   []string // of the vectors
	vectors [][]float32
	pass    pass
}

// line is how many elements a parameter begins at a multiple of, and unit how many a
// part of a pass is made of.
const (
	line = 16
	unit = 64
)

// bind reserves the parameters for an optimizer of a kind and makes vectors of zeros of
// the given names.
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

// vector returns the vector of a name, nil if there is none.
func (b *bound) vector(name string) []float32 {
	for k, n := range b.names {
		if n == name {
			return b.vectors[k]
		}
	}
	return nil
}

// Release ends the use of the parameters, so that another optimizer may be bound to
// them.
func (b *bound) Release() {
	b.params.Release()
	b.params = nil
}

// State registers what the optimizer remembers: its kind, how many steps every parameter has seen
// and its part of the vectors.
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

// rule is what makes an optimizer: what it does to elements of a parameter.
type rule interface {
	// prepare computes the numbers of step number n of a parameter, from 1 on.
	prepare(n int64, rate float64)

	// update changes elements w, whose gradients are g and whose places in the vectors
	// begin at from.
	update(w, g []float32, from int)
}

// step updates the parameters whose gradients are there, and uses them up. A unit takes
// so many nanoseconds.
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

// shared is the least number of elements that it is worth to wake workers for.
const shared = 1 << 15

// after returns the least number of steps above n that a parameter whose gradient is
// there has seen, 0 if there is none.
func (b *bound) after(n int64) int64 {
	var least int64
	for i, s := range b.steps {
		if s > n && (least == 0 || s < least) && b.params.Fresh(i) {
			least = s
		}
	}
	return least
}

// pass is step number n of those parameters that have seen so many. Its parts are ranges
// of the vectors.
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
	first := sort.SearchInts(b.at, from+1) - 1 // the last that begins at or before from
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
