package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// fuseNorm replaces a layer normalisation, or a root mean square normalisation, that is written out as several
// operators. It recognises the forms that exporters write. Products and sums after the normalisation become its
// scale and bias.
func fuseNorm(ctx *Context, m *ir.Module) (changed bool, err error) {
	if ctx.Strict {
		return false, nil
	}
	readers := map[*ir.Value]int{} // of the values that this pass appends
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if len(n.Results) != 1 || len(n.Args) != 2 || !n.Results[0].Type.DType.IsFloat() {
			return nil
		}
		for _, form := range []func(*ir.Builder, *ir.Node) *ir.Value{centred, moved} {
			if y := form(b, n); y != nil {
				ctx.Count(FusedNorms, 1)
				readers[y] = b.Uses(n.Results[0])
				return []*ir.Value{y}
			}
		}
		for i, v := range n.Args {
			if b.Uses(v)+readers[v] != 1 || !v.Type.Equal(n.Results[0].Type) {
				continue
			}
			for _, form := range []func(b *ir.Builder, n *ir.Node, v, w *ir.Value) *ir.Value{withOperand, withChannels} {
				if y := form(b, n, v, n.Args[1-i]); y != nil {
					readers[y] = b.Uses(n.Results[0])
					return []*ir.Value{y}
				}
			}
		}
		return nil
	})
}

// centred returns a normalisation that equals n, if n is (x − mean)/deviation, or x divided by its root mean square.
// Instead of dividing, n may multiply by 1/deviation, or by scale·(1/deviation). centred returns nil if n has another
// form.
func centred(b *ir.Builder, n *ir.Node) *ir.Value {
	switch n.Op.(type) {
	case op.Div:
		s, ok := deviationOf(n.Args[1])
		if !ok || s.inverse {
			return nil
		}
		return s.normalized(b, n.Args[0], nil)
	case op.Mul:
		for i, v := range n.Args {
			if s, scale, ok := scaledInverse(v); ok {
				if y := s.normalized(b, n.Args[1-i], scale); y != nil {
					return y
				}
			}
		}
	}
	return nil
}

// moved returns a normalisation that equals n, if n is x·m + (bias − mean·m). m is the inverse of the deviation, or
// this inverse multiplied by a scale. moved returns nil if n has another form.
func moved(b *ir.Builder, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Add); !ok {
		return nil
	}
	for i, v := range n.Args {
		product, _, okProduct := madeBy[op.Mul](v)
		rest, _, okRest := madeBy[op.Sub](n.Args[1-i])
		if !okProduct || !okRest {
			continue
		}
		taken, _, ok := madeBy[op.Mul](rest.Args[1])
		if !ok {
			continue
		}
		for k, m := range product.Args {
			at := slices.Index(taken.Args, m)
			s, scale, ok := scaledInverse(m)
			if at < 0 || !ok || s.inner == nil || s.mean != taken.Args[1-at] || s.inner != product.Args[1-k] {
				continue
			}
			x := s.inner
			axis, perm := s.axis(x.Type)
			bias := rowOf(b, rest.Args[0], x.Type, axis, perm)
			if scale != nil {
				scale = rowOf(b, scale, x.Type, axis, perm)
				if scale == nil {
					continue
				}
			}
			if bias != nil && x.Type.Equal(n.Results[0].Type) {
				return applied(b, op.LayerNormalization{Axis: axis, Epsilon: s.epsilon}, perm, x, scale, bias)
			}
		}
	}
	return nil
}

// spread describes a deviation: √(m + epsilon), where m is the mean of squares along axes. If inverse is set, it
// describes 1/√(m + epsilon).
type spread struct {
	inverse bool
	of      *ir.Value // value that is squared; nil if the variance is written as mean(x²) − mean(x)²
	inner   *ir.Value // x, if its mean is subtracted; nil for a root mean square
	mean    *ir.Value // mean of x, if known
	axes    []int
	epsilon float64
}

