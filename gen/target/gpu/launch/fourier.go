package launch

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// fourier are Fourier transforms. They compute in f64.
var fourier = []entry{
	computes(dft),
}

// dft computes a Fourier transform by the mixed-radix algorithm (Cooley and Tukey, 1965). The first launch computes
// the roots of unity. Each radix is one more launch.
//
// A line has `length` elements. z[j, k] is element k of the transform of `size` of these elements: j, j + step, j +
// 2·step, …, where step is length/size. At first size is 1, and z is the line. A radix p multiplies size by p:
//
//	y[j, k] = Σ_q e^(∓2πi·qk/(p·size)) · z[j + q·step/p, k mod size]
//
// At the end size is length, and y[0, k] is the spectrum. The axes of z in memory are outer, j, k and inner. If the
// length is known only at run time, it is the only radix.
func dft(o op.DFT, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0].Type, n.Results[0].Type
	if _, ok := kernels.Arithmetic(x.DType); !ok {
		return nil, errNarrow
	}
	last := x.Rank() - 1
	f := transform{
		DFT: o, x: n.Args[0], y: n.Results[0], parts: lastExtent(x), results: lastExtent(y),
		outer: dim.Product(x.Shape[:o.Axis]...), inner: dim.Product(x.Shape[o.Axis+1 : last]...),
		roots: &kernels.Scratch{DType: ir.F64, Shape: []dim.Dim{o.Length, dim.Const(2)}},
	}
	launches, err := one(f.rootsOfUnity())
	if err != nil {
		return nil, err
	}
	get, size, step := f.signal, dim.Const(1), o.Length
	radices := radicesOf(o.Length)
	// Each launch but the last writes z to the memory that the launch before does not.
	var memory [2]*kernels.Scratch
	for i := range memory {
		memory[i] = &kernels.Scratch{DType: ir.F64, Shape: []dim.Dim{f.outer, o.Length, f.inner, dim.Const(2)}}
	}
	for i, p := range radices {
		size, step = size.Mul(p), step.FloorDiv(p)
		put := f.spectrum
		s := stage{radix: p, size: size, step: step, bins: y.Shape[o.Axis]}
		z := memory[i%2]
		if i < len(radices)-1 {
			s.bins, put = size, func(e *kernels.Emitter, at []*kernel.Value, row *kernel.Value, v []*kernel.Value) {
				setPair(e, z, row, v)
			}
		}
		l, err := f.join(s, get, put)
		if err != nil {
			return nil, err
		}
		launches = append(launches, l)
		before := s
		get = func(e *kernels.Emitter, o, j, k, i *kernel.Value) []*kernel.Value {
			row := e.Add(e.Mul(o, e.Dim(before.step)), j)
			row = e.Add(e.Mul(row, e.Dim(before.size)), e.Rem(k, e.Dim(before.size)))
			return pairAt(e, z, e.Add(e.Mul(row, e.Dim(f.inner)), i))
		}
	}
	return launches, nil
}

func lastExtent(t ir.Type) int {
	n, _ := t.Shape[t.Rank()-1].Int()
	return n
}

// maxRadix bounds the radices that are products of several primes. A radix that is a single prime may be larger.
const maxRadix = 32

// radicesOf factors a length into radices. A radix is the product of one or more prime factors. Each radix costs a
// launch, so a radix takes prime factors in ascending order as long as the product does not exceed maxRadix. A length
// that is less than 2, or not constant, is the only radix.
func radicesOf(length dim.Dim) []dim.Dim {
	n, ok := length.Int()
	if !ok || n < 2 {
		return []dim.Dim{length}
	}
	var radices []dim.Dim
	radix := 1
	for p := 2; n > 1; {
		switch {
		case n%p != 0 && p*p > n:
			p = n
		case n%p != 0:
			p++
		case radix > 1 && radix*p > maxRadix:
			radices, radix = append(radices, dim.Const(radix)), 1
		default:
			radix, n = radix*p, n/p
		}
	}
	return append(radices, dim.Const(radix))
}

// transform is a DFT of lines of a tensor [outer, n, inner, parts].
type transform struct {
	op.DFT
	x, y           *ir.Value
	parts, results int // of an element of x and y: 1 or 2
	outer, inner   dim.Dim
	roots          *kernels.Scratch // Length complex numbers
}

// stage describes the launch of one radix of [dft]. The launch computes transforms of `size` elements of the line, at
// distances of `step` elements. It computes elements 0 to bins − 1 of each transform.
type stage struct{ radix, size, step, bins dim.Dim }

// pairAt returns the real and imaginary part of complex number i in scratch memory.
func pairAt(e *kernels.Emitter, s *kernels.Scratch, i *kernel.Value) []*kernel.Value {
	t := e.Scratch(s)
	first := e.Mul(e.Convert(ir.I64, i), e.Whole(ir.I64, 2))
	return []*kernel.Value{t.Get(first), t.Get(e.Add(first, e.Whole(ir.I64, 1)))}
}

func setPair(e *kernels.Emitter, s *kernels.Scratch, i *kernel.Value, v []*kernel.Value) {
	t := e.Scratch(s)
	first := e.Mul(e.Convert(ir.I64, i), e.Whole(ir.I64, 2))
	t.Set(first, v[0])
	t.Set(e.Add(first, e.Whole(ir.I64, 1)), v[1])
}

