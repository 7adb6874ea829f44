package rt

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Memory is the memory in which a session or trainer runs its calls. It runs one call at a time.
type Memory struct {
	// Ctx ends calls early when it is done. It may be nil.
	Ctx context.Context
	// Arena holds the buffers of the call that runs, and has no more bytes than these.
	Arena []byte
	// Tail holds tensors whose sizes are known only while the call runs.
	Tail Tail
	// Symbols are the extents of the call's arguments.
	Symbols Symbols

	guard   Guard
	max     Max
	method  *Method
	where   string // what errors of the call begin with
	results string // what they call its results
	args    []span // of the call
	layouts []*layoutOf
	layout  *layoutOf // of the call's method, nil if it has no Buffers
	sharing bool      // threads share the call's kernels
	refused bool      // a result was refused before anything was computed
}

// layoutOf is where the buffers of a method are, for the extents of its last call.
type layoutOf struct {
	method  *Method
	ready   bool
	extents []int64
	need    int64 // the size of the arena
	z       Sizes
	bytes   [][]int64
	offsets [][]int
	at      [][]int64
}

// Frame is a call of a session's method, from [Enter] to Leave.
type Frame[W any] struct {
	Memory
	// Weights are the weights that the call reads.
	Weights *W
}

// Leave ends the call. It is deferred: a panic becomes the call's error, as with [Recover].
func (f *Frame[W]) Leave(err *error) {
	if r := recover(); r != nil {
		*err = recovered(f.where, r)
	}
	f.Weights = nil // may be freed when the model has others
	f.leave()
}

// enter begins a call.
func (m *Memory) enter(method *Method) error {
	if err := m.guard.Enter(); err != nil {
		return err
	}
	m.method, m.where, m.results = method, method.Name, "dst"
	m.refused, m.args = false, m.args[:0]
	m.Symbols.rename(method.Symbols)
	return nil
}

// leave ends a call.
func (m *Memory) leave() {
	if m.sharing {
		workers.end()
		m.sharing = false
	}
	m.guard.Leave()
}

// begin checks the caller's arguments and makes room for the call. Errors get copies of the
// arguments, so that the arguments do not escape to the heap.
func (m *Memory) begin(args []Passed) error {
	if err := m.check(args); err != nil {
		return err
	}
	if m.method.Unbound {
		return nil
	}
	if err := m.checkBatch(args); err != nil {
		return err
	}
	if err := m.Open(); err != nil {
		return err
	}
	return m.checkOverlap(args)
}

// check checks pointers and the shapes of arguments.
func (m *Memory) check(args []Passed) error {
	for i := range args {
		if a := &args[i]; a.missing {
			return m.isNil(a.name)
		}
	}
	for i := range args {
		a := &args[i]
		if a.result {
			continue
		}
		m.args = append(m.args, a.span)
		if err := m.checkArgument(a); err != nil {
			return fmt.Errorf("%s: %s: %w", m.where, strings.Clone(a.name), err)
		}
	}
	return nil
}

// checkArgument checks the shape of an argument.
func (m *Memory) checkArgument(a *Passed) error {
	switch a.kind {
	case items:
		switch n := m.Symbols.Value(0); {
		case n < 0:
			m.Symbols.values[0] = a.n
		case n != a.n:
			return fmt.Errorf("%d elements expected, got %d", n, a.n)
		}
	case shaped, loose:
		if err := checkData(a.shape, a.n); err != nil {
			return err
		}
	}
	if a.kind == shaped {
		return m.Symbols.checkShape(a.shape, a.want)
	}
	return nil
}

func (m *Memory) isNil(name string) error {
	return fmt.Errorf("%s: %s is nil", m.where, strings.Clone(name))
}

// checkBatch checks the size of the batch, and the lengths of results that have one item for each
// item of the batch.
func (m *Memory) checkBatch(args []Passed) error {
	for i := range args {
		if a := &args[i]; a.kind == items {
			n := m.Symbols.Value(0)
			room := n
			if a.result {
				room = a.n
			}
			if err := checkBatch(m.where, n, room, m.max.Limit(m.method.Symbols[0])); err != nil {
				return err
			}
		}
	}
	return nil
}

// Open makes the arena large enough for a call whose symbols are bound. It returns an error if an
// extent exceeds a limit, or if there is no room. [Enter] calls it, unless the method is Unbound.
func (m *Memory) Open() error {
	if err := m.Symbols.CheckMax(m.where, m.max); err != nil {
		return err
	}
	if err := m.open(); err != nil {
		return err
	}
	if !m.method.Serial {
		workers.begin()
		m.sharing = true
	}
	return nil
}

