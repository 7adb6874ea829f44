package optim

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/burngen/burngen/runtime/rt"
)

// Optimizer is implemented by all optimizers except [LBFGS].
type Optimizer interface {
	// Step updates the parameters whose gradients are present, and consumes these gradients. `rate` is the
	// learning rate. After Release, Step changes nothing. If rate is negative, NaN or beyond the largest float32,
	// Step returns an error and changes nothing. It also returns the errors of the device that trains; parameters
	// may then have changed.
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

	device rt.Mirror // on which steps are made; nil for the host
	leave  func()    // undoes Params.Stay
}

const (
	// line is the alignment of parameters in the vectors of an optimizer, in elements.
	line = 16
	// unit is the number of elements in a unit of work. A thread gets whole units.
	unit = 64
)

// bind reserves the parameters for an optimizer of the given kind, and allocates a zeroed vector
// for each of names. If it returns an error, nothing is reserved.
func (b *bound) bind(kind string, p *rt.Params, names ...string) error {
	if err := p.Bind(); err != nil {
		return named(kind, err)
	}
	*b = bound{kind: kind, params: p, names: names, steps: make([]int64, len(p.Items)), at: make([]int, len(p.Items))}
	for i := range p.Items {
		b.at[i] = b.size
		b.size += (p.Size(i) + line - 1) / line * line
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

// onDevice makes later steps run on the device that trains the parameters, if there is one. If the device has not
// enough memory for the optimizer's vectors, onDevice releases the parameters and returns an error.
func (b *bound) onDevice() error {
	m := b.params.Mirror()
	if m == nil {
		return nil
	}
	if err := m.Hold(b.vectors...); err != nil {
		b.params.Release()
		return named(b.kind, err)
	}
	b.device, b.leave = m, b.params.Stay()
	return nil
}

func (b *bound) vector(name string) []float32 {
	for k, n := range b.names {
		if n == name {
			return b.vectors[k]
		}
	}
	return nil
}

// Release implements [Optimizer].
func (b *bound) Release() {
	b.params.Release()
	b.params = nil
	if b.device != nil {
		b.device.Drop(b.vectors...)
		b.leave()
		b.device = nil
	}
}

// State implements [rt.Stater]. It registers the kind of optimizer. For each parameter it also registers the
// number of steps and the parameter's part of the optimizer's vectors. It registers nothing after Release.
func (b *bound) State(s *rt.State) {
	if b.params == nil {
		return
	}
	rt.StateKind(s, b.kind)
	if b.device != nil {
		if err := b.device.ToHost(b.vectors...); err != nil {
			failed := func() error { return err }
			rt.StateFunc(s, failed, failed)
		}
	}
	for i, it := range b.params.Items {
		rt.StateScalar(s, "step/"+it.Name, &b.steps[i])
		for k, name := range b.names {
			rt.StateTensor(s, name+"/"+it.Name, b.vectors[k][b.at[i]:][:b.params.Size(i)], it.Shape...)
		}
	}
}

type rule interface {
	// prepare computes the constants of step n of a parameter, n = 1, 2, ….
	prepare(n int64, rate float64)

	// update changes the weights w with gradients g. `from` is the offset of w in the vectors.
	update(w, g []float32, from int)
}

// step updates the parameters whose gradients are present, and consumes these gradients.
// nanoseconds is the approximate time that the host takes for `unit` elements.
func (b *bound) step(r rule, rate float64, nanoseconds int64) error {
	if err := b.checkRate(rate); err != nil || b.params == nil {
		return err
	}
	if err := cmp.Or(b.params.Err(), b.bring()); err != nil {
		return named(b.kind, err)
	}
	if b.device == nil && b.size >= shared {
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
		if b.device != nil {
			if err := b.launch(r.(deviceRule), n); err != nil {
				return named(b.kind, err)
			}
			continue
		}
		b.pass = pass{b, r, n}
		parts := rt.Parts(int64(b.size/unit) * nanoseconds)
		if err := rt.Run(&b.pass, parts); err != nil {
			panic(err)
		}
	}
	b.params.UseUp()
	return nil
}

// bring prepares the parameters for a step. If the host makes the step, bring copies the elements that a
// device has changed to host memory. Otherwise it records that the device changes them.
func (b *bound) bring() error {
	if b.device == nil {
		return b.params.Fetch()
	}
	b.params.Took()
	return nil
}

// deviceRule is a rule for which devices have a kernel.
type deviceRule interface {
	rule
	// kernel returns the name of the kernel, the numbers that the method prepare has computed for it, and the vectors
	// that the kernel changes besides the parameters.
	kernel() (name string, numbers []float32, vectors [][]float32)
}

// launch updates, on the device, the parameters that have a gradient and whose number of steps is n. One launch of
// the kernel updates all of them that are adjacent in memory.
func (b *bound) launch(r deviceRule, n int64) error {
	name, numbers, vectors := r.kernel()
	data, grad := b.params.Vectors()
	for i := 0; i < len(b.at); {
		if b.steps[i] != n || !b.params.Fresh(i) {
			i++
			continue
		}
		off, at := b.params.Items[i].Off, b.at[i]
		end := i + 1
		for ; end < len(b.at) && b.steps[end] == n && b.params.Fresh(end) && b.params.Items[end].Off-off == b.at[end]-at; end++ {
		}
		size := b.at[end-1] - at + b.params.Size(end-1)
		i = end
		if size == 0 {
			continue
		}
		list := [][]float32{data[off : off+size], grad[off : off+size]}
		for _, v := range vectors {
			list = append(list, v[at:at+size])
		}
		if err := b.device.Update(name, numbers, list...); err != nil {
			return err
		}
	}
	return nil
}

// checkRate returns an error unless rate is at least 0 and finite as a float32.
func (b *bound) checkRate(rate float64) error {
	if !(rate >= 0 && rate <= math.MaxFloat32) {
		return fmt.Errorf("%s: learning rate is %v: at least 0 and finite expected", b.kind, rate)
	}
	return nil
}

// shared is the smallest number of elements that several threads update. A single thread updates fewer.
const shared = 1 << 15

// after returns the smallest number of steps that is greater than n and that belongs to a parameter with a gradient.
// It returns 0 if there is no such number.
func (b *bound) after(n int64) int64 {
	var least int64
	for i, s := range b.steps {
		if s > n && (least == 0 || s < least) && b.params.Fresh(i) {
			least = s
		}
	}
	return least
}

// pass updates the parameters that have made n steps. As an [rt.Task], it is divided into ranges of the
// optimizer's vectors.
type pass struct {
	bound *bound
	rule  rule
	n     int64
}

// Part implements [rt.Task]. It divides the elements into `parts` ranges and updates range i.
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
