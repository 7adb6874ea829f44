package nn

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Reshape changes the shape of v. The elements keep their row-major order. One extent may be −1; it follows from
// the number of elements.
func (v Value) Reshape(shape ...Extent) Value {
	dims := make([]dim.Dim, len(shape))
	rest, known := -1, dim.Const(1)
	for i, e := range shape {
		dims[i] = extent(e)
		switch n, ok := dims[i].Int(); {
		case ok && n == -1 && rest < 0:
			rest = i
		case ok && n < 0:
			fail("extent %d is negative: %d", i, n)
		default:
			known = known.Mul(dims[i])
		}
	}
	total := v.typ().Elems()
	if rest >= 0 {
		left, ok := total.DivExact(known)
		if !ok {
			fail("%s elements do not fill rows of %s", total, known)
		}
		dims[rest], known = left, total
	}
	if !total.Same(known) {
		fail("%s has %s elements, the shape %s", v.typ(), total, known)
	}
	return v.reshape(dims)
}

func (v Value) reshape(dims []dim.Dim) Value {
	if slices.EqualFunc(dims, v.typ().Shape, dim.Dim.Equal) {
		return v
	}
	return one(op.Reshape{Shape: dims}, v)
}

// Flatten merges the axes `first` to `last`, inclusive, into one. Negative axes count from the end.
func (v Value) Flatten(first, last int) Value {
	shape := v.typ().Shape
	if len(shape) == 0 {
		return v.reshape(dim.Consts(1))
	}
	first, last = v.axis(first), v.axis(last)
	if last < first {
		fail("axis %d is before axis %d", last, first)
	}
	return v.reshape(slices.Concat(shape[:first], []dim.Dim{dim.Product(shape[first : last+1]...)}, shape[last+1:]))
}

// Unflatten splits an axis into several axes with these extents.
func (v Value) Unflatten(axis int, shape ...Extent) Value {
	axis = v.axis(axis)
	all := shapeOf(v)
	return v.Reshape(slices.Concat(all[:axis], shape, all[axis+1:])...)
}

// Unsqueeze inserts an axis of extent 1. A negative axis counts from the end.
func (v Value) Unsqueeze(axis int) Value {
	r := v.Rank()
	if axis < -r-1 || axis > r {
		fail("axis %d out of range for rank %d", axis, r+1)
	}
	if axis < 0 {
		axis += r + 1
	}
	return v.reshape(slices.Insert(slices.Clone(v.typ().Shape), axis, dim.Const(1)))
}

// UnsqueezeDims inserts axes of extent 1. axes are positions in the result. A negative position counts from the
// end.
func (v Value) UnsqueezeDims(axes ...int) Value {
	rank := v.Rank() + len(axes)
	at := make([]bool, rank)
	for _, a := range axes {
		if a < -rank || a >= rank || at[(a+rank)%rank] {
			fail("axes %v out of range for rank %d, or named twice", axes, rank)
		}
		at[(a+rank)%rank] = true
	}
	dims, rest := make([]dim.Dim, rank), v.typ().Shape
	for i := range dims {
		if dims[i] = dim.Const(1); !at[i] {
			dims[i], rest = rest[0], rest[1:]
		}
	}
	return v.reshape(dims)
}

// Squeeze removes axes of extent 1: the given axes, or all axes of extent 1 if axes is empty.
func (v Value) Squeeze(axes ...int) Value {
	drop := v.axes(axes)
	var dims []dim.Dim
	for i, d := range v.typ().Shape {
		isOne := d.Equal(dim.Const(1))
		if slices.Contains(drop, i) && !isOne && len(axes) > 0 {
			fail("axis %d has extent %s, not 1", i, d)
		}
		if !isOne || !slices.Contains(drop, i) {
			dims = append(dims, d)
		}
	}
	return v.reshape(slices.Concat([]dim.Dim{}, dims))
}