// scaledInverse reports whether v is the inverse of a deviation, or the product of such an inverse and a scale. s
// describes the deviation. scale is nil if v is not a product. ok is false if v has another form.
func scaledInverse(v *ir.Value) (s spread, scale *ir.Value, ok bool) {
	if s, ok := deviationOf(v); ok && s.inverse {
		return s, nil, true
	}
	if n, _, ok := madeBy[op.Mul](v); ok {
		for i, a := range n.Args {
			if s, ok := deviationOf(a); ok && s.inverse {
				return s, n.Args[1-i], true
			}
		}
	}
	return s, nil, false
}

// deviationOf reports whether v is the square root of a mean of squares, or the inverse of such a root. s describes
// it. ok is false if v has another form.
func deviationOf(v *ir.Value) (s spread, ok bool) {
	for v != nil && v.Def != nil {
		n := v.Def
		switch n.Op.(type) {
		case op.Reciprocal:
			s.inverse = !s.inverse
		case op.Div:
			if !isNumber(n.Args[0], 1) {
				return s, false
			}
			s.inverse = !s.inverse
			v = n.Args[1]
			continue
		case op.Sqrt:
			if inner, _, ok := madeBy[op.Reciprocal](n.Args[0]); ok {
				s.inverse = !s.inverse
				n = inner
			}
			return s, s.variance(n.Args[0])
		case op.Pow:
			switch {
			case isNumber(n.Args[1], 0.5):
			case isNumber(n.Args[1], -0.5):
				s.inverse = !s.inverse
			default:
				return s, false
			}
			return s, s.variance(n.Args[0])
		default:
			return s, false
		}
		v = n.Args[0]
	}
	return s, false
}

// variance reports whether v is a mean of squares plus epsilon. If v is, variance sets the fields of s.
func (s *spread) variance(v *ir.Value) bool {
	n, _, ok := madeBy[op.Add](v)
	if !ok {
		return false
	}
	squares := n.Args[0]
	s.epsilon, ok = numberOf(n.Args[1])
	if !ok {
		squares = n.Args[1]
		s.epsilon, ok = numberOf(n.Args[0])
	}
	if !ok || s.epsilon < 0 || float64(float32(s.epsilon)) != s.epsilon {
		return false
	}
	if n, _, ok := madeBy[op.Sub](squares); ok { // mean of x², less mean²
		x, axes, ok := meanOfSquares(n.Args[0])
		square, _, isSquare := madeBy[op.Mul](n.Args[1])
		if !ok || !isSquare || square.Args[0] != square.Args[1] {
			return false
		}
		y, same, ok := meanOf(square.Args[0])
		s.of, s.inner, s.mean, s.axes = nil, x, square.Args[0], axes
		return ok && x == y && slices.Equal(axes, same)
	}
	s.of, s.axes, ok = meanOfSquares(squares)
	if !ok {
		return false
	}
	if d, _, ok := madeBy[op.Sub](s.of); ok {
		if x, axes, ok := meanOf(d.Args[1]); ok && x == d.Args[0] && slices.Equal(axes, s.axes) {
			s.inner, s.mean = x, d.Args[1]
		}
	}
	return true
}

// meanOfSquares returns x and axes if v is the mean of x² along axes. ok is false if v is something else.
func meanOfSquares(v *ir.Value) (x *ir.Value, axes []int, ok bool) {
	kind, y, axes, ok := averaged(v)
	if !ok || kind == op.ReduceSumSquare {
		return y, axes, ok
	}
	n, _, ok := madeBy[op.Mul](y)
	if !ok || n.Args[0] != n.Args[1] {
		return nil, nil, false
	}
	return n.Args[0], axes, true
}

// meanOf returns x and axes if v is the mean of x along axes. ok is false if v is something else.
func meanOf(v *ir.Value) (x *ir.Value, axes []int, ok bool) {
	kind, x, axes, ok := averaged(v)
	return x, axes, ok && kind != op.ReduceSumSquare
}

