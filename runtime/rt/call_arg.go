package rt

import (
	"errors"
	"slices"
)

// Arg is an operand or a result of a [Call].
type Arg struct {
	call     *Call
	where    string // in messages: the operator, and which operand or result
	tensor   passed // nil before the first call
	isResult bool
	// want is the shape of a result as [CallOpen] has it, nil for others; sized tells
	// that the function gave it one.
	want  []int
	sized bool
	dims  []int // of the last Resize
}

// Data returns the elements, in row-major order. Those of a result have undefined
// values before they are written, and there are none before Resize where the function
// decides the shape. A T that is not the element type is a mistake.
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

// DType returns what burngen calls the element type, as [DTypeOf] does.
func (a *Arg) DType() string {
	if a == nil || a.tensor == nil {
		return ""
	}
	return a.tensor.dtype()
}

// Shape returns the extents, which the function leaves as they are.
func (a *Arg) Shape() []int {
	if !a.ready() {
		return nil
	}
	return a.tensor.shape()
}

// Dim returns an extent, and 0 for an axis that a does not have, which is a mistake.
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

// Resize gives a result whose shape the function decides its shape: the declared one,
// with an extent for each symbol that is no operand's. It comes before Data. Mistakes
// are other shapes, operands, and more elements than [ArenaLimit] lets be.
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
	a.dims = append(a.dims[:0], dims...) // so that the caller's do not escape
	if err := a.tensor.resize(a.where, a.dims); err != nil {
		a.call.fail("%w", err)
		return
	}
	a.sized = true
}

// ready reports whether a may be looked at now; it is a mistake if not.
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

// usable returns an error for what was not passed, or is no tensor.
func (a *Arg) usable() error {
	switch {
	case a.tensor == nil:
		return errors.New("it is not passed")
	case a.want == nil:
		return a.tensor.check()
	}
	return nil
}

// passed is a tensor of any element type.
type passed interface {
	dtype() string
	shape() []int
	check() error
	resize(where string, dims []int) error
	leave()
}

// passedAs is a tensor of T: one that the function resizes, or the memory of another
// in given.
type passedAs[T Element] struct {
	t     *Tensor[T]
	given Tensor[T]
}

func (p *passedAs[T]) dtype() string { return DTypeOf[T]() }
func (p *passedAs[T]) shape() []int  { return p.t.Shape }
func (p *passedAs[T]) check() error  { return p.t.Check() }
func (p *passedAs[T]) leave()        { p.given.Data = nil }

func (p *passedAs[T]) resize(where string, dims []int) error {
	return p.t.Resize(where, dims...)
}

// CallIn passes operand i of the next [Call.Run].
func CallIn[T Element](c *Call, i int, data []T, shape ...int) { pass(c.in, i, data, shape) }

// CallOut passes the memory of result i of the next [Call.Run].
func CallOut[T Element](c *Call, i int, data []T, shape ...int) { pass(c.out, i, data, shape) }

func pass[T Element](args []*Arg, i int, data []T, shape []int) {
	if i < 0 || i >= len(args) {
		return
	}
	p := passedTo[T](args[i])
	p.given.Data, p.given.Shape = data, append(p.given.Shape[:0], shape...)
	p.t = &p.given
}

// CallOpen passes the tensor that result i of the next [Call.Run] becomes, whose shape
// the function decides: in want, an extent of 0 or more stands for itself, and [Sym](k)
// for symbol k of [NewCall].
func CallOpen[T Element](c *Call, i int, t *Tensor[T], want ...int) {
	if i < 0 || i >= len(c.out) || t == nil {
		return
	}
	a := c.out[i]
	passedTo[T](a).t = t
	a.want, a.sized = append(a.want[:0], want...), false
}

// passedTo returns what a holds, of element type T.
func passedTo[T Element](a *Arg) *passedAs[T] {
	p, ok := a.tensor.(*passedAs[T])
	if !ok {
		p = &passedAs[T]{}
		a.tensor = p
	}
	return p
}
