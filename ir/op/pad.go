package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Pad inserts Before[i] elements before axis i and After[i] elements after it. Mode "constant" inserts the only
// element of the second operand, or 0 if the operand is absent. "edge" repeats the nearest element. "reflect"
// mirrors at the first and last element, without repeating this element. "wrap" continues with the elements from
// the other end.
type Pad struct {
	Mode          string
	Before, After []dim.Dim
}

// Infer returns x's type with extents Before[i] + extent + After[i].
func (op Pad) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	x := in[0]
	if padSources[op.Mode] == nil && op.Mode != "constant" {
		return nil, fmt.Errorf("mode %q", op.Mode)
	}
	if len(in) > 1 {
		if err := sameDType(in); err != nil {
			return nil, err
		}
		if n, ok := in[1].Elems().Int(); !ok || n != 1 || op.Mode != "constant" {
			return nil, fmt.Errorf("a value of type %s in mode %s", in[1], op.Mode)
		}
	}
	if len(op.Before) != x.Rank() || len(op.After) != x.Rank() {
		return nil, fmt.Errorf("%d and %d pads for rank %d", len(op.Before), len(op.After), x.Rank())
	}
	shape := make([]dim.Dim, x.Rank())
	for i, d := range x.Shape {
		for _, p := range []dim.Dim{op.Before[i], op.After[i]} {
			if n, ok := p.Int(); ok && n < 0 {
				return nil, fmt.Errorf("axis %d: negative pad %d", i, n)
			}
			if op.Mode != "constant" && d.Equal(dim.Const(0)) && !p.Equal(dim.Const(0)) {
				return nil, fmt.Errorf("axis %d: mode %s of no elements", i, op.Mode)
			}
		}
		shape[i] = op.Before[i].Add(d).Add(op.After[i])
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// padSources holds a function for each mode. The function returns the index of the element that a padded element
// copies. i is the index of the padded element: negative before the axis, and at least n after it. n is the number
// of elements of the axis.
var padSources = map[string]func(i, n int) int{
	"edge": func(i, n int) int { return min(max(i, 0), n-1) },
	"wrap": func(i, n int) int { return ((i % n) + n) % n },
	"reflect": func(i, n int) int {
		if n == 1 {
			return 0
		}
		period := 2 * (n - 1)
		i = ((i % period) + period) % period
		return min(i, period-i)
	},
}

// Eval returns the padded tensor. It returns an error if an axis without elements is padded in a mode other than
// constant.
func (op Pad) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	before, ok := dim.Ints(op.Before)
	after, okAfter := dim.Ints(op.After)
	if !ok || !okAfter {
		return nil, fmt.Errorf("pads have no value")
	}
	shape := make([]int, x.Rank())
	for i, d := range x.Shape {
		shape[i] = before[i] + d + after[i]
		if d == 0 && shape[i] > 0 && op.Mode != "constant" {
			return nil, fmt.Errorf("axis %d: mode %s of no elements", i, op.Mode)
		}
	}
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	if op.Mode != "constant" {
		at := padSources[op.Mode]
		return move(x, shape, func(to, from []int) {
			for i, d := range x.Shape {
				from[i] = at(to[i]-before[i], d)
			}
		})
	}
	y := ir.NewTensor(x.DType, shape...)
	if len(in) > 1 {
		for i := range y.Len() {
			y.Copy(i, in[1], 0)
		}
	}
	visitMove(shape, x.Shape, func(at, to []int) {
		for i := range at {
			to[i] = at[i] + before[i]
		}
	}, func(i, j int) { y.Copy(j, x, i) })
	return []*ir.Tensor{y}, nil
}

// Lower replaces the modes other than constant, axis by axis. It appends a [Concat] of the operand and of slices of
// it. If the slices depend on symbolic extents, it appends a [Gather] instead.
func (op Pad) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	if op.Mode == "constant" {
		return nil
	}
	zero := dim.Const(0)
	for i, d := range n.Args[0].Type.Shape {
		before, after := op.Before[i], op.After[i]
		if !op.splits(i, d) {
			x = b.Node(Gather{Axis: i}, x, b.Node(PadIndex{Mode: op.Mode, Extent: d, Before: before, After: after}))
			continue
		}
		for !before.Equal(zero) || !after.Equal(zero) {
			parts, head, tail := []*ir.Value{x}, zero, zero
			if !before.Equal(zero) {
				var part *ir.Value
				part, head = op.part(b, x, i, d, before, true)
				parts = []*ir.Value{part, x}
			}
			if !after.Equal(zero) {
				var part *ir.Value
				part, tail = op.part(b, x, i, d, after, false)
				parts = append(parts, part)
			}
			x = b.Node(Concat{Axis: i}, parts...)
			before, after = before.Sub(head), after.Sub(tail)
		}
	}
	return []*ir.Value{x}
}

// Grad returns, for the operand, the part of dy that lies at its elements. For the padding value it returns the sum
// of the other elements of dy.
func (op Pad) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, g := calculus{b}, dy[0]
	part := wholeSlice(g.Type)
	part.Starts, part.Shape = op.Before, n.Arg(0).Type.Shape
	inner := ApplySlice(b, g, part)
	grads := []*ir.Value{inner, nil}
	if len(want) > 1 && want[1] {
		total := func(v *ir.Value) *ir.Value { return c.sum(v, false, AllAxes(v.Type.Rank())...) }
		grads[1] = ReshapeTo(b, c.sub(total(g), total(inner)), n.Arg(1).Type.Shape...)
	}
	return grads
}

// Compose replaces modes other than constant, as Lower does.
func (op Pad) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	if op.Mode == "constant" {
		return nil
	}
	return op.Lower(b, n)
}