// averaged reports whether v is a mean along axes that keep extent 1. If kind is ReduceSumSquare, v is the mean of
// x². Otherwise it is the mean of x. The mean may be written as a sum divided by the number of elements. ok is
// false if v is not a mean.
func averaged(v *ir.Value) (kind op.Reduction, x *ir.Value, axes []int, ok bool) {
	sum, c := unscaled(v)
	if n, _, isReshape := madeBy[op.Reshape](sum); isReshape {
		var more float64
		sum, more = unscaled(n.Args[0])
		c *= more
	}
	n, o, ok := madeBy[op.Reduce](sum)
	if !ok {
		return kind, nil, nil, false
	}
	x = n.Args[0]
	count, kept := dim.Const(1), slices.Clone(x.Type.Shape)
	for _, a := range o.Axes {
		count, kept[a] = count.Mul(x.Type.Shape[a]), dim.Const(1)
	}
	if !v.Type.Equal(ir.TensorOf(x.Type.DType, kept...)) {
		return kind, nil, nil, false
	}
	switch number, isConst := count.Int(); o.Kind {
	case op.ReduceMean:
		ok = c == 1
	case op.ReduceSum, op.ReduceSumSquare:
		ok = isConst && number > 0 && about(c, 1/float64(number), x.Type.DType)
	default:
		ok = false
	}
	return o.Kind, x, o.Axes, ok
}

// axis returns the first axis of a normalisation along the last axes of x. If the normalised axes are not the last
// axes, perm is a permutation of x's axes that moves them to the end. Otherwise perm is nil.
func (s *spread) axis(x ir.Type) (axis int, perm []int) {
	one := dim.Const(1)
	for i, d := range x.Shape {
		if !slices.Contains(s.axes, i) && !d.Equal(one) {
			axis = i + 1
		}
	}
	for _, a := range s.axes {
		if a < axis && !x.Shape[a].Equal(one) {
			for i := range x.Shape {
				if !slices.Contains(s.axes, i) {
					perm = append(perm, i)
				}
			}
			return len(perm), append(perm, s.axes...)
		}
	}
	return min(axis, len(x.Shape)-1), nil
}

// normalized returns a normalisation that equals scale·(y/s), where s is a deviation. A nil scale is 1. normalized
// returns nil if s is not the deviation of y.
func (s *spread) normalized(b *ir.Builder, y, scale *ir.Value) *ir.Value {
	x := y
	if s.of == nil {
		d, _, ok := madeBy[op.Sub](y)
		if !ok || d.Args[0] != s.inner {
			return nil
		}
		if v, axes, ok := meanOf(d.Args[1]); !ok || v != s.inner || !slices.Equal(axes, s.axes) {
			return nil
		}
	} else if y != s.of {
		return nil
	}
	if s.inner != nil {
		x = s.inner
	}
	axis, perm := s.axis(x.Type)
	var o ir.Op = op.RMSNormalization{Axis: axis, Epsilon: s.epsilon}
	if s.inner != nil {
		o = op.LayerNormalization{Axis: axis, Epsilon: s.epsilon}
	}
	if scale != nil {
		if scale = rowOf(b, scale, x.Type, axis, perm); scale == nil {
			return nil
		}
		return applied(b, o, perm, x, scale)
	}
	return applied(b, o, perm, x)
}

// applied appends the normalisation o with the operands x and `others`, and returns its result. If perm is not nil,
// applied first transposes x by perm, and transposes the result back. It does not transpose `others`.
func applied(b *ir.Builder, o ir.Op, perm []int, x *ir.Value, others ...*ir.Value) *ir.Value {
	if perm == nil {
		return b.Node(o, append([]*ir.Value{x}, others...)...)
	}
	x = b.Node(op.Transpose{Perm: perm}, x)
	return b.Node(op.Transpose{Perm: inverse(perm)}, b.Node(o, append([]*ir.Value{x}, others...)...))
}

