package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Slice takes Shape[i] elements along each axis i. It starts at Starts[i] and goes on in steps of Steps[i], which
// may be negative. Starts are ignored if the result is empty.
type Slice struct {
	Starts, Shape []dim.Dim
	Steps         []int
}

// Infer returns the operand's element type with the shape Shape. It returns an error if a range is known to be
// outside of the operand.
func (op Slice) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if len(op.Starts) != x.Rank() || len(op.Shape) != x.Rank() || len(op.Steps) != x.Rank() {
		return nil, fmt.Errorf("%d starts, %d extents, %d steps for rank %d", len(op.Starts), len(op.Shape), len(op.Steps), x.Rank())
	}
	for i, n := range op.Shape {
		start, okStart := op.Starts[i].Int()
		count, okCount := n.Int()
		extent, okExtent := x.Shape[i].Int()
		if !okStart || !okCount || !okExtent || count == 0 {
			continue
		}
		last := start + (count-1)*op.Steps[i]
		if min(start, last) < 0 || max(start, last) >= extent {
			return nil, fmt.Errorf("axis %d: elements %d to %d of %d", i, start, last, extent)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, op.Shape...)}, nil
}

func (op Slice) source(starts []int) source {
	return func(at, from []int) {
		for i := range at {
			from[i] = starts[i] + at[i]*op.Steps[i]
		}
	}
}

// Eval returns the elements of the slice in Shape.
func (op Slice) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := op.Infer([]ir.Type{in[0].Type()}); err != nil {
		return nil, err
	}
	starts, ok := dim.Ints(op.Starts)
	shape, okShape := dim.Ints(op.Shape)
	if !ok || !okShape {
		return nil, fmt.Errorf("starts or shape has no value")
	}
	return move(in[0], shape, op.source(starts))
}

// Grad returns the gradient of the operand: dy for the elements of the slice, and zeros elsewhere.
func (op Slice) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	g := dy[0]
	for i, d := range n.Arg(0).Type.Shape {
		g = op.spread(b, g, i, d)
	}
	return []*ir.Value{g}
}

// spread appends g with more elements along an axis, whose extent becomes d. The elements of g are at the positions
// that the slice takes, and zeros elsewhere.
func (op Slice) spread(b *ir.Builder, g *ir.Value, axis int, d dim.Dim) *ir.Value {
	start, count, step := op.Starts[axis], op.Shape[axis], op.Steps[axis]
	if n, ok := count.Int(); ok && n == 0 {
		shape := slices.Clone(g.Type.Shape)
		shape[axis] = d
		return fill(b, ir.Scalar(g.Type.DType, 0), shape...)
	}
	if step < 0 { // from the other end, in the other direction
		g = reverse(b, g, axis)
		step = -step
		start = start.Sub(count.Sub(dim.Const(1)).Mul(dim.Const(step)))
	}
	before, after := zeroPads(g.Type.Rank()), zeroPads(g.Type.Rank())
	if step > 1 { // step − 1 zeros after each element except the last
		shape := slices.Concat(g.Type.Shape[:axis+1], dim.Consts(1), g.Type.Shape[axis+1:])
		inner := zeroPads(len(shape))
		inner[axis+1] = dim.Const(step - 1)
		wide := b.Node(Pad{Mode: "constant", Before: zeroPads(len(shape)), After: inner}, ReshapeTo(b, g, shape...))
		joined := slices.Clone(g.Type.Shape)
		joined[axis] = count.Mul(dim.Const(step))
		g = sliceAxis(b, ReshapeTo(b, wide, joined...), axis, dim.Const(0), count.Sub(dim.Const(1)).Mul(dim.Const(step)).Add(dim.Const(1)))
	}
	before[axis] = start
	after[axis] = d.Sub(start).Sub(g.Type.Shape[axis])
	if before[axis].Equal(dim.Const(0)) && after[axis].Equal(dim.Const(0)) {
		return g
	}
	return b.Node(Pad{Mode: "constant", Before: before, After: after}, g)
}

func zeroPads(rank int) []dim.Dim {
	pads := make([]dim.Dim, rank)
	for i := range pads {
		pads[i] = dim.Const(0)
	}
	return pads
}

func reverse(b *ir.Builder, x *ir.Value, axis int) *ir.Value {
	s := wholeSlice(x.Type)
	s.Starts[axis], s.Steps[axis] = x.Type.Shape[axis].Sub(dim.Const(1)), -1
	return b.Node(s, x)
}

// InferElems returns the known elements of the slice.
func (op Slice) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	starts, ok := dim.Ints(op.Starts)
	if !ok {
		return nil
	}
	return moveElems(in[0], out, op.source(starts))
}

