package rt

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Memory is the memory in which a session or trainer runs its calls, one call at a time.
type Memory struct {
	// Ctx ends calls early when it is done. It may be nil.
	Ctx context.Context
	// Arena holds the buffers of the call that runs. Its length is their size.
	Arena []byte
	// Tail holds tensors whose sizes are known only while the call runs.
	Tail Tail
	// Symbols are the extents of the call's arguments.
	Symbols Symbols

	guard   Guard
	max     Max
	method  *Method
	second  bool   // the call is the second half of its method
	args    []span // memory of the call's arguments
	layouts []*layoutOf
	layout  *layoutOf // of the last method called that places its Buffers
	sharing bool      // threads share the call's kernels
	refused bool      // Results or CheckLike has returned an error
}

// layoutOf holds the offsets of a method's buffers for the extents of its last call.
type layoutOf struct {
	method  *Method
	ready   bool    // whether the buffers are placed
	extents []int64 // as [Buffers] describes them
	need    int64   // the size of the arena
	z       Sizes
	// bytes[i][k] is the size in bytes of buffer k of method.Buffers[i].
	bytes [][]int64
	// offsets[i][k] is the offset of that buffer in the arena.
	offsets [][]int
	// offsets as Method.Layout stores them
	at [][]int64
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
		*err = recovered(f.where(), r)
	}
	f.Weights = nil // may be freed when the model has others
	f.leave()
}

// enter begins a call. It returns [ErrBusy] while another call runs.
func (m *Memory) enter(method *Method) error {
	if err := m.guard.Enter(); err != nil {
		return err
	}
	m.method, m.second = method, false
	m.refused, m.args = false, m.args[:0]
	m.Symbols.rename(method.Symbols)
	return nil
}

func (m *Memory) where() string {
	if m.second {
		return m.method.Backward
	}
	return m.method.Name
}

func (m *Memory) leave() {
	if m.sharing {
		workers.end()
		m.sharing = false
	}
	m.guard.Leave()
}

// begin checks the caller's arguments. Unless the method is Unbound, begin then calls Open to
// allocate the arena, and checks the results. Errors contain copies of the names and shapes in args,
// so that args does not escape to the heap.
func (m *Memory) begin(args []Passed) error {
	if err := m.check(args); err != nil {
		return err
	}
	if m.method.Unbound {
		return nil
	}
	if err := m.Open(); err != nil {
		return err
	}
	return m.checkResults(args)
}

// check returns an error if a pointer is nil, or the error of checkArgument for an argument. It
// records the memory of the arguments.
func (m *Memory) check(args []Passed) error {
	for i := range args {
		a := &args[i]
		if a.missing {
			return m.isNil(a.name)
		}
		if a.result {
			continue
		}
		m.args = append(m.args, a.span)
		if err := m.checkArgument(a); err != nil {
			return err
		}
	}
	return nil
}

// checkArgument returns an error if the method does not take an argument of this shape or length.
// It binds the symbols of the shape that earlier arguments have not bound.
func (m *Memory) checkArgument(a *Passed) error {
	var err error
	switch a.kind {
	case whole:
		return nil
	case items:
		return m.checkItems(a)
	case shaped:
		if err = checkData(a.shape, a.n); err == nil {
			err = m.Symbols.checkShape(a.shape, a.want)
		}
	case loose:
		err = checkData(a.shape, a.n)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", m.where(), strings.Clone(a.name), err)
	}
	return nil
}

// checkItems returns an error unless the argument has one element for each item of the batch. The
// first such argument sets the size of the batch, which is the method's first symbol. checkItems
// returns an error if this size exceeds the session's limit.
func (m *Memory) checkItems(a *Passed) error {
	n := m.Symbols.Value(0)
	if n < 0 {
		n = a.n
		m.Symbols.values[0] = n
		if limit := m.max.Limit(m.method.Symbols[0]); n > limit {
			return fmt.Errorf("%s: batch of %d: session holds %d at most", m.where(), n, limit)
		}
	}
	if n != a.n {
		return fmt.Errorf("%s: %s: %d elements expected, got %d", m.where(), strings.Clone(a.name), n, a.n)
	}
	return nil
}

func (m *Memory) isNil(name string) error {
	return fmt.Errorf("%s: %s is nil", m.where(), strings.Clone(name))
}

