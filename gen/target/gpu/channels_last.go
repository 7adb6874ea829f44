package gpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// channelsLast returns the pass channels_last. It moves the channels of images to the last axis for convolutions, and
// for the pools, concatenations and elementwise operators between them. The kernels sum over channels, and read them
// faster when they are adjacent in memory. Matrices of weights are transposed for the same reason. Readers that need
// channels first get a copy. Functions that compute gradients of convolutions stay as they are.
func (t Target) channelsLast() pass.Pass {
	return pass.Pass{Name: "channels_last", Run: func(ctx *pass.Context, m *ir.Module) (changed bool, err error) {
		for _, f := range m.Funcs {
			if slices.ContainsFunc(f.Nodes, func(n *ir.Node) bool { _, ok := n.Op.(op.ConvWeights); return ok }) {
				continue
			}
			l := &lastChannels{target: t, fixed: pass.Fixed(), prepares: ctx.Prepares(m, f), forms: map[*ir.Value]lastForm{}}
			c, err := f.Rewrite(l.visit)
			if err != nil {
				return changed, fmt.Errorf("@%s: %w", f.Name, err)
			}
			f.Prune()
			changed = changed || c
		}
		return changed, nil
	}}
}

// lastChannels rewrites a function. forms maps a value with the channels as the second axis to its form with the
// channels as the last axis.
type lastChannels struct {
	target   Target
	fixed    func(*ir.Value) bool // whether a value depends on weights only
	prepares bool                 // the function loads prepared weights
	b        *ir.Builder
	forms    map[*ir.Value]lastForm
}

type lastForm struct {
	value *ir.Value
	// scope is the builder of the block that holds a copy made on demand. It is nil if the value itself is computed
	// from the form.
	scope *ir.Builder
}

func (l *lastChannels) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	if len(n.Results) != 1 || !n.Results[0].Type.IsTensor() || l.fixed(n.Results[0]) {
		return nil
	}
	l.b = b
	if o, ok := n.Op.(op.MatMul); ok {
		return l.product(n, o)
	}
	if n.Results[0].Type.Rank() < 3 {
		return nil
	}
	var y *ir.Value
	switch o := n.Op.(type) {
	case op.Conv:
		y = l.conv(n, o)
	case op.MaxPool:
		y = l.image(n, last.MaxPoolLast{Window: o.Window}, o.Blocked)
	case op.AveragePool:
		y = l.image(n, last.AveragePoolLast{Window: o.Window, CountPad: o.CountPad}, o.Blocked)
	case op.GlobalAveragePool:
		y = l.image(n, last.GlobalAveragePoolLast{}, o.Blocked)
	case op.Concat:
		y = l.concat(n, o)
	case op.Elementwise:
		y = l.elementwise(n)
	}
	if y == nil {
		return nil
	}
	first := l.first(y)
	l.forms[first] = lastForm{value: y}
	return []*ir.Value{first}
}

// known returns the form of v with the channels last, or nil if there is none yet.
func (l *lastChannels) known(v *ir.Value) *ir.Value {
	if f, ok := l.forms[v]; ok && (f.scope == nil || f.scope == l.b) {
		return f.value
	}
	return nil
}

// last returns the form of v with the channels last. It copies v if there is no such form yet.
func (l *lastChannels) last(v *ir.Value) *ir.Value {
	if f := l.known(v); f != nil {
		return f
	}
	f := l.moved(v)
	l.forms[v] = lastForm{f, l.b}
	return f
}

// moved copies v with its second axis moved to the end.
func (l *lastChannels) moved(v *ir.Value) *ir.Value {
	from := op.RowMajor(v.Type.Shape)
	return l.copied(v, last.Type(v.Type), append(append(from[:1:1], from[2:]...), from[1]))
}

// first copies y with its last axis moved to the second.
func (l *lastChannels) first(y *ir.Value) *ir.Value {
	from, end := op.RowMajor(y.Type.Shape), y.Type.Rank()-1
	return l.copied(y, last.First(y.Type), append([]dim.Dim{from[0], from[end]}, from[1:end]...))
}