// rowOf converts v, which broadcasts to x, to the shape of the axes of x from `axis` on. If perm is not nil, `axis`
// counts the axes of x transposed by perm. rowOf returns nil if it cannot convert v: for example if v varies along
// other axes.
func rowOf(b *ir.Builder, v *ir.Value, x ir.Type, axis int, perm []int) *ir.Value {
	lead, one := x.Rank()-v.Type.Rank(), dim.Const(1)
	if lead < 0 || v.Type.DType != x.DType {
		return nil
	}
	have, want := slices.Concat(slices.Repeat(dim.Consts(1), lead), v.Type.Shape), x.Shape
	if perm != nil {
		have, want = pick(have, perm), pick(want, perm)
		if !slices.IsSorted(perm[axis:]) {
			return nil
		}
	}
	static := ir.TensorOf(x.DType, want[axis:]...).IsStatic()
	full := true
	for i, d := range have {
		switch {
		case i >= axis && d.Equal(want[i]):
		case !d.Equal(one), i >= axis && !static:
			return nil
		case i >= axis:
			full = false
		}
	}
	v = reshaped(b, v, have[axis:]...)
	if !full {
		v = b.Node(op.Expand{Shape: want[axis:]}, v)
	}
	return v
}

// withOperand returns the normalisation v with one more operand. If n is v·w, w becomes its scale. If n is v + w, w
// becomes its bias. withOperand returns nil if v already has this operand, or if w does not fit.
func withOperand(b *ir.Builder, n *ir.Node, v, w *ir.Value) *ir.Value {
	if v.Def == nil {
		return nil
	}
	axis, most := 0, 1
	switch o := v.Def.Op.(type) {
	case op.LayerNormalization:
		axis, most = o.Axis, 2
	case op.RMSNormalization:
		axis = o.Axis
	default:
		return nil
	}
	place := 0
	switch n.Op.(type) {
	case op.Mul:
		place = 1
	case op.Add:
		place = 2
	}
	if place == 0 || place > most || len(v.Def.Args) > place {
		return nil
	}
	row := rowOf(b, w, v.Type, axis, nil)
	if row == nil {
		return nil
	}
	args := []*ir.Value{v.Def.Args[0], v.Def.Arg(1), nil}[:place+1]
	args[place] = row
	return b.Node(v.Def.Op, args...)
}

// withChannels returns a group normalisation that equals n. w has one element for each channel. If n is v·w, v must
// be a layer normalisation of groups of channels, and w becomes the scale. If n is v + w, v must be a group
// normalisation, and w becomes the bias. withChannels returns nil if n has another form.
func withChannels(b *ir.Builder, n *ir.Node, v, w *ir.Value) *ir.Value {
	t := v.Type
	if t.Rank() < 3 || t.Rank() < w.Type.Rank() || !op.IsPerChannel(w.Type, t) && !t.Shape[1].Equal(dim.Const(1)) {
		return nil
	}
	switch n.Op.(type) {
	case op.Add:
		if g, o, ok := madeBy[op.GroupNormalization](v); ok && len(g.Args) == 2 {
			return b.Node(o, g.Args[0], g.Args[1], reshaped(b, w, t.Shape[1]))
		}
	case op.Mul:
		rows := v
		if r, _, ok := madeBy[op.Reshape](v); ok && b.Uses(r.Args[0]) == 1 {
			rows = r.Args[0]
		}
		g, o, ok := madeBy[op.LayerNormalization](rows)
		if !ok || o.Axis != 2 || len(g.Args) != 1 || !rows.Type.Shape[0].Equal(t.Shape[0]) {
			return nil
		}
		groups, ok := rows.Type.Shape[1].Int()
		if c, known := t.Shape[1].Int(); !ok || !known || groups < 1 || c%groups != 0 {
			return nil
		}
		return b.Node(op.GroupNormalization{Groups: groups, Epsilon: o.Epsilon}, reshaped(b, g.Args[0], t.Shape...), reshaped(b, w, t.Shape[1]))
	}
	return nil
}