// Lower replaces the node by a StridedCopy.
func (op Slice) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	return []*ir.Value{b.Node(op.strided(x.Type, dim.Consts(op.Steps...)), x)}
}

// strided returns a [StridedCopy] that equals the slice of an operand of type t. It uses the steps in `steps`, not
// in the field Steps.
func (op Slice) strided(t ir.Type, steps []dim.Dim) StridedCopy {
	copied := StridedCopy{Shape: op.Shape, Strides: RowMajor(t.Shape)}
	for i, s := range copied.Strides {
		copied.Offset = copied.Offset.Add(op.Starts[i].Mul(s))
		copied.Strides[i] = s.Mul(steps[i])
	}
	return copied
}

func wholeSlice(t ir.Type) Slice {
	s := Slice{Starts: make([]dim.Dim, t.Rank()), Shape: slices.Clone(t.Shape), Steps: make([]int, t.Rank())}
	for i := range s.Steps {
		s.Steps[i] = 1
	}
	return s
}

func sliceAxis(b *ir.Builder, x *ir.Value, axis int, start, count dim.Dim) *ir.Value {
	s := wholeSlice(x.Type)
	s.Starts[axis], s.Shape[axis] = start, count
	return ApplySlice(b, x, s)
}

// ApplySlice appends a slice of x. It returns x if the slice takes all elements in order.
func ApplySlice(b *ir.Builder, x *ir.Value, s Slice) *ir.Value {
	if ir.Equal(s, wholeSlice(x.Type)) {
		return x
	}
	return b.Node(s, x)
}

