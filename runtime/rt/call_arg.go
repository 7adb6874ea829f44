package rt

import (
	"errors"
	"slices"
)

// Arg is an operand or a result of a [Call].
type Arg struct {
	call     *Call
	where    string // names the operator and the operand or result in messages
	tensor   passed // nil before the first call
	isResult bool
	// want is the shape of a result as passed to [CallOpen], else nil. sized reports whether Resize
	// has set the shape since then.
	want  []int
	sized bool
	dims  []int // from the last Resize
}

// Data returns the elements in row-major order. Elements of a result are undefined until they are
// written. Data returns nil and records a mistake if T is not the element type, or if the function
// has returned. It does the same if the function decides the shape and has not called Resize.
func Data[T Element](a *Arg) []T {
	if !a.ready() {
		return nil
	}
	p, ok := a.tensor.(*passedAs[T])
	if !ok {
		a.call.fail("%s is %s, not %s", a.where, a.tensor.dtype(), DTypeOf[T]())
		return nil
	}
	return p.t.Data
}

// DType returns the element type in burngen's spelling, as [DTypeOf] does. It returns "" if no
// argument has been passed yet.
func (a *Arg) DType() string {
	if a == nil || a.tensor == nil {
		return ""
	}
	return a.tensor.dtype()
}

// Shape returns the extents. The function must not modify them. Shape returns nil and records a
// mistake if the function has returned. It does the same if the function decides the shape and has
// not called Resize.
func (a *Arg) Shape() []int {
	if !a.ready() {
		return nil
	}
	return a.tensor.shape()
}

// Dim returns the extent of an axis. It returns 0, and records a mistake, if a has no such axis.
func (a *Arg) Dim(axis int) int {
	shape := a.Shape()
	if axis < 0 || axis >= len(shape) {
		if a != nil && a.call.err == nil {
			a.call.fail("%s: axis %d of a tensor of rank %d", a.where, axis, len(shape))
		}
		return 0
	}
	return shape[axis]
}

// Resize sets the shape of a result whose shape the function decides. The shape must be the
// declared shape, with a value for each symbol that no operand determines. Call it before Data. It
// is a mistake to pass another shape, to resize an operand, or to exceed [ArenaLimit].
func (a *Arg) Resize(dims ...int) {
	switch {
	case a == nil:
		return
	case !a.isResult || a.tensor == nil || !a.call.running:
		a.call.fail("%s cannot be resized", a.where)
		return
	case a.want == nil:
		if !slices.Equal(dims, a.tensor.shape()) {
			a.call.fail("%s has shape %v, not %v", a.where, a.tensor.shape(), slices.Clone(dims))
		}
		return
	case len(dims) != len(a.want):
		a.call.fail("%s: shape %v, rank %d expected", a.where, slices.Clone(dims), len(a.want))
		return
	}
	for i, n := range dims {
		if w := a.want[i]; n < 0 || w >= 0 && n != w {
			a.call.fail("%s: shape %v, %s expected", a.where, slices.Clone(dims), a.call.symbols.format(a.want))
			return
		}
	}
	a.dims = append(a.dims[:0], dims...) // a copy, so that the caller's slice does not escape
	if err := a.tensor.resize(a.where, a.dims); err != nil {
		a.call.fail("%w", err)
		return
	}
	a.sized = true
}

// ready reports whether the elements and the shape of the argument may be used now. If not, it
// records a mistake.
func (a *Arg) ready() bool {
	switch {
	case a == nil:
		return false
	case !a.call.running || a.tensor == nil:
		a.call.fail("%s is there only while the function runs", a.where)
	case a.want != nil && !a.sized:
		a.call.fail("%s has no shape yet: Resize gives it", a.where)
	default:
		return true
	}
	return false
}

// usable returns an error if the argument was not passed or is not a valid tensor. It does not
// check a tensor that Resize will change.
func (a *Arg) usable() error {
	switch {
	case a.tensor == nil:
		return errors.New("it is not passed")
	case a.want == nil:
		return a.tensor.check()
	}
	return nil
}

type passed interface {
	dtype() string
	shape() []int
	// check calls [Tensor.Check].
	check() error
	// resize calls [Tensor.Resize].
	resize(where string, dims []int) error
	// leave drops the reference to a slice of [CallIn] or [CallOut].
	leave()
}

type passedAs[T Element] struct {
	// the tensor that [CallOpen] got, or &given
	t *Tensor[T]
	// holds the slice that [CallIn] or [CallOut] got
	given Tensor[T]
}

func (p *passedAs[T]) dtype() string { return DTypeOf[T]() }
func (p *passedAs[T]) shape() []int  { return p.t.Shape }
func (p *passedAs[T]) check() error  { return p.t.Check() }
func (p *passedAs[T]) leave()        { p.given.Data = nil }

func (p *passedAs[T]) resize(where string, dims []int) error {
	return p.t.Resize(where, dims...)
}

// CallIn passes data, of the given shape, as operand i of the next [Call.Run]. It does nothing if
// there is no operand i.
func CallIn[T Element](c *Call, i int, data []T, shape ...int) { pass(c.in, i, data, shape) }

// CallOut passes data, of the given shape, as the memory of result i of the next [Call.Run]. It
// does nothing if there is no result i.
func CallOut[T Element](c *Call, i int, data []T, shape ...int) { pass(c.out, i, data, shape) }

func pass[T Element](args []*Arg, i int, data []T, shape []int) {
	if i < 0 || i >= len(args) {
		return
	}
	p := passedTo[T](args[i])
	p.given.Data, p.given.Shape = data, append(p.given.Shape[:0], shape...)
	p.t = &p.given
}

// CallOpen passes the tensor that receives result i of the next [Call.Run], for a result whose
// shape the function decides. want is the declared shape: an extent of 0 or more is fixed, and
// [Sym](k) stands for symbol k of [NewCall]. CallOpen does nothing if there is no result i.
func CallOpen[T Element](c *Call, i int, t *Tensor[T], want ...int) {
	if i < 0 || i >= len(c.out) || t == nil {
		return
	}
	a := c.out[i]
	passedTo[T](a).t = t
	a.want, a.sized = append(a.want[:0], want...), false
}

// passedTo returns the tensor of a as a *passedAs[T]. If a has no tensor or a tensor of another
// type, it first sets an empty one.
func passedTo[T Element](a *Arg) *passedAs[T] {
	p, ok := a.tensor.(*passedAs[T])
	if !ok {
		p = &passedAs[T]{}
		a.tensor = p
	}
	return p
}