// Permute reorders the axes: axis i of the result is axis order[i] of v.
func (v Value) Permute(order ...int) Value {
	if len(order) != v.Rank() {
		fail("%d axes for rank %d", len(order), v.Rank())
	}
	perm := make([]int, len(order))
	for i, a := range order {
		perm[i] = v.axis(a)
	}
	v.axes(perm) // no axis twice
	return one(op.Transpose{Perm: perm}, v)
}

// Transpose swaps two axes.
func (v Value) Transpose(a, b int) Value {
	a, b = v.axis(a), v.axis(b)
	perm := make([]int, v.Rank())
	for i := range perm {
		perm[i] = i
	}
	perm[a], perm[b] = b, a
	return one(op.Transpose{Perm: perm}, v)
}

// SwapDims is [Value.Transpose].
func (v Value) SwapDims(a, b int) Value { return v.Transpose(a, b) }

// T swaps the last two axes.
func (v Value) T() Value {
	if v.Rank() < 2 {
		fail("%s has no two axes", v.typ())
	}
	return v.Transpose(-2, -1)
}

// MoveDim moves an axis of v to a position in the result. The order of the other axes does not
// change.
func (v Value) MoveDim(axis, position int) Value {
	axis, position = v.axis(axis), v.axis(position)
	perm := []int{}
	for i := range v.Rank() {
		if i != axis {
			perm = append(perm, i)
		}
	}
	return one(op.Transpose{Perm: slices.Insert(perm, position, axis)}, v)
}

// Expand broadcasts v to a shape. It repeats v along axes of extent 1 and along new leading axes. An extent of −1
// keeps the extent of v.
func (v Value) Expand(shape ...Extent) Value {
	lead := len(shape) - v.Rank()
	dims := make([]dim.Dim, len(shape))
	for i, e := range shape {
		dims[i] = extent(e)
		if n, ok := dims[i].Int(); ok && n == -1 && i >= lead {
			dims[i] = v.typ().Shape[i-lead]
		}
	}
	if slices.EqualFunc(dims, v.typ().Shape, dim.Dim.Equal) {
		return v
	}
	return one(op.Expand{Shape: dims}, v)
}

// Repeat returns times[i] copies of v along each axis i. If there are more times than axes, axes of extent 1 are
// first added in front.
func (v Value) Repeat(times ...Extent) Value {
	if len(times) < v.Rank() {
		fail("%d numbers for rank %d", len(times), v.Rank())
	}
	for v.Rank() < len(times) {
		v = v.Unsqueeze(0)
	}
	return one(op.Tile{Repeats: extents(times)}, v)
}

// RepeatDim repeats v along one axis, the given number of times.
func (v Value) RepeatDim(axis int, times Extent) Value {
	all := make([]Extent, v.Rank())
	for i := range all {
		all[i] = 1
	}
	all[v.axis(axis)] = times
	return v.Repeat(all...)
}

// Concat concatenates values along an axis. The other extents must be equal.
func Concat(axis int, values ...Value) Value {
	if len(values) == 0 {
		fail("no values")
	}
	if len(values) == 1 {
		return values[0]
	}
	return one(op.Concat{Axis: values[0].axis(axis)}, values...)
}

// Stack joins values of equal shapes along a new axis.
func Stack(axis int, values ...Value) Value {
	rows := make([]Value, len(values))
	for i, v := range values {
		rows[i] = v.Unsqueeze(axis)
	}
	return Concat(axis, rows...)
}

// End stands for the end of an axis in a [Span].
const End = math.MaxInt

// Span is a range of indices of an axis: from From up to but not including To, in steps of Step. A Step of 0 means
// 1. Negative indices count from the end.
type Span struct {
	From, To Extent
	Step     int
}

// R returns the [Span] of the indices from `start` up to but not including `end`.
func R(start, end Extent) Span { return Span{From: start, To: end} }

// All is the [Span] of all indices of an axis.
var All = Span{From: 0, To: End}

