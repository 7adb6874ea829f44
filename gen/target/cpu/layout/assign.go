// Package layout holds the passes that assign the channel-blocked layout to convolutions and the
// operators between them. It does not know how the operators of that layout compute (package
// storage).
package layout

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// Assign returns the pass assign_layout. It uses costs to choose the algorithms of convolutions.
func Assign(costs *cost.Model) pass.Pass {
	return pass.Pass{Name: "assign_layout", Required: true, Run: func(ctx *pass.Context, m *ir.Module) (bool, error) {
		return assign(ctx, costs, m)
	}}
}

// assign changes convolutions and the operators between them to the channel-blocked layout f32[N,⌈C/16⌉,spatial…,16],
// where it can. For readers that need a planar result, it converts the blocked result. It changes an elementwise
// operator only if one of its operands is blocked, and if the lanes beyond channel C of its result remain finite. A
// convolution multiplies these lanes by weights of zero, and infinity times 0 is NaN. An infinity that the model
// itself computes may also meet such a zero, and may become NaN in a later convolution. assign reports whether it
// changed m.
func assign(ctx *pass.Context, costs *cost.Model, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		l := &layouts{ctx: ctx, costs: costs, raw: isRaw(ctx, m, f), forms: map[*ir.Value]form{}, lanes: map[*ir.Value][]float64{}}
		c, err := f.Rewrite(l.visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		f.Prune()
		changed = changed || c
	}
	return changed, nil
}

// isRaw reports whether f loads raw weights and packs them in each run: no weights are prepared for
// f, and no other function calls it.
func isRaw(ctx *pass.Context, m *ir.Module, f *ir.Func) bool {
	if ctx.Prepares(m, f) {
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

// layouts implements [storage.Layouts] for the function being rewritten.
type layouts struct {
	ctx   *pass.Context
	costs *cost.Model
	raw   bool // the function loads no prepared weights
	b     *ir.Builder
	forms map[*ir.Value]form
	lanes map[*ir.Value][]float64 // see lanesOf
}

type form struct {
	value *ir.Value
	// scope is the builder of the block that holds a form made on demand. It is nil if the value
	// itself is computed from the form.
	scope *ir.Builder
}

func (l *layouts) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	l.b = b
	var y *ir.Value
	if storage.HasRelayout(n.Op) {
		y = storage.Relayout(b, n, l)
	} else if _, ok := n.Op.(op.Elementwise); ok {
		y = l.elementwise(n)
	}
	if y == nil {
		return nil
	}
	t := n.Results[0].Type
	if y.Type.Equal(t) {
		return []*ir.Value{y}
	}
	planar := storage.FromBlocked(b, y, t)
	l.forms[planar] = form{value: y}
	return []*ir.Value{planar}
}

func (l *layouts) Blocked(v *ir.Value) *ir.Value {
	if f, ok := l.forms[v]; ok && (f.scope == nil || f.scope == l.b) {
		return f.value
	}
	return nil
}

func (l *layouts) Block(v *ir.Value) *ir.Value {
	if f := l.Blocked(v); f != nil {
		return f
	}
	if _, ok := storage.Blocked(v.Type); !ok {
		return nil
	}
	f := storage.ToBlocked(l.b, v)
	l.forms[v] = form{f, l.b}
	return f
}

func (l *layouts) ZeroLanes(v *ir.Value) bool {
	return slices.Equal(l.lanesOf(l.Blocked(v), v.Type), []float64{0})
}

func (l *layouts) Raw() bool { return l.raw }

// Tile implements [storage.Layouts]. It returns the tile of the Winograd algorithm for a convolution, or 0 for the
// direct algorithm. It is always 0 in strict mode.
func (l *layouts) Tile(c cost.Conv) int {
	if l.ctx.Strict {
		return 0
	}
	return l.costs.Tile(c)
}

// elementwise builds the blocked form of an elementwise node. It returns nil if the result has no blocked form, or if
// no operand of the result's type is blocked. It also returns nil if an operand cannot be used with blocks, or if
// lanes beyond the channels of the result might become infinite or NaN.
func (l *layouts) elementwise(n *ir.Node) *ir.Value {
	out := n.Results[0].Type
	want, ok := storage.Blocked(out)
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
	if c, _ := out.Shape[1].Int(); c%storage.BlockLanes != 0 && lanesOfResult(n.Op, operands) == nil {
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

// scaled builds the blocked form of a node that multiplies each channel by a number. The blocked form is a depthwise
// convolution with a 1×1 kernel. This convolution may get an epilogue later. scaled returns nil for other nodes.
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
		if blocked == nil || !x.Type.Equal(out) || s.Type.Rank() > out.Rank() || !op.IsPerChannel(s.Type, out) {
			continue
		}
		w := storage.ToBlocked(l.b, l.b.Node(op.Reshape{Shape: dim.Consts(append([]int{1, c}, ones...)...)}, s))
		w = l.b.Node(op.Reshape{Shape: append(w.Type.Shape[1:2:2], dim.Consts(1, 1, storage.BlockLanes)...)}, w)
		return l.b.Node(storage.DepthwiseBlocked{Window: op.Window{Kernel: ones}, C: c}, blocked, w)
	}
	return nil
}

type blockedOperand struct {
	build func() *ir.Value // appends the operand; nil if it is used as it is
	lanes []float64        // see lanesOf
}

// operand returns v, an f32 value, in the form that a blocked node with result type `out` reads. There are three
// forms: v itself, if v has one element; v with one more axis, if v repeats along the channels; the blocked form of
// v, if it exists or if v has one element per channel. ok is false for other values.
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
	shape := slices.Concat(dim.Consts(slices.Repeat([]int{1}, rank-t.Rank())...), t.Shape)
	one := dim.Const(1)
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
		return storage.ToBlocked(l.b, l.b.Node(op.Reshape{Shape: shape}, v))
	}, []float64{0}}, dim.Product(shape[2:]...).Equal(one)
}