// copied returns v with the type `to`. strides holds, for each axis of the result, the stride of this axis in v. The
// result is a view if its elements have the same order as the elements of v.
func (l *lastChannels) copied(v *ir.Value, to ir.Type, strides []dim.Dim) *ir.Value {
	if keepsOrder(v.Type.Shape, to.Shape) {
		return op.ReshapeTo(l.b, v, to.Shape...)
	}
	return l.b.Node(op.StridedCopy{Shape: to.Shape, Strides: strides}, v)
}

// keepsOrder reports whether moving one axis of a tensor is known to keep the order of its elements. a is the shape
// before, and b the shape after the move. keepsOrder leaves out axes of extent 1. It returns true if at most one
// axis remains, or if the remaining extents are distinct and stay in order.
func keepsOrder(a, b []dim.Dim) bool {
	long := func(shape []dim.Dim) []dim.Dim {
		return slices.DeleteFunc(slices.Clone(shape), func(d dim.Dim) bool { return d.Equal(dim.Const(1)) })
	}
	a, b = long(a), long(b)
	return len(a) < 2 || slices.EqualFunc(a, b, dim.Dim.Equal) && distinct(a)
}

func distinct(a []dim.Dim) bool {
	for i := range a {
		if slices.ContainsFunc(a[:i], a[i].Equal) {
			return false
		}
	}
	return true
}

// conv builds a convolution whose channels are last. It returns nil if no kernel computes it.
func (l *lastChannels) conv(n *ir.Node, o op.Conv) *ir.Value {
	x, w, bias := n.Args[0], n.Args[1], n.Arg(2)
	depth, ok := w.Type.Shape[1].Int()
	channels, ok2 := w.Type.Shape[0].Int()
	chunk := l.target.options().Chunk(x.Type.DType)
	static := dim.Product(w.Type.Shape...).IsConst()
	if !ok || !ok2 || !static || chunk == 0 || depth < 1 || channels < 1 {
		return nil
	}
	if depth == 1 && o.Group > 1 {
		return l.depthwise(n, o, channels)
	}
	c := last.ConvLast{Window: o.Window, Group: o.Group, Wide: o.Wide}
	if depth%chunk == 0 {
		return l.b.Node(c, l.last(x), l.moved(w), bias)
	}
	if o.Group != 1 {
		return nil
	}
	wide := last.ToLast{Channels: (depth + chunk - 1) / chunk * chunk}
	var y *ir.Value
	if from, ok := narrowed(x); ok { // the copy reads the operand anyhow
		y = l.b.Node(x.Def.Op, l.b.Node(wide, from))
	} else {
		y = l.b.Node(wide, x)
	}
	w = l.moved(w)
	end := w.Type.Rank() - 1
	zeros := op.Fill{Value: ir.Scalar(w.Type.DType, 0), Shape: slices.Clone(w.Type.Shape)}
	zeros.Shape[end] = dim.Const(wide.Channels - depth)
	w = l.b.Node(op.Concat{Axis: end}, w, l.b.Node(zeros))
	return l.b.Node(c, y, w, bias)
}

// leastPipelined is the fewest rows for which pipelined kernels are faster than [last.MatMulRows].
const leastPipelined = 64

// product builds a [last.MatMulRows] for n, a matrix product. It returns nil if the weights are not prepared, if no
// kernel computes a MatMulRows of these operands, or if a pipelined kernel is faster.
func (l *lastChannels) product(n *ir.Node, o op.MatMul) []*ir.Value {
	x, w := n.Args[0], n.Args[1]
	chunk := l.target.options().Chunk(x.Type.DType)
	if !l.prepares || !l.fixed(w) || chunk == 0 || x.Type.Rank() < 2 || w.Type.Rank() != 2 {
		return nil
	}
	rows, known := dim.Product(x.Type.Shape[:x.Type.Rank()-1]...).Int()
	if known && rows >= leastPipelined && l.target.options().Pipelines(x.Type.DType) {
		return nil
	}
	shape, ok := w.Type.Static()
	if !ok || shape[0] == 0 || shape[0]%chunk != 0 || shape[1] == 0 {
		return nil
	}
	columns := l.b.Node(op.StridedCopy{Shape: dim.Consts(shape[1], shape[0]), Strides: dim.Consts(1, shape[1])}, w)
	return []*ir.Value{l.b.Node(last.MatMulRows{Wide: o.Wide}, x, columns)}
}