func (f transform) rootsOfUnity() (kernels.Launch, error) {
	return kernels.Map("roots_of_unity", []dim.Dim{f.Length}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		t := e.Div(e.Convert(ir.F64, i), e.Convert(ir.F64, e.Dim(f.Length)))
		t = e.Mul(e.Float(ir.F64, 2*math.Pi), t)
		sin := elementary.Sin(e.Builder, t)
		if !f.Inverse {
			sin = e.Neg(sin)
		}
		setPair(e, f.roots, i, []*kernel.Value{elementary.Cos(e.Builder, t), sin})
	})
}

// join returns the launch of the kernel of stage s. The kernel computes z from the z of the stage before. Each result
// is a sum of s.radix terms. The function `get` returns the real and the imaginary part of z[outer, j, k, inner] of
// the stage before. The function `put` stores v, both parts of a result: `at` holds the result's index on each axis,
// and row is its index in row-major order.
func (f transform) join(s stage, get func(e *kernels.Emitter, outer, j, k, inner *kernel.Value) []*kernel.Value, put func(e *kernels.Emitter, at []*kernel.Value, row *kernel.Value, v []*kernel.Value)) (kernels.Launch, error) {
	shape := []dim.Dim{f.outer, s.step, s.bins, f.inner}
	wide := ir.U64
	if most, ok := s.radix.Mul(s.size).Int(); ok && most <= math.MaxInt32 {
		wide = ir.U32
	}
	plus := func(e *kernels.Emitter, x, y []*kernel.Value) []*kernel.Value {
		return []*kernel.Value{e.Add(x[0], y[0]), e.Add(x[1], y[1])}
	}
	return kernels.Reduce("dft", dim.Product(shape...), s.radix, kernels.Reduction{
		Start: func(e *kernels.Emitter) []*kernel.Value {
			return []*kernel.Value{e.Float(ir.F64, 0), e.Float(ir.F64, 0)}
		},
		Add: func(e *kernels.Emitter, sum []*kernel.Value, row, q *kernel.Value) []*kernel.Value {
			at := e.Unflatten(row, shape)
			z := get(e, at[0], e.Add(at[1], e.Mul(q, e.Dim(s.step))), at[2], at[3])
			turn := e.Mul(e.Convert(wide, q), e.Convert(wide, at[2]))
			turn = e.Rem(turn, e.Convert(wide, e.Dim(s.size)))
			w := pairAt(e, f.roots, e.Mul(e.Convert(ir.I32, turn), e.Dim(s.step)))
			return plus(e, sum, []*kernel.Value{
				e.Sub(e.Mul(z[0], w[0]), e.Mul(z[1], w[1])),
				e.Add(e.Mul(z[0], w[1]), e.Mul(z[1], w[0])),
			})
		},
		Join: plus,
		Store: func(e *kernels.Emitter, row *kernel.Value, sum []*kernel.Value) {
			put(e, e.Unflatten(row, shape), row, sum)
		},
	})
}

// signal returns the real and imaginary part of element j along Axis, in f64, or zeros if x has no such element.
// With OneSided and Inverse, x has the first half of the transform of a real signal; the
// second half is the complex conjugate of the first in reverse order. The frequency index is not used: signal has
// the type of get in [transform.join].
func (f transform) signal(e *kernels.Emitter, outer, j, _, inner *kernel.Value) []*kernel.Value {
	zero := e.Float(ir.F64, 0)
	mirrors := f.OneSided && f.Inverse
	from, turned := j, e.Bool(false)
	length := e.Dim(f.Length)
	if mirrors {
		turned = e.Gt(e.Add(j, j), length)
		from = e.Select(turned, e.Sub(length, j), j)
	}
	extent := f.x.Type.Shape[f.Axis]
	z := e.If(e.Lt(from, e.Dim(extent)), func() []*kernel.Value {
		row := e.Add(e.Mul(outer, e.Dim(extent)), from)
		at := e.Mul(e.Add(e.Mul(row, e.Dim(f.inner)), inner), e.Int(f.parts))
		re, im := e.Convert(ir.F64, e.Read(f.x).Get(at)), zero
		if f.parts == 2 {
			im = e.Convert(ir.F64, e.Read(f.x).Get(e.Add(at, e.Int(1))))
		}
		return []*kernel.Value{re, im}
	}, func() []*kernel.Value { return []*kernel.Value{zero, zero} })
	if mirrors { // the first element and the one in the middle are real
		real := e.Or(e.Eq(j, e.Int(0)), e.Eq(e.Add(j, j), length))
		z[1] = e.Select(real, zero, e.Select(turned, e.Neg(z[1]), z[1]))
	}
	return z
}

// spectrum stores v, the real and imaginary part of the element with index `row`, in y. With Inverse, it divides
// both by Length. If y has real elements, it stores the real part only. The parameter indices is not used: spectrum
// has the type of put in [transform.join].
func (f transform) spectrum(e *kernels.Emitter, indices []*kernel.Value, row *kernel.Value, v []*kernel.Value) {
	first := e.Mul(row, e.Int(f.results))
	for k := range f.results {
		part := v[k]
		if f.Inverse {
			part = e.Div(part, e.Convert(ir.F64, e.Dim(f.Length)))
		}
		e.Write(f.y).Set(e.Add(first, e.Int(k)), part)
	}
}