// lanesOf returns the numbers that y, a blocked value, may hold in its empty lanes. A block has 16 lanes, one for
// each of 16 channels. If the number of channels in `planar`, the type of y before it was blocked, is not a multiple
// of 16, the last lanes are empty. lanesOf returns nil if the numbers are not known.
func (l *layouts) lanesOf(y *ir.Value, planar ir.Type) []float64 {
	if c, _ := planar.Shape[1].Int(); c%storage.BlockLanes == 0 {
		return []float64{0}
	}
	if lanes, ok := l.lanes[y]; ok {
		return lanes
	}
	if y.Def == nil {
		return nil
	}
	if lanes, ok := storage.EmptyLanes(y.Def); ok {
		l.lanes[y] = lanes
		return lanes
	}
	if storage.MapsLanes(y.Def.Op) {
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

// mappedLanes returns the numbers that the result of n may hold in the lanes beyond its last channel.
// inputs holds the numbers that the first operand may hold there. mappedLanes returns nil if another
// operand is neither constant nor absent, or if n cannot be evaluated.
func mappedLanes(n *ir.Node, inputs []float64) []float64 {
	args := make([]*ir.Tensor, len(n.Args))
	for i, a := range n.Args[1:] {
		var ok bool
		if args[1+i], ok = a.ConstValue(); a != nil && !ok {
			return nil
		}
	}
	var lanes []float64
	for _, v := range inputs {
		args[0] = ir.Scalar(n.Args[0].Type.DType, v)
		out, err := n.Op.Eval(args)
		if err != nil {
			return nil
		}
		lanes = union(lanes, []float64{out[0].Number(0)})
	}
	return lanes
}

// maxLanes is the maximum number of different values that are tracked for the lanes beyond the channels of a blocked
// value. If there are more, the values of the lanes are unknown.
const maxLanes = 8

// lanesOfResult returns the numbers that the result of an elementwise operator may hold in the lanes beyond its
// channels: the results for the operands' numbers in these lanes, and zero. Zero is among them because the operator
// may become part of a convolution, which may set these lanes to zero. lanesOfResult returns nil if a result is
// unknown, infinite or NaN, or if there are more than maxLanes numbers.
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