// splits reports whether [Pad.Lower] can pad axis i, of extent d, with slices whose extents are known.
func (op Pad) splits(i int, d dim.Dim) bool {
	before, after, one := op.Before[i], op.After[i], dim.Const(1)
	if op.Mode == "edge" && d.Sub(one).NonNegative() || d.Equal(one) {
		return true
	}
	limit := d
	if op.Mode == "reflect" {
		limit = d.Sub(one)
	}
	_, static := dim.Ints([]dim.Dim{d, before, after})
	fits := op.Mode != "edge" && limit.Sub(before).NonNegative() && limit.Sub(after).NonNegative()
	return static || fits || before.Equal(dim.Const(0)) && after.Equal(dim.Const(0))
}

// part returns elements to insert along an axis whose original extent is d, and their number. They go before x if
// `before` is true, and after x otherwise. Their number is `pad`, or less if x does not have so many elements to
// copy.
func (op Pad) part(b *ir.Builder, x *ir.Value, axis int, d, pad dim.Dim, before bool) (*ir.Value, dim.Dim) {
	extent, one := x.Type.Shape[axis], dim.Const(1)
	s := wholeSlice(x.Type)
	switch {
	case op.Mode == "edge", d.Equal(one):
		s.Shape[axis] = one
		if !before {
			s.Starts[axis] = extent.Sub(one)
		}
		shape := wholeSlice(x.Type).Shape
		shape[axis] = pad
		return ExpandTo(b, ApplySlice(b, x, s), shape...), pad
	case op.Mode == "wrap":
		pad = pad.Min(d)
		s.Starts[axis] = extent.Sub(d)
		if before {
			s.Starts[axis] = d.Sub(pad)
		}
	case op.Mode == "reflect":
		pad = pad.Min(extent.Sub(one))
		s.Steps[axis] = -1
		s.Starts[axis] = extent.Sub(dim.Const(2))
		if before {
			s.Starts[axis] = pad
		}
	}
	s.Shape[axis] = pad
	return ApplySlice(b, x, s), pad
}

func importPad(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	kept, op, value, err := padOperands(c)
	if err != nil {
		return nil, err
	}
	op.Mode = c.Text("mode", "constant")
	x = ApplySlice(b, x, kept)
	rank := x.Type.Rank()
	if ir.Equal(op, Pad{Mode: op.Mode, Before: make([]dim.Dim, rank), After: make([]dim.Dim, rank)}) {
		return []*ir.Value{x}, nil
	}
	if value != nil && op.Mode == "constant" {
		return []*ir.Value{b.Node(op, x, value)}, nil
	}
	return []*ir.Value{b.Node(op, x)}, nil
}

// padOperands reads the operands of an ONNX Pad. It returns a slice of the elements that negative pads keep, a Pad
// for the other pads, and the value to pad with. value is nil if the operand is absent.
func padOperands(c ir.Importer) (kept Slice, op Pad, value *ir.Value, err error) {
	x := c.Arg(0)
	rank := x.Type.Rank()
	var pads []dim.Dim
	axes := AllAxes(rank)
	switch {
	case c.Opset() < 2:
		pads = dim.Consts(c.Ints("paddings", nil)...)
	case c.Opset() < 11:
		pads = dim.Consts(c.Ints("pads", nil)...)
	case c.Arg(1) == nil:
		return kept, op, nil, fmt.Errorf("pads is absent")
	case !hasDims(c.Arg(1)) || c.Opset() >= 18 && !isKnown(c.Arg(3)):
		kept, op = padsBound(c)
		return kept, op, c.Arg(2), nil
	default:
		if pads, err = knownDims(c, 1, "pads"); err != nil {
			return kept, op, nil, err
		}
	}
	if c.Opset() < 11 {
		if v := c.Float("value", 0); v != 0 {
			value = c.Builder().Scalar(x.Type.DType, v)
		}
	} else {
		value = c.Arg(2)
	}
	if c.Opset() >= 18 && c.Arg(3) != nil {
		if axes, err = knownInts(c, 3, "axes"); err == nil {
			axes, err = axesFromFront(axes, rank)
		}
		if err != nil {
			return kept, op, nil, err
		}
	}
	if len(pads) != 2*len(axes) {
		return kept, op, nil, fmt.Errorf("%d pads for %d axes", len(pads), len(axes))
	}
	kept, op = wholeSlice(x.Type), Pad{Before: make([]dim.Dim, rank), After: make([]dim.Dim, rank)}
	zero := dim.Const(0)
	for i, a := range axes {
		before, after := pads[i], pads[len(axes)+i]
		op.Before[a], op.After[a] = before.Max(zero), after.Max(zero)
		kept.Starts[a] = op.Before[a].Sub(before)
		kept.Shape[a] = x.Type.Shape[a].Sub(kept.Starts[a]).Sub(op.After[a].Sub(after))
	}
	return kept, op, value, nil
}

func padsBound(c ir.Importer) (kept Slice, op Pad) {
	b, x := c.Builder(), c.Arg(0)
	rank := x.Type.Rank()
	var axes *ir.Value
	if c.Opset() >= 18 {
		axes = intList(b, c.Arg(3))
	}
	bind := BindPad{newBound(b, "pad", 4*rank), x.Type.Shape}
	b.Nodes(bind, intList(b, c.Arg(1)), axes)
	bound := bind.dims()
	kept, op = wholeSlice(x.Type), Pad{Before: make([]dim.Dim, rank), After: make([]dim.Dim, rank)}
	for i := range rank {
		kept.Starts[i], kept.Shape[i], op.Before[i] = bound[4*i], bound[4*i+1], bound[4*i+2]
		op.After[i] = bound[4*i+3].Sub(op.Before[i]).Sub(kept.Shape[i])
	}
	return kept, op
}

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (Pad) IsMemoryBound() {}