// Results checks results that become known after the call has begun. It returns an error if there
// is no room for them, or if they overlap the memory of an argument.
func (m *Memory) Results(results ...Passed) error {
	err := m.checkResults(results)
	m.refused = err != nil
	return err
}

func (m *Memory) checkResults(results []Passed) error {
	for i := range results {
		switch r := &results[i]; {
		case r.missing:
			return m.isNil(r.name)
		case r.err != nil:
			return fmt.Errorf("%s: %w", m.where, r.err)
		}
	}
	if err := m.checkBatch(results); err != nil {
		return err
	}
	return m.checkOverlap(results)
}

// CheckLike returns an error unless a gradient has the shape of its result. name is the gradient's
// name, and want the shape of the result.
func (m *Memory) CheckLike(name string, shape, want []int) error {
	if slices.Equal(shape, want) {
		return nil
	}
	m.refused = true
	return fmt.Errorf("%s: %s: shape %v: %v expected", m.where, name, slices.Clone(shape), slices.Clone(want))
}

// checkOverlap checks that no result is in the memory of an argument.
func (m *Memory) checkOverlap(results []Passed) error {
	m.args = union(m.args)
	for i := range results {
		if r := &results[i]; r.result && overlaps(r.span, m.args) {
			return fmt.Errorf("%s: %s overlaps an input", m.where, m.results)
		}
	}
	return nil
}

// Extent returns the extent of symbol i of the call's method.
func (m *Memory) Extent(i int) int { return m.Symbols.Value(i) }

// Offsets returns the offsets of a function's buffers in bytes. i is the function's index in
// [Method.Buffers]. The offsets count from the start of the function's part of the arena.
func (m *Memory) Offsets(i int) []int { return m.layout.offsets[i] }

// open makes the arena large enough for the extents of the call.
func (m *Memory) open() error {
	need := m.method.Fixed
	if len(m.method.Buffers) > 0 {
		l := m.layoutOf(m.method)
		if err := l.place(m.where, m.Symbols.values); err != nil {
			return err
		}
		m.layout, need = l, l.need
	}
	var z Sizes
	for i, each := range m.method.Each {
		if each != 0 {
			need = z.Add(z.Mul(each, int64(m.Symbols.Value(i))), need)
		}
	}
	if err := z.Err(m.where); err != nil {
		return err
	}
	return m.grow(need)
}

// grow makes the arena as large as need. It keeps the memory of a larger call.
func (m *Memory) grow(need int64) error {
	if int64(cap(m.Arena)) >= need {
		m.Arena = m.Arena[:need]
		return nil
	}
	arena, err := NewArena(need)
	if err != nil {
		return err
	}
	m.Arena = arena
	return nil
}

// openFor makes room for calls with extents that are known before.
func (m *Memory) openFor(method *Method, extents ...int) error {
	m.method, m.where = method, method.Name
	m.Symbols.rename(method.Symbols)
	copy(m.Symbols.values, extents)
	return m.open()
}

// layoutOf returns where the buffers of a method are.
func (m *Memory) layoutOf(method *Method) *layoutOf {
	for _, l := range m.layouts {
		if l.method == method {
			return l
		}
	}
	l := &layoutOf{method: method, extents: make([]int64, len(method.Symbols)+len(method.Buffers))}
	for _, b := range method.Buffers {
		n := len(b.First)
		l.bytes, l.at, l.offsets = append(l.bytes, make([]int64, n)), append(l.at, make([]int64, n)), append(l.offsets, make([]int, n))
	}
	m.layouts = append(m.layouts, l)
	return l
}

// place places the buffers for some extents, unless they are where they were.
func (l *layoutOf) place(where string, extents []int) error {
	if l.ready && slices.EqualFunc(extents, l.extents[:len(extents)], func(a int, b int64) bool { return int64(a) == b }) {
		return nil
	}
	l.ready, l.z = false, Sizes{}
	for i, n := range extents {
		l.extents[i] = int64(n)
	}
	for i, b := range l.method.Buffers {
		b.sizes(&l.z, l.extents, l.bytes[i])
		if err := l.z.Err(where); err != nil {
			return err
		}
		l.need = l.method.Layout(l.bytes[i], b.First, b.Last, l.at[i])
		l.extents[len(extents)+i] = l.need / alignment
		for k, at := range l.at[i] {
			l.offsets[i][k] = int(at)
		}
	}
	l.ready = true
	return nil
}