func importSlice(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axes, starts, ends, steps, err := sliceOperands(c)
	if err != nil {
		return nil, err
	}
	if starts == nil || ends == nil || axes == nil || steps == nil {
		return sliceBound(c, axes, steps)
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		return nil, fmt.Errorf("%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	s := wholeSlice(x.Type)
	for i, a := range axes {
		d := x.Type.Shape[a]
		s.Steps[a] = steps[i]
		s.Starts[a], s.Shape[a] = sliceRange(b, starts[i], ends[i], s.Steps[a], d)
	}
	return []*ir.Value{ApplySlice(b, x, s)}, nil
}

// sliceOperands returns the axes, starts, ends and steps of a Slice. A list is nil if it is not known at compile
// time.
func sliceOperands(c ir.Importer) (axes []int, starts, ends []dim.Dim, steps []int, err error) {
	rank := c.Arg(0).Type.Rank()
	if c.Opset() < 10 {
		starts, ends = dim.Consts(c.Ints("starts", nil)...), dim.Consts(c.Ints("ends", nil)...)
	} else {
		for i, bounds := range []*[]dim.Dim{&starts, &ends} {
			if c.Arg(1+i) == nil {
				return nil, nil, nil, nil, fmt.Errorf("operand %d is absent", 1+i)
			}
			if hasDims(c.Arg(1 + i)) {
				if *bounds, err = knownDims(c, 1+i, "bounds"); err != nil {
					return nil, nil, nil, nil, err
				}
			}
		}
	}
	count := max(len(starts), len(ends))
	if c.Opset() < 10 || isKnown(c.Arg(4)) {
		if steps, err = sliceSteps(c, count); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	if c.Opset() < 10 || isKnown(c.Arg(3)) {
		if axes, err = attrOrInts(c, 10, "axes", 3); err != nil {
			return nil, nil, nil, nil, err
		}
		if axes == nil {
			if starts == nil && ends == nil {
				count = rank
				if n, err := listLen(c, 1, "starts"); err == nil {
					count = n
				}
			}
			axes = AllAxes(count)
		}
		axes, err = axesFromFront(axes, rank)
	}
	return axes, starts, ends, steps, err
}

func sliceBound(c ir.Importer, axes, steps []int) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	rank := x.Type.Rank()
	if axes == nil {
		axes = AllAxes(rank)
		if !slices.Equal(steps, slices.Repeat([]int{1}, len(steps))) {
			steps = nil
		}
	}
	sorted := slices.Sorted(slices.Values(axes))
	bind := BindSlice{Shape: x.Type.Shape, Axes: sorted, Steps: steps == nil}
	bind.Bound = newBound(b, "slice", bind.Width()*len(axes))
	b.Nodes(bind, intList(b, c.Arg(1)), intList(b, c.Arg(2)), intList(b, c.Arg(3)), intList(b, c.Arg(4)))
	s, stride := wholeSlice(x.Type), slices.Repeat([]dim.Dim{dim.Const(1)}, rank)
	bound := bind.dims()
	for i, a := range sorted {
		at := bound[i*bind.Width():]
		s.Starts[a], s.Shape[a] = at[0], at[1]
		if bind.Steps {
			stride[a] = at[2].Sub(at[3])
		} else if k := slices.Index(axes, a); k < len(steps) {
			s.Steps[a] = steps[k]
		}
	}
	if bind.Steps {
		return []*ir.Value{b.Node(s.strided(x.Type, stride), x)}, nil
	}
	return []*ir.Value{ApplySlice(b, x, s)}, nil
}

// sliceSteps returns the steps of a slice. They are the elements of operand 4, saturated to 32 bits, or `count`
// steps of 1 if operand 4 is absent. sliceSteps returns an error if a step is 0 or known only at run time.
func sliceSteps(c ir.Importer, count int) ([]int, error) {
	if c.Opset() < 10 || c.Arg(4) == nil {
		return slices.Repeat([]int{1}, count), nil
	}
	dims, err := knownDims(c, 4, "steps")
	if err != nil {
		return nil, err
	}
	steps := make([]int, len(dims))
	for i, d := range dims {
		n, _ := d.Int64()
		if n == 0 {
			return nil, fmt.Errorf("step %d is 0", i)
		}
		steps[i] = int(min(max(n, -math.MaxInt32), math.MaxInt32))
	}
	return steps, nil
}

// sliceRange returns the index of the first element and the number of elements of the slice [start:end:step] of an
// axis of extent d. Negative bounds count from the end, and both bounds are clamped to the axis.
func sliceRange(b *ir.Builder, start, end dim.Dim, step int, d dim.Dim) (first, count dim.Dim) {
	zero, one := dim.Const(0), dim.Const(1)
	start, end = fromFrontDim(b, start, d, "slice start"), fromFrontDim(b, end, d, "slice end")
	var length dim.Dim
	if step > 0 {
		first = start.Max(zero)
		length = end.Min(d).Sub(first)
	} else {
		first = start.Max(zero).Min(d.Sub(one))
		length = first.Sub(end.Max(dim.Const(-1)).Min(d.Sub(one)))
		step = -step
	}
	return first, length.CeilDiv(dim.Const(step)).Max(zero)
}

// fromFrontDim returns bound, a bound of a slice of an axis of extent d, counted from the start of the axis. A bound
// below 0 counts from the end. If the sign of a symbolic bound is unknown, fromFrontDim assumes one: negative if the
// bound is known to be at most 0, and otherwise not negative. It appends a check of this assumption at run time,
// whose error calls the bound `label`. A constant of 2³¹−1 or more becomes d, and a constant of −(2³¹−1) or less
// becomes −1.
func fromFrontDim(b *ir.Builder, bound, d dim.Dim, label string) dim.Dim {
	if n, ok := bound.Int64(); ok {
		switch {
		case n >= math.MaxInt32:
			return d
		case n <= -math.MaxInt32:
			return dim.Const(-1)
		case n < 0:
			return d.Add(bound)
		}
		return bound
	}
	zero := dim.Const(0)
	if bound.NonNegative() {
		return bound
	}
	if bound.Neg().NonNegative() {
		b.Nodes(ir.CheckDim{A: bound, B: bound.Min(dim.Const(-1)), What: label})
		return d.Add(bound)
	}
	b.Nodes(ir.CheckDim{A: bound, B: bound.Max(zero), What: label})
	return bound
}

// IsIdentity reports whether all starts are 0 and all steps are 1. It is called for a slice of the operand's shape,
// which then takes all elements in order.
func (op Slice) IsIdentity(ir.Type) bool {
	skips := func(d dim.Dim) bool { return !d.Equal(dim.Dim{}) }
	return !slices.ContainsFunc(op.Steps, func(s int) bool { return s != 1 }) && !slices.ContainsFunc(op.Starts, skips)
}

// Movement returns Rearranges: each element occurs at most once.
func (Slice) Movement() Movement { return Rearranges }

// BeforeTranspose returns a slice s with transpose(s(x)) = op(transpose(x)), for the transpose by perm.
func (op Slice) BeforeTranspose(perm []int) ir.Op {
	before := Slice{Starts: make([]dim.Dim, len(perm)), Shape: make([]dim.Dim, len(perm)), Steps: make([]int, len(perm))}
	for i, p := range perm {
		before.Starts[p], before.Shape[p], before.Steps[p] = op.Starts[i], op.Shape[i], op.Steps[i]
	}
	return before
}
