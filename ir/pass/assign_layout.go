package pass

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/ir/op"
)

// assignLayout computes convolutions, and what stands between them, in the
// channel-blocked layout f32[N,⌈C/16⌉,spatial…,16]. A node that can be computed on
// blocked operands is, and its planar result is made from the blocked one for
// those that need it. Elementwise operators join where an operand is blocked and
// the lanes beyond C stay finite: a convolution multiplies them by zero. So an
// infinity that the model itself makes may become NaN in a convolution after the
// next.
func assignLayout(ctx *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		l := &layouts{ctx: ctx, raw: isRaw(ctx, m, f), forms: map[*ir.Value]form{}, lanes: map[*ir.Value][]float64{}}
		c, err := f.Rewrite(l.visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		f.Prune()
		changed = changed || c
	}
	return changed, nil
}

// isRaw reports whether f loads raw weights and packs them each time: nothing is prepared
// for it, and it is not called by what it might be prepared for.
func isRaw(ctx *Context, m *ir.Module, f *ir.Func) bool {
	if slices.Contains(ctx.prepared(m), f) {
		return false
	}
	for _, g := range m.Funcs {
		for n := range g.All() {
			if call, ok := n.Op.(ir.Invoke); ok && call.Func == f.Name {
				return false
			}
		}
	}
	return true
}

// layouts is the [op.Layouts] of a function under way.
type layouts struct {
	ctx   *Context
	raw   bool // the function loads no prepared weights
	b     *ir.Builder
	forms map[*ir.Value]form
	lanes map[*ir.Value][]float64 // see lanesOf
}

// form is the blocked form of a value.
type form struct {
	value *ir.Value
	// scope is the builder of the block that a form made on demand stands in; nil
	// for one that the value itself is made of.
	scope *ir.Builder
}

func (l *layouts) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	l.b = b
	var y *ir.Value
	switch o := n.Op.(type) {
	case op.Blocker:
		y = o.Relayout(b, n, l)
	case op.Elementwise:
		y = l.elementwise(n)
	}
	if y == nil {
		return nil
	}
	t := n.Results[0].Type
	if y.Type.Equal(t) {
		return []*ir.Value{y}
	}
	planar := op.FromBlocked(b, y, t)
	l.forms[planar] = form{value: y}
	return []*ir.Value{planar}
}

// Blocked returns the blocked form of v if there is one here.
func (l *layouts) Blocked(v *ir.Value) *ir.Value {
	if f, ok := l.forms[v]; ok && (f.scope == nil || f.scope == l.b) {
		return f.value
	}
	return nil
}

// Block returns the blocked form of v.
func (l *layouts) Block(v *ir.Value) *ir.Value {
	if f := l.Blocked(v); f != nil {
		return f
	}
	if _, ok := op.Blocked(v.Type); !ok {
		return nil
	}
	f := op.ToBlocked(l.b, v)
	l.forms[v] = form{f, l.b}
	return f
}

// ZeroLanes reports whether the blocked form of v is zero beyond its channels.
func (l *layouts) ZeroLanes(v *ir.Value) bool {
	return slices.Equal(l.lanesOf(l.Blocked(v), v.Type), []float64{0})
}

// Raw reports whether the function reads its weights as they are in the model.
func (l *layouts) Raw() bool { return l.raw }

// Tile returns the tile of the minimal filtering that a convolution is computed with.
func (l *layouts) Tile(c cost.Conv) int {
	if l.ctx.Strict {
		return 0
	}
	return l.ctx.costs().Tile(c)
}

// elementwise builds the blocked form of an elementwise node.
func (l *layouts) elementwise(n *ir.Node) *ir.Value {
	out := n.Results[0].Type
	want, ok := op.Blocked(out)
	if !ok || !slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return v != nil && v.Type.Equal(out) && l.Blocked(v) != nil }) {
		return nil
	}
	operands := make([]blockedOperand, len(n.Args))
	for i, v := range n.Args {
		if v == nil {
			continue
		}
		if operands[i], ok = l.operand(v, out); !ok {
			return nil
		}
	}
	if y := l.scaled(n); y != nil {
		return y
	}
	if c, _ := out.Shape[1].Int(); c%op.BlockLanes != 0 && lanesOfResult(n.Op, operands) == nil {
		return nil
	}
	args := make([]*ir.Value, len(n.Args))
	for i, o := range operands {
		if args[i] = n.Args[i]; o.build != nil {
			args[i] = o.build()
		}
	}
	y := l.b.Node(n.Op, args...)
	if !y.Type.Equal(want) {
		return nil
	}
	l.lanes[y] = lanesOfResult(n.Op, operands)
	return y
}

// scaled builds the blocked form of a product with one number for each channel: a
// depthwise convolution of one cell, which may have an epilogue.
func (l *layouts) scaled(n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Mul); !ok {
		return nil
	}
	out := n.Results[0].Type
	c, _ := out.Shape[1].Int()
	ones := slices.Repeat([]int{1}, out.Rank()-2)
	for i, x := range n.Args {
		s := n.Args[1-i]
		blocked := l.Blocked(x)
		if blocked == nil || !x.Type.Equal(out) || s.Type.Rank() > out.Rank() || !perChannelOf(s.Type, out) {
			continue
		}
		w := op.ToBlocked(l.b, l.b.Node(op.Reshape{Shape: ir.Dims(append([]int{1, c}, ones...)...)}, s))
		w = l.b.Node(op.Reshape{Shape: append(w.Type.Shape[1:2:2], ir.Dims(1, 1, op.BlockLanes)...)}, w)
		return l.b.Node(op.DepthwiseBlocked{Window: op.Window{Kernel: ones}, C: c}, blocked, w)
	}
	return nil
}