// narrowed returns the operand of the cast that computes v. ok is false if no cast computes v.
func narrowed(v *ir.Value) (from *ir.Value, ok bool) {
	if v.Def == nil {
		return nil, false
	}
	if _, ok = v.Def.Op.(op.Cast); !ok {
		return nil, false
	}
	return v.Def.Args[0], true
}

// depthwise builds a convolution of each channel on its own.
func (l *lastChannels) depthwise(n *ir.Node, o op.Conv, channels int) *ir.Value {
	w := n.Args[1]
	each := channels / o.Group
	strides := op.RowMajor(w.Type.Shape)
	shape := append(append([]dim.Dim{dim.Const(each)}, w.Type.Shape[2:]...), dim.Const(o.Group))
	order := append(append([]dim.Dim{strides[0]}, strides[2:]...), strides[0].Mul(dim.Const(each)))
	packed := l.b.Node(op.StridedCopy{Shape: shape, Strides: order}, w)
	return l.b.Node(last.DepthwiseLast{Window: o.Window, Wide: o.Wide}, l.last(n.Args[0]), packed, n.Arg(2))
}

// image builds o on the form of n's operand with the channels last. It returns nil if there is no such form. It also
// returns nil if `blocked` is true, because the channels of the operand are then in blocks.
func (l *lastChannels) image(n *ir.Node, o ir.Op, blocked bool) *ir.Value {
	x := l.known(n.Args[0])
	if blocked || x == nil {
		return nil
	}
	return l.b.Node(o, x)
}

// concat concatenates the forms of n's operands with the channels last. It returns nil if an operand has no such
// form.
func (l *lastChannels) concat(n *ir.Node, o op.Concat) *ir.Value {
	args := make([]*ir.Value, len(n.Args))
	for i, a := range n.Args {
		if args[i] = l.known(a); args[i] == nil {
			return nil
		}
	}
	switch end := n.Results[0].Type.Rank() - 1; {
	case o.Axis == 1:
		o.Axis = end
	case o.Axis > 1:
		o.Axis--
	}
	return l.b.Node(o, args...)
}

// elementwise builds an elementwise operator on operands whose channels are last. It returns nil if no operand of the
// result's shape has its channels last yet, or if [lastChannels.operand] does not support an operand.
func (l *lastChannels) elementwise(n *ir.Node) *ir.Value {
	out := n.Results[0].Type
	whole := func(v *ir.Value) bool { return v != nil && slices.EqualFunc(v.Type.Shape, out.Shape, dim.Dim.Equal) }
	if !slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return whole(v) && l.known(v) != nil }) {
		return nil
	}
	args := make([]*ir.Value, len(n.Args))
	for i, v := range n.Args {
		if v == nil {
			continue
		}
		if args[i] = l.operand(v, out); args[i] == nil {
			return nil
		}
	}
	y := l.b.Node(n.Op, args...)
	if !y.Type.Equal(last.Type(out)) {
		return nil
	}
	return y
}

// operand returns v with the channels last, for an elementwise operator with a result of type `out`. If v has the
// rank of the result, operand copies v, unless there is such a copy already. If v has a lower rank, operand only
// reshapes it. It returns nil if moving the channels of such a v may change the order of the elements.
func (l *lastChannels) operand(v *ir.Value, out ir.Type) *ir.Value {
	t, rank := v.Type, out.Rank()
	if !t.IsTensor() || t.Rank() > rank {
		return nil
	}
	if n, ok := t.Elems().Int(); ok && n == 1 && t.Rank() <= 1 {
		return v
	}
	one := dim.Const(1)
	shape := slices.Concat(slices.Repeat([]dim.Dim{one}, rank-t.Rank()), t.Shape)
	if t.Rank() == rank {
		return l.last(v)
	}
	order := last.Type(ir.TensorOf(t.DType, shape...))
	if !keepsOrder(shape, order.Shape) {
		return nil
	}
	return op.ReshapeTo(l.b, v, order.Shape...)
}