// Open makes the arena large enough for the call. The symbols must be bound. Unless the method is
// Serial, the worker pool may then compute parts of the call; see [Begin]. Open returns an error if an
// extent exceeds a limit, or if there is not enough memory. [Enter] calls it, unless the method is
// Unbound.
func (m *Memory) Open() error {
	if len(m.max) > 0 {
		if err := m.Symbols.CheckMax(m.where(), m.max); err != nil {
			return err
		}
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

// Results checks results that become known after the call has begun. It returns an error if there was
// not enough memory for a result, or if a result is a nil pointer, does not have the size of the
// batch, or overlaps the memory of an argument.
func (m *Memory) Results(results ...Passed) error {
	err := roomError(m.where(), results)
	if err == nil {
		err = m.checkResults(results)
	}
	m.refused = err != nil
	return err
}

func roomError(where string, results []Passed) error {
	for i := range results {
		if err := results[i].err; err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	return nil
}

// checkResults returns an error if a result among args is a nil pointer, does not have the size of
// the batch, or overlaps an argument.
func (m *Memory) checkResults(args []Passed) error {
	for i := range args {
		r := &args[i]
		switch {
		case !r.result:
		case r.missing:
			return m.isNil(r.name)
		case r.kind == items && r.n != m.Symbols.Value(0):
			return fmt.Errorf("%s: dst has room for %d: batch of %d", m.where(), r.n, m.Symbols.Value(0))
		case r.span.overlaps(m.args):
			what := "dst"
			if m.second {
				what = "result"
			}
			return fmt.Errorf("%s: %s overlaps an input", m.where(), what)
		}
	}
	return nil
}

// CheckLike returns an error unless the gradient of a result has the shape of the result. name is the name of the
// gradient, shape is its shape, and want is the shape of the result.
func (m *Memory) CheckLike(name string, shape, want []int) error {
	if slices.Equal(shape, want) {
		return nil
	}
	m.refused = true
	return fmt.Errorf("%s: %s: shape %v: %v expected", m.where(), name, slices.Clone(shape), slices.Clone(want))
}

// Extent returns the extent of symbol i of the call's method, or -1 if no argument has bound it.
func (m *Memory) Extent(i int) int { return m.Symbols.Value(i) }

// Offsets returns the byte offsets of the buffers of function i of [Method.Buffers]. The offsets count
// from the start of the function's part of the arena.
func (m *Memory) Offsets(i int) []int { return m.layout.offsets[i] }

func (m *Memory) open() error {
	need, err := m.need()
	if err != nil {
		return err
	}
	return m.grow(need)
}

// grow sets the length of the arena to `need` bytes. It keeps the arena's memory if its capacity
// suffices.
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

// need returns the size in bytes of the arena for the extents of the call. If the method has
// Buffers in place of Fixed and Each, need also computes the offsets of the buffers.
func (m *Memory) need() (int64, error) {
	method := m.method
	if method.isFixed() {
		return method.Fixed, nil
	}
	if method.Each == nil {
		m.layout = m.layoutOf(method)
		return m.layout.place(m.where(), m.Symbols.values)
	}
	var z Sizes
	need := method.Fixed
	for i, each := range method.Each {
		need = z.Add(z.Mul(each, int64(m.Symbols.Value(i))), need)
	}
	return need, z.Err(m.where())
}

// openFor grows the arena so that it is large enough for calls of a method with these extents. No call
// may run meanwhile.
func (m *Memory) openFor(method *Method, extents ...int) error {
	m.method = method
	m.Symbols.rename(method.Symbols)
	copy(m.Symbols.values, extents)
	return m.open()
}

// layoutOf returns the layout of a method. The layout is empty if no call has needed it yet.
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

// place computes the offsets of the buffers for these extents, unless l already has them. It returns
// the size of the arena in bytes.
func (l *layoutOf) place(where string, extents []int) (int64, error) {
	if !l.ready || !slices.EqualFunc(extents, l.extents[:len(extents)], func(a int, b int64) bool { return int64(a) == b }) {
		if err := l.compute(where, extents); err != nil {
			return 0, err
		}
	}
	return l.need, nil
}

// compute computes the offsets of the buffers and the size of the arena for these extents. It returns
// an error if a size overflows.
func (l *layoutOf) compute(where string, extents []int) (err error) {
	defer Recover(where, &err)
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