// Slice returns a part of v. Span i selects indices of axis i. Axes without a span are taken whole.
func (v Value) Slice(spans ...Span) Value {
	if len(spans) > v.Rank() {
		fail("%d ranges for rank %d", len(spans), v.Rank())
	}
	o := op.Slice{}
	for i, d := range v.typ().Shape {
		s := All
		if i < len(spans) {
			s = spans[i]
		}
		from, count, step := s.over(d)
		o.Starts, o.Shape, o.Steps = append(o.Starts, from), append(o.Shape, count), append(o.Steps, step)
	}
	if slices.EqualFunc(o.Shape, v.typ().Shape, dim.Dim.Equal) && !slices.ContainsFunc(o.Steps, func(s int) bool { return s != 1 }) {
		return v
	}
	return one(o, v)
}

func (s Span) over(d dim.Dim) (from, count dim.Dim, step int) {
	place := func(e Extent) dim.Dim {
		if n, ok := e.(int); ok && n == End {
			return d
		}
		p := extent(e)
		if n, ok := p.Int(); ok && n < 0 {
			p = d.Add(p)
		}
		size, static := d.Int()
		if n, ok := p.Int(); ok && static {
			p = dim.Const(min(max(n, 0), size))
		}
		return p
	}
	step = s.Step
	if step == 0 {
		step = 1
	}
	if step < 0 {
		fail("the step %d is negative; use Flip", step)
	}
	from, to := place(s.From), place(s.To)
	length := to.Sub(from)
	if lo, _ := length.Bounds(); lo < 0 {
		length = length.Max(dim.Const(0))
	}
	return from, length.CeilDiv(dim.Const(step)), step
}

// Narrow returns the part of v with the indices from `start` to `start` + length − 1 along an axis.
func (v Value) Narrow(axis int, start, length Extent) Value {
	axis = v.axis(axis)
	from, size := extent(start), extent(length)
	if n, ok := v.typ().Shape[axis].Sub(from).Sub(size).Int(); ok && n < 0 {
		fail("places %s to %s of axis %d, which has %s", from, from.Add(size), axis, v.Dim(axis))
	}
	spans := make([]Span, axis+1)
	for i := range axis {
		spans[i] = All
	}
	spans[axis] = R(Dim{d: from}, Dim{d: from.Add(size)})
	return v.Slice(spans...)
}

// SliceDim returns the part of v with the indices in s along one axis.
func (v Value) SliceDim(axis int, s Span) Value {
	axis = v.axis(axis)
	spans := slices.Repeat([]Span{All}, axis+1)
	spans[axis] = s
	return v.Slice(spans...)
}

// SelectDim returns the elements at index `place` of an axis, and removes the axis. A negative `place` counts from
// the end.
func (v Value) SelectDim(axis, place int) Value {
	axis = v.axis(axis)
	return one(op.Gather{Axis: axis}, v, number(place, I64))
}

// SliceAssign returns v, but the elements that spans select are replaced by values, which broadcast; see
// [Value.Slice]. The spans must have step 1.
func (v Value) SliceAssign(spans []Span, values Operand) Value {
	with := v.operand(values)
	if len(spans) > v.Rank() {
		fail("%d ranges for rank %d", len(spans), v.Rank())
	}
	if len(spans) == 0 {
		return with.Expand(shapeOf(v)...)
	}
	// The values, expanded to the ranges, are concatenated with the unchanged parts along the last
	// axis that has a range; the result with the unchanged parts along the axis before it, and so
	// on.
	var build func(v Value, axis int, with Value) Value
	build = func(v Value, axis int, with Value) Value {
		if axis == len(spans) {
			return with.Expand(shapeOf(v)...)
		}
		from, count, step := spans[axis].over(v.typ().Shape[axis])
		if step != 1 {
			fail("steps cannot be assigned to")
		}
		to := from.Add(count)
		part := build(v.Narrow(axis, Dim{d: from}, Dim{d: count}), axis+1, with)
		rest := v.typ().Shape[axis].Sub(to)
		parts := []Value{v.Narrow(axis, 0, Dim{d: from}), part, v.Narrow(axis, Dim{d: to}, Dim{d: rest})}
		parts = slices.DeleteFunc(parts, func(p Value) bool { return p.typ().Shape[axis].Equal(dim.Const(0)) })
		if len(parts) == 0 {
			return v
		}
		return Concat(axis, parts...)
	}
	return build(v, 0, with)
}

