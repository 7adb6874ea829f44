package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// foldAffine moves a multiplication by a weight, or an addition of a weight, into the preceding operator: a
// convolution, a matrix product or a normalisation. That operator's weights and bias change. The moved weight has
// one element, or one for each output channel. Nothing else may read the result of the preceding operator.
func foldAffine(ctx *Context, m *ir.Module) (changed bool, err error) {
	known := fixed{}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		o, ok := n.Op.(op.Affine)
		if !ok || b.Uses(n.Args[0]) != 1 || !known.has(n.Args[1]) || !invertible(n.Args[1]) || !n.Args[0].Type.Equal(n.Results[0].Type) {
			return nil
		}
		l := linear{b, known, ctx.Strict}
		scales, inverse := o.Affine()
		x, w := n.Args[0], n.Args[1]
		var build func(x, s, t *ir.Value) *ir.Value
		switch {
		case l.accepts(x, scales, !scales) && perChannel(w, x):
			build = l.scaled
		case scales && l.distributes(x, w):
			build = l.distributed
		default:
			return nil
		}
		if inverse != nil {
			w = b.Node(inverse, w)
		}
		ctx.Count(FoldedAffines, 1)
		if scales {
			return []*ir.Value{build(x, w, nil)}
		}
		return []*ir.Value{build(x, nil, w)}
	})
}

// invertible reports whether weights may be multiplied by v. It returns false for a constant with an element that
// is 0, infinite or NaN, because the weights could not be restored from the products.
func invertible(v *ir.Value) bool {
	t, ok := v.ConstValue()
	for i := 0; ok && i < t.Stored(); i++ {
		if x := t.Number(i); x == 0 || x-x != 0 {
			return false
		}
	}
	return true
}

// linear multiplies the result of an operator by a value, or adds a value to it, by changing the operator's weights
// and bias. The value must depend on weights and constants only. b appends the new nodes.
type linear struct {
	b      *ir.Builder
	known  fixed
	strict bool // change nothing that would round a float differently
}

// accepts reports whether [linear.scaled] can compute x·s + t by x's operator with other weights. s is 1 unless scale
// is true, and t is 0 unless shift is true.
func (l linear) accepts(x *ir.Value, scale, shift bool) bool {
	if x.Def == nil || x.Type.DType.Bits() < 32 || l.known.has(x) {
		return false
	}
	n := x.Def
	bias := n.Arg(2)
	switch o := n.Op.(type) {
	case op.Conv:
	case op.Gemm:
		if o.Beta != 1 && bias != nil {
			return false
		}
	case op.BatchNormalization:
		if n.Args[1].Type.Rank() != 1 || !l.known.has(n.Args[3]) || !l.known.has(n.Args[4]) {
			return false
		}
	case op.MatMul:
		if shift || n.Args[1].Type.Rank() < 2 {
			return false
		}
	default:
		return false
	}
	fixedWeights := l.known.has(n.Args[1]) && (bias == nil || l.known.has(bias))
	return fixedWeights && !(l.strict && (scale || bias != nil))
}

// channelAxis returns the axis of x along which its output channels lie.
func channelAxis(x *ir.Value) int {
	switch x.Def.Op.(type) {
	case op.Conv, op.BatchNormalization:
		return 1
	}
	return x.Type.Rank() - 1
}

// scaled returns x·s + t. It computes this by a node with x's operator and changed weights. s and t have one
// element, or one for each channel. A nil s is 1 and a nil t is 0.
func (l linear) scaled(x, s, t *ir.Value) *ir.Value {
	n := x.Def
	channels := x.Type.Shape[channelAxis(x)]
	switch o := n.Op.(type) {
	case op.Gemm:
		columns := 1
		if o.TransB {
			columns = 0
		}
		o.Beta = 1
		return l.b.Node(o, n.Args[0], l.times(n.Args[1], s, channels, columns), l.bias(n.Arg(2), s, t, channels))
	case op.MatMul:
		return l.b.Node(o, n.Args[0], l.times(n.Args[1], s, channels, n.Args[1].Type.Rank()-1))
	}
	args := slices.Clone(n.Args)
	if len(args) < 3 {
		args = append(args, nil)
	}
	args[1], args[2] = l.times(n.Args[1], s, channels, 0), l.bias(n.Arg(2), s, t, channels)
	return l.b.Node(n.Op, args...)
}

// distributes reports whether x is p·w + c, and x·s can be computed as p·(w·s) + c·s. [linear.scaled] must be able
// to multiply p·w by s, nothing else may read p·w, and c must depend on weights and constants only.
func (l linear) distributes(x, s *ir.Value) bool {
	if x.Def == nil || l.strict {
		return false
	}
	_, ok := x.Def.Op.(op.Add)
	return ok && l.b.Uses(x.Def.Args[0]) == 1 && l.known.has(x.Def.Args[1]) &&
		x.Def.Args[0].Type.Equal(x.Type) && l.accepts(x.Def.Args[0], true, false) && perChannel(s, x.Def.Args[0])
}

// distributed returns x·s as p·w·s + c·s, where x = p·w + c; see [linear.distributes].
func (l linear) distributed(x, s, _ *ir.Value) *ir.Value {
	return l.b.Node(op.Add{}, l.scaled(x.Def.Args[0], s, nil), l.b.Node(op.Mul{}, x.Def.Args[1], s))
}

// perChannel reports whether v has one element, or one element for each channel of x. v broadcasts to x.
func perChannel(v, x *ir.Value) bool {
	lead, one, axis := x.Type.Rank()-v.Type.Rank(), dim.Const(1), channelAxis(x)
	if lead < 0 {
		return false
	}
	for i, d := range v.Type.Shape {
		if !d.Equal(one) && !(lead+i == axis && d.Equal(x.Type.Shape[axis])) {
			return false
		}
	}
	return true
}

// times returns the weights w multiplied by s. s has one element, or one for each of the `channels` channels along
// `axis` of w. times returns w if s is nil.
func (l linear) times(w, s *ir.Value, channels dim.Dim, axis int) *ir.Value {
	if s == nil {
		return w
	}
	shape := slices.Repeat(dim.Consts(1), w.Type.Rank())
	if !s.Type.Elems().Equal(dim.Const(1)) {
		shape[axis] = channels
	}
	return l.b.Node(op.Mul{}, w, reshaped(l.b, s, shape...))
}

// bias returns c·s + t with one element for each channel. A nil c or t is 0, and a nil s is 1. bias returns nil if
// the sum is 0.
func (l linear) bias(c, s, t *ir.Value, channels dim.Dim) *ir.Value {
	if c != nil && s != nil {
		c = l.b.Node(op.Mul{}, c, l.vector(s, channels))
	}
	switch {
	case t == nil:
		return c
	case c == nil:
		t = l.vector(t, channels)
		if t.Type.Rank() == 0 {
			t = l.b.Node(op.Expand{Shape: []dim.Dim{channels}}, t)
		}
		return t
	}
	return l.b.Node(op.Add{}, c, l.vector(t, channels))
}

// vector returns v reshaped to [channels], or to rank 0 if v has a single element.
func (l linear) vector(v *ir.Value, channels dim.Dim) *ir.Value {
	if v.Type.Elems().Equal(dim.Const(1)) {
		return reshaped(l.b, v)
	}
	return reshaped(l.b, v, channels)
}

func reshaped(b *ir.Builder, v *ir.Value, shape ...dim.Dim) *ir.Value {
	if v.Type.Equal(ir.TensorOf(v.Type.DType, shape...)) {
		return v
	}
	return b.Node(op.Reshape{Shape: shape}, v)
}