// perChannelOf reports whether a value of type s has one element for each channel of
// one of type t, for all its images and pixels.
func perChannelOf(s, t ir.Type) bool {
	shape := slices.Concat(slices.Repeat(ir.Dims(1), t.Rank()-s.Rank()), s.Shape)
	return shape[1].Equal(t.Shape[1]) && s.Elems().Equal(shape[1]) && !shape[1].Equal(ir.Const(1))
}

// blockedOperand is an operand of an elementwise node as the blocked node takes
// it.
type blockedOperand struct {
	build func() *ir.Value // nil for the operand itself
	lanes []float64        // see lanesOf
}

// operand tells how the blocked form of a node of type out takes v: in its blocked
// form, as it is where it has one element, blocked where it has one for each
// channel, or with one more axis where it has one for all channels.
func (l *layouts) operand(v *ir.Value, out ir.Type) (o blockedOperand, ok bool) {
	t, rank := v.Type, out.Rank()
	if t.DType != ir.F32 || t.Rank() > rank {
		return o, false
	}
	if n, ok := t.Elems().Int(); ok && n == 1 {
		if c, ok := v.ConstValue(); ok {
			o.lanes = []float64{c.Float(0)}
		}
		return o, true
	}
	shape := slices.Concat(ir.Dims(slices.Repeat([]int{1}, rank-t.Rank())...), t.Shape)
	one := ir.Const(1)
	switch f := l.Blocked(v); {
	case shape[1].Equal(one) && !out.Shape[1].Equal(one): // repeats over the channels
		shape = append(shape, one)
		return blockedOperand{build: func() *ir.Value { return l.b.Node(op.Reshape{Shape: shape}, v) }}, true
	case !shape[1].Equal(out.Shape[1]):
		return o, false
	case f != nil && t.Rank() == rank:
		return blockedOperand{func() *ir.Value { return f }, l.lanesOf(f, t)}, true
	}
	return blockedOperand{func() *ir.Value {
		if t.Rank() == rank {
			return l.Block(v)
		}
		return op.ToBlocked(l.b, l.b.Node(op.Reshape{Shape: shape}, v))
	}, []float64{0}}, ir.Product(shape[2:]...).Equal(one)
}

// lanesOf returns the numbers that the lanes of a blocked value beyond the
// channels of its planar type may hold; nil when they are not known. Where an
// elementwise operator becomes part of a convolution they may become zero.
func (l *layouts) lanesOf(y *ir.Value, planar ir.Type) []float64 {
	if c, _ := planar.Shape[1].Int(); c%op.BlockLanes == 0 {
		return []float64{0}
	}
	if lanes, ok := l.lanes[y]; ok {
		return lanes
	}
	if y.Def == nil {
		return nil
	}
	switch o := y.Def.Op.(type) {
	case op.LaneFiller:
		l.lanes[y] = o.EmptyLanes(y.Def)
		return l.lanes[y]
	case op.LaneMapper:
		l.lanes[y] = mappedLanes(y.Def, l.lanesOf(y.Def.Args[0], planar))
		return l.lanes[y]
	}
	lanes := []float64{0}
	for _, a := range y.Def.Args {
		more := l.lanesOf(a, planar)
		if more == nil {
			return nil
		}
		lanes = union(lanes, more)
	}
	l.lanes[y] = lanes
	return lanes
}

// mappedLanes returns the numbers in the lanes of the result of n, given those of its
// first operand; nil where they are not known.
func mappedLanes(n *ir.Node, of []float64) []float64 {
	args := make([]*ir.Tensor, len(n.Args))
	for i, a := range n.Args[1:] {
		var ok bool
		if args[1+i], ok = a.ConstValue(); a != nil && !ok {
			return nil
		}
	}
	var lanes []float64
	for _, v := range of {
		args[0] = ir.Scalar(n.Args[0].Type.DType, v)
		out, err := n.Op.Eval(args)
		if err != nil {
			return nil
		}
		lanes = union(lanes, []float64{out[0].Number(0)})
	}
	return lanes
}

// maxLanes bounds the numbers that are followed.
const maxLanes = 8

// lanesOfResult returns what an elementwise operator makes of lanes, and zero;
// nil when it may be infinite, or is not known.
func lanesOfResult(o ir.Op, operands []blockedOperand) []float64 {
	combinations := [][]*ir.Tensor{{}}
	for _, operand := range operands {
		var next [][]*ir.Tensor
		for _, c := range combinations {
			for _, v := range operand.lanes {
				next = append(next, append(c[:len(c):len(c)], ir.Scalar(ir.F32, v)))
			}
		}
		combinations = next
	}
	lanes := []float64{0}
	for _, c := range combinations {
		out, err := o.Eval(c)
		if err != nil {
			return nil
		}
		v := out[0].Float(0)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		lanes = union(lanes, []float64{v})
	}
	if len(combinations) == 0 || len(lanes) > maxLanes {
		return nil
	}
	return lanes
}

func union(a, b []float64) []float64 {
	u := slices.Concat(a, b)
	slices.Sort(u)
	return slices.Compact(u)
}