// SliceFill returns v, but the elements that spans select are replaced by x; see [Value.SliceAssign].
func (v Value) SliceFill(spans []Span, x float64) Value { return v.SliceAssign(spans, x) }

// Chunk splits an axis into at most n parts. The extent of the axis must be static. All parts have the same length,
// except that the last one may be shorter. An empty axis gives no parts.
func (v Value) Chunk(n, axis int) []Value {
	if n < 1 {
		fail("%d parts", n)
	}
	size := v.Dim(axis).Int()
	return v.Split(max(1, (size+n-1)/n), axis)
}

// Split splits an axis into parts of the given length. The extent of the axis must be static. The last part may be
// shorter. An empty axis gives no parts.
func (v Value) Split(length, axis int) []Value {
	if length < 1 {
		fail("parts of length %d", length)
	}
	var lengths []int
	for size := v.Dim(axis).Int(); size > 0; size -= length {
		lengths = append(lengths, min(length, size))
	}
	return v.SplitSizes(lengths, axis)
}

// SplitSizes splits an axis into parts of these lengths.
func (v Value) SplitSizes(lengths []int, axis int) []Value {
	axis = v.axis(axis)
	var parts []Value
	at := 0
	for _, n := range lengths {
		parts = append(parts, v.Narrow(axis, at, n))
		at += n
	}
	if n, ok := v.typ().Shape[axis].Int(); ok && n != at {
		fail("parts of %d in all, axis %d has %d", at, axis, n)
	}
	return parts
}

// Flip reverses the order along axes.
func (v Value) Flip(axes ...int) Value {
	o := op.Slice{Shape: v.typ().Shape}
	flipped := make([]bool, v.Rank())
	for _, a := range axes {
		flipped[v.axis(a)] = true
	}
	for i, d := range v.typ().Shape {
		start, step := dim.Const(0), 1
		if flipped[i] {
			start, step = d.Sub(dim.Const(1)), -1
		}
		o.Starts, o.Steps = append(o.Starts, start), append(o.Steps, step)
	}
	return one(o, v)
}

// Roll rotates the elements along an axis: element i moves to index i + shift, modulo the extent. The extent of the
// axis must be static.
func (v Value) Roll(shift, axis int) Value {
	axis = v.axis(axis)
	n := v.Dim(axis).Int()
	if n == 0 {
		return v
	}
	if shift = (shift%n + n) % n; shift == 0 {
		return v
	}
	return Concat(axis, v.Narrow(axis, n-shift, shift), v.Narrow(axis, 0, n-shift))
}

// Pad pads the last axes. pads holds pairs of numbers of elements: before and after the last axis, then before and
// after the axis before it, and so on, as in PyTorch. Negative numbers crop. mode is "constant", "reflect", "edge"
// or "circular". The mode "constant" pads with x.
func (v Value) Pad(mode string, x float64, pads ...int) Value {
	if len(pads)%2 != 0 || len(pads)/2 > v.Rank() {
		fail("%d pads for rank %d", len(pads), v.Rank())
	}
	if mode == "circular" {
		mode = "wrap"
	}
	o := op.Pad{Mode: mode, Before: make([]dim.Dim, v.Rank()), After: make([]dim.Dim, v.Rank())}
	cut := slices.Repeat([]Span{All}, v.Rank())
	adds, cuts := false, false
	for i := 0; i < len(pads); i += 2 {
		axis := v.Rank() - 1 - i/2
		before, after := pads[i], pads[i+1]
		o.Before[axis], o.After[axis] = dim.Const(max(before, 0)), dim.Const(max(after, 0))
		cut[axis] = R(max(-before, 0), v.Dim(axis).Sub(max(-after, 0)))
		adds, cuts = adds || before > 0 || after > 0, cuts || before < 0 || after < 0
	}
	if cuts {
		v = v.Slice(cut...)
	}
	switch {
	case !adds:
		return v
	case mode != "constant":
		return one(o, v)
	}
	return one(o, v, number(x, v.DType()))
}

// Tril keeps the elements of matrices on and below a diagonal, and sets the elements above it to zero. Diagonal 0
// is the main diagonal, 1 is above it, and −1 is below it.
func (v Value) Tril(diagonal int) Value { return v.triangle(false, diagonal) }

// Triu keeps the elements of matrices on and above a diagonal, and sets the elements below it to zero. Diagonal 0
// is the main diagonal, 1 is above it, and −1 is below it.
func (v Value) Triu(diagonal int) Value { return v.triangle(true, diagonal) }

func (v Value) triangle(upper bool, diagonal int) Value {
	if v.DType() == Bool {
		return v.Cast(U8).triangle(upper, diagonal).Bool()
	}
	return one(op.Trilu{Upper: upper}, v, number(diagonal, I64))
}

// TrilMask returns a bool matrix [rows, cols] that is true above a diagonal. Diagonal 0 is the main one.
// [Value.MaskFill] with this mask keeps the lower triangle and fills the elements above it.
func TrilMask(rows, cols Extent, diagonal int) Value {
	return FullOf(U8, 1, rows, cols).triangle(false, diagonal).Equal(0)
}

// TriuMask returns a bool matrix [rows, cols] that is true below a diagonal. Diagonal 0 is the main one.
// [Value.MaskFill] with this mask keeps the upper triangle and fills the elements below it.
func TriuMask(rows, cols Extent, diagonal int) Value {
	return FullOf(U8, 1, rows, cols).triangle(true, diagonal).Equal(0)
}

// DiagMask returns a bool matrix [rows, cols] that is false on a diagonal and true elsewhere. Diagonal 0 is the main
// one. [Value.MaskFill] with this mask keeps the diagonal and fills the other elements.
func DiagMask(rows, cols Extent, diagonal int) Value {
	d := extents([]Extent{rows, cols})
	return one(op.Eye{DType: U8, Rows: d[0], Cols: d[1], K: diagonal}).Equal(0)
}

// Unfold returns windows over an axis. A window is `size` adjacent elements, which form a new last axis. Each
// window begins `step` elements after the previous one.
func (v Value) Unfold(axis, size, step int) Value {
	axis = v.axis(axis)
	if size < 1 || step < 1 {
		fail("windows of %d, %d apart", size, step)
	}
	count := v.Dim(axis).Sub(size).Div(step).Add(1)
	starts := Arange(count).Mul(step).Unsqueeze(1)
	return one(op.Gather{Axis: axis}, v, starts.Add(Arange(size))).MoveDim(axis+1, -1)
}

// Meshgrid returns one tensor for each vector. All tensors have the same shape: extent k is the length of vector k.
// Element (i₀, i₁, …) of tensor k is element i_k of vector k (torch.meshgrid with indexing="ij").
func Meshgrid(vectors ...Value) []Value {
	shape := make([]Extent, len(vectors))
	for i, v := range vectors {
		if v.Rank() != 1 {
			fail("%s is not a vector", v.typ())
		}
		shape[i] = v.Dim(0)
	}
	out := make([]Value, len(vectors))
	for i, v := range vectors {
		one := slices.Repeat([]Extent{1}, len(vectors))
		one[i] = v.Dim(0)
		out[i] = v.Reshape(one...).Expand(shape...)
	}
	return out
}

// CartesianGrid returns the coordinates of each element of a tensor of the given shape, as i64[shape…, rank].
func CartesianGrid(shape ...Extent) Value {
	axes := make([]Value, len(shape))
	for i, n := range shape {
		axes[i] = Arange(n)
	}
	return Stack(-1, Meshgrid(axes...)...)
}
