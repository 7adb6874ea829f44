package pass

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// fuseAttention replaces a softmax of products of queries and keys, and its product with values, by one
// [op.Attention]. Nothing else may read the intermediate results. Scales, masks and repeated heads of keys and
// values become part of the Attention. If a mask excludes all keys of a query, the result is 0 rather than NaN.
func fuseAttention(ctx *Context, m *ir.Module) (changed bool, err error) {
	if ctx.Strict {
		return false, nil
	}
	return rewriteAll(m, attentionFuser(ctx, func(*ir.Node) bool { return true }))
}

// FuseAttention does to f what the pass fuse_attention does to the functions of a module. It replaces a formula only
// if the function `accepts` returns true for the node of its [op.Attention]. The operands and results of this node
// are in no function. Training calls FuseAttention before it differentiates f, so that the gradient of an attention
// is an operator, too.
func FuseAttention(f *ir.Func, accepts func(n *ir.Node) bool) error {
	_, err := f.Rewrite(attentionFuser(&Context{}, accepts))
	f.Prune()
	return err
}

func attentionFuser(ctx *Context, accepts func(n *ir.Node) bool) func(*ir.Builder, *ir.Node) []*ir.Value {
	known := fixed{}
	return func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if _, ok := n.Op.(op.MatMul); !ok {
			return nil
		}
		a, ok := attentionOf(b, n)
		if !ok || known.has(a.k) || known.has(a.v) { // weights are prepared for products
			return nil
		}
		if after, ok := a.laterExcluded(ctx); ok {
			a.After, a.allow = after, nil
		}
		y := a.build(b, n.Results[0].Type, accepts)
		if y == nil {
			return nil
		}
		ctx.Count(FusedAttentions, 1)
		return []*ir.Value{y}
	}
}

// attention describes the product of the probabilities of a softmax and values. [attention.build] replaces this
// product.
type attention struct {
	op.Attention
	q, k, v *ir.Value // queries [X…,S,D], keys [X…,D,T] and values [X…,T,E]
	// lead holds the leading extents of the scores to which masks are added: [B,H], or [B] for
	// single heads. The scores have two more axes, for queries and keys.
	lead     []dim.Dim
	masks    []*ir.Value // added to the scores
	allow    *ir.Value   // false for keys that are masked out, or true for them if negated is set
	negated  bool
	excluded float64 // number that replaces the scores of keys that are masked out
}

// attentionOf describes n if n is the product of the probabilities of a softmax and values. Otherwise ok is false.
// attentionOf does not change nodes.
func attentionOf(b *ir.Builder, n *ir.Node) (a attention, ok bool) {
	a = attention{Attention: op.Attention{Scale: 1, Before: -1, After: -1}, v: n.Args[1]}
	s, ok := a.softmax(b, n.Args[0])
	if !ok || n.Args[1].Type.Rank() != n.Args[0].Type.Rank() {
		return a, false
	}
	for s.Def != nil && b.Uses(s) == 1 {
		if product, _, ok := madeBy[op.MatMul](s); ok {
			a.q, a.k = product.Args[0], product.Args[1]
			if a.lead == nil {
				a.lead = s.Type.Shape[:s.Type.Rank()-2]
			}
			rank := s.Type.Rank()
			return a, a.q.Type.Rank() == rank && a.k.Type.Rank() == rank && a.v.Type.Rank() == rank
		}
		if s = a.peel(b, s); s == nil {
			return a, false
		}
	}
	return a, false
}

// softmax returns the operand of v if v is a softmax along its last axis and nothing else reads v. Otherwise ok is
// false. Casts may surround the softmax; the type between the casts then becomes a.Precision. A [op.Where] after
// the softmax may replace NaN, the result of a query without keys, by 0.
func (a *attention) softmax(b *ir.Builder, v *ir.Value) (scores *ir.Value, ok bool) {
	if b.Uses(v) != 1 {
		return nil, false
	}
	if choice, _, ok := madeBy[op.Where](v); ok && isNumber(choice.Args[1], 0) { // the result is 0 where there are no keys
		v = choice.Args[2]
		if nan, _, ok := madeBy[op.IsNaN](choice.Args[0]); !ok || nan.Args[0] != v || b.Uses(v) != 2 {
			return nil, false
		}
	}
	narrow := v.Type.DType
	if cast, _, ok := madeBy[op.Cast](v); ok && b.Uses(cast.Args[0]) == 1 {
		v = cast.Args[0]
		a.Precision = v.Type.DType
	}
	softmax, o, ok := madeBy[op.Softmax](v)
	if !ok || o.Axis != v.Type.Rank()-1 || o.Axis < 2 {
		return nil, false
	}
	scores = softmax.Args[0]
	if a.Precision == ir.Invalid {
		return scores, true
	}
	cast, _, ok := madeBy[op.Cast](scores)
	if !ok || b.Uses(scores) != 1 || cast.Args[0].Type.DType != narrow {
		return nil, false
	}
	return cast.Args[0], true
}

// leastScore decides which keys a mask excludes. A mask may replace the score of a key by a number. If this number
// is at most leastScore, the key is excluded.
const leastScore = -1e30

// peel removes the last of the operators that compute the scores s: a reshape, a mask, a scale or a soft cap. It
// records the operator in a, and returns the operator's operand. It returns nil if the operator cannot be part of
// an attention.
func (a *attention) peel(b *ir.Builder, s *ir.Value) *ir.Value {
	n := s.Def
	fits := func(v *ir.Value) bool { return v.Type.Equal(s.Type) && scoresOf(b, v) }
	masked := func(rank int) bool { // here, and not yet in another shape
		shape := s.Type.Shape[:rank-2]
		if a.Scale != 1 || a.Softcap != 0 || a.lead != nil && !slices.EqualFunc(a.lead, shape, dim.Dim.Equal) {
			return false
		}
		a.lead = shape
		return true
	}
	switch n.Op.(type) {
	case op.Reshape:
		inner := n.Args[0]
		from, to := inner.Type.Shape, s.Type.Shape
		i, k := len(from)-2, len(to)-2
		if i >= 1 && k >= 1 && from[i].Equal(to[k]) && from[i+1].Equal(to[k+1]) {
			return inner
		}
	case op.Add:
		for i, m := range n.Args {
			if v := n.Args[1-i]; fits(v) && masked(s.Type.Rank()) {
				a.masks = append(a.masks, m)
				return v
			}
		}
	case op.Where:
		for i, v := range n.Args[1:] {
			least, ok := numberOf(n.Args[2-i])
			if ok && least <= leastScore && a.allow == nil && len(a.masks) == 0 && fits(v) && masked(s.Type.Rank()) {
				a.allow, a.negated, a.excluded = n.Args[0], i == 1, least
				return v
			}
		}
	case op.Mul, op.Div:
		x, c := unscaled(s)
		for v := s; v != x; v = v.Def.Args[0] {
			if b.Uses(v) != 1 {
				return nil
			}
		}
		tanh, _, isTanh := madeBy[op.Tanh](x)
		switch {
		case x == s:
		case !isTanh:
			a.Scale *= c
			return x
		case a.Softcap == 0 && a.Scale == 1 && c > 0 && b.Uses(x) == 1:
			a.Softcap = asFloat32(c)
			inner, by := unscaled(tanh.Args[0])
			a.Scale = by * c
			return inner
		}
	}
	return nil
}

// scoresOf reports whether v may be scores, and not a mask. Scores are a matrix product, which may be scaled or
// masked.
func scoresOf(b *ir.Builder, v *ir.Value) bool {
	for v.Def != nil && b.Uses(v) == 1 {
		switch v.Def.Op.(type) {
		case op.MatMul:
			return true
		case op.Add, op.Where:
			return slices.ContainsFunc(v.Def.Args, func(a *ir.Value) bool { return scoresOf(b, a) })
		case op.Mul, op.Div, op.Tanh, op.Reshape:
			v = v.Def.Args[0]
		default:
			return false
		}
	}
	return false
}

// build appends the attention, and returns a result of type y. It appends nothing and returns nil if the extents are
// not known to be compatible, or if the function `accepts` returns false for a node with the operator and types of
// the attention.
func (a *attention) build(b *ir.Builder, y ir.Type, accepts func(n *ir.Node) bool) *ir.Value {
	q, k, v := scaledView(a.q), scaledView(a.k), view{of: a.v, scale: 1}
	k = k.swapped()
	a.Scale *= q.scale * k.scale
	if len(a.lead) > 2 || math.IsInf(a.Scale, 0) || a.Scale != a.Scale {
		return nil
	}
	lead := slices.Concat(a.lead, dim.Consts(1))[:2]
	if heads := headsIn(a.q); len(a.lead) == 1 && heads > 1 {
		if batch, ok := lead[0].DivExact(dim.Const(heads)); ok {
			lead = []dim.Dim{batch, dim.Const(heads)}
		}
	}
	whole := func(t ir.Type) ir.Type {
		return ir.TensorOf(t.DType, slices.Concat(lead, t.Shape[t.Rank()-2:])...)
	}
	types := []ir.Type{whole(a.q.Type), whole(k.typ()), whole(a.v.Type)}
	for i, x := range []ir.Type{a.q.Type, k.typ(), a.v.Type} {
		if !x.Elems().Equal(types[i].Elems()) {
			return nil
		}
	}
	if once, twin := unrepeated(k.of), unrepeated(a.v); len(k.views) == 0 && once != nil && twin != nil {
		k.of, v.of = once, twin
		types[1], types[2] = once.Type, twin.Type
	}
	narrow, ok := a.maskType(a.q.Type, lead)
	if !ok {
		return nil
	}
	mask := narrow
	if !mask.IsZero() {
		mask = widened(mask, slices.Concat(lead, types[0].Shape[2:3], types[1].Shape[2:3]))
		types = append(types, mask)
	}
	out, err := a.Infer(types)
	if err != nil || !out[0].Elems().Equal(y.Elems()) {
		return nil
	}
	like := &ir.Node{Op: a.Attention, Results: []*ir.Value{{Type: out[0]}}}
	for _, t := range types {
		like.Args = append(like.Args, &ir.Value{Type: t})
	}
	if !accepts(like) {
		return nil
	}
	args := []*ir.Value{q.build(b), k.build(b), v.build(b), nil}
	if !mask.IsZero() {
		args[3] = widen(b, reshaped(b, a.mask(b), narrow.Shape...), mask.Shape)
	}
	for i, t := range types {
		args[i] = reshaped(b, args[i], t.Shape...)
	}
	return reshaped(b, b.Node(a.Attention, args[:len(types)]...), y.Shape...)
}

// laterExcluded returns k, and true, if a.allow excludes for query i the keys after i + k and no others, and k ≥ 0. a.allow
// is then a constant, or compares a lower triangle of ones with 0, as in nn.CausalMask.
func (a *attention) laterExcluded(ctx *Context) (k int, ok bool) {
	if a.allow == nil || a.allow.Type.Rank() < 2 {
		return 0, false
	}
	mask, queries, keys := a.allow.Type.Shape, a.q.Type.Shape, a.k.Type.Shape
	rows, columns := mask[len(mask)-2], mask[len(mask)-1]
	if !rows.Equal(queries[len(queries)-2]) || !columns.Equal(keys[len(keys)-1]) {
		return 0, false
	}
	if t := ctx.known(a.allow); t != nil {
		return laterIn(t, a.negated)
	}
	equal, _, ok := madeBy[op.Equal](a.allow)
	if !ok || !a.negated || !isFilled(equal.Args[1], 0) {
		return 0, false
	}
	triangle, o, ok := madeBy[op.Trilu](equal.Args[0])
	if !ok || o.Upper || !isFilled(triangle.Args[0], 1) {
		return 0, false
	}
	if diagonal := triangle.Arg(1); diagonal != nil {
		x, isKnown := numberOf(diagonal)
		if k = int(x); !isKnown || float64(k) != x || k < 0 {
			return 0, false
		}
	}
	return k, true
}

// laterIn returns k, and true, if the elements of the matrices in t are `hidden` in row i for the columns after i + k and
// no others, and k ≥ 0.
func laterIn(t *ir.Tensor, hidden bool) (k int, ok bool) {
	rows, columns := t.Shape[len(t.Shape)-2], t.Shape[len(t.Shape)-1]
	if t.IsSplat() || t.Len() == 0 { // the elements of a splat may be too many to visit
		return 0, false
	}
	excluded := func(i int) bool { return t.Bool(i) == hidden }
	for k+1 < columns && !excluded(k+1) {
		k++
	}
	for i := range t.Len() {
		row, column := i/columns%rows, i%columns
		if excluded(i) != (column > row+k) {
			return 0, false
		}
	}
	return k, true
}

// isFilled reports whether all elements of v are known to be x.
func isFilled(v *ir.Value, x float64) bool {
	if _, o, ok := madeBy[op.Fill](v); ok {
		return o.Value.Number(0) == x
	}
	got, ok := numberOf(v)
	return ok && got == x
}

// headsIn returns the number of heads, H, if the queries q, [B·H,S,D], were split from rows of H·D elements.
// Otherwise it returns 0.
func headsIn(q *ir.Value) int {
	depth, ok := q.Type.Shape[q.Type.Rank()-1].Int()
	for v := q; ok && depth > 0 && v.Def != nil && len(v.Def.Args) > 0; v = v.Def.Args[0] {
		switch v.Def.Op.(type) {
		case op.Transpose, op.Mul, op.Div:
			continue
		case op.Reshape:
		default:
			return 0
		}
		from := v.Def.Args[0].Type
		to, last := v.Type, from.Rank()-1
		if last < 0 || to.Rank() == 0 || !to.Shape[to.Rank()-1].Equal(dim.Const(depth)) {
			return 0
		}
		if width, ok := from.Shape[last].Int(); ok && width > depth && width%depth == 0 {
			return width / depth
		}
	}
	return 0
}

// maskType returns the type of the mask for queries of type q. lead holds the batch and the heads of the scores.
// The type has the rank of the masks in the model. It is the zero Type if there is no mask. ok is false if the
// masks do not broadcast together, do not have the element type of q, or have rank 0.
func (a *attention) maskType(q ir.Type, lead []dim.Dim) (t ir.Type, ok bool) {
	var types []ir.Type
	for _, m := range a.masks {
		types = append(types, m.Type)
	}
	if a.allow != nil {
		types = append(types, ir.TensorOf(q.DType, a.allow.Type.Shape...))
	}
	if len(types) == 0 {
		return t, true
	}
	t = types[0]
	for _, more := range types[1:] {
		out, err := op.Add{}.Infer([]ir.Type{t, more})
		if err != nil {
			return t, false
		}
		t = out[0]
	}
	if t.DType != q.DType {
		return t, false
	}
	if len(a.masks) == 0 && math.IsInf(a.excluded, -1) {
		t.DType = ir.Bool
	}
	shape := t.Shape
	if len(a.lead) == 1 && len(shape) == 3 {
		first := dim.Consts(1, 1)
		if !shape[0].Equal(dim.Const(1)) {
			first = lead
		}
		shape = slices.Concat(first, shape[1:])
	}
	return ir.TensorOf(t.DType, shape...), len(shape) > 0
}

// widened returns the type of the mask after its symbolic extents are replaced by the extents of the scores.
// Constant extents, such as 1, stay.
func widened(mask ir.Type, scores []dim.Dim) ir.Type {
	shape := slices.Clone(mask.Shape)
	for i := range shape {
		if to := scores[len(scores)-len(shape)+i]; !shape[i].IsConst() || shape[i].Equal(to) {
			shape[i] = to
		}
	}
	return ir.TensorOf(mask.DType, shape...)
}

// widen repeats a mask to a shape. It appends a check that each extent of the mask is 1 or the extent of the shape.
func widen(b *ir.Builder, mask *ir.Value, shape []dim.Dim) *ir.Value {
	if slices.EqualFunc(mask.Type.Shape, shape, dim.Dim.Equal) {
		return mask
	}
	for i, d := range mask.Type.Shape {
		if !d.Equal(shape[i]) {
			b.Nodes(ir.CheckDim{A: d, B: shape[i], One: true, What: fmt.Sprintf("axis %d of a mask: %s broadcast to %s", i, d, shape[i])})
		}
	}
	return b.Node(op.Expand{Shape: shape}, mask)
}

// mask appends the mask of the attention and returns it, or nil if there is no mask. A float mask is added to the
// scores. A bool mask is true for the keys that are not excluded.
func (a *attention) mask(b *ir.Builder) *ir.Value {
	var sum *ir.Value
	for _, m := range a.masks {
		if sum != nil {
			m = b.Node(op.Add{}, sum, m)
		}
		sum = m
	}
	if a.allow == nil {
		return sum
	}
	choose := func(yes, no *ir.Value) *ir.Value {
		if a.negated {
			yes, no = no, yes
		}
		return b.Node(op.Where{}, a.allow, yes, no)
	}
	d := a.q.Type.DType
	switch excluded := math.IsInf(a.excluded, -1); {
	case excluded && sum == nil && a.negated:
		return b.Node(op.Not{}, a.allow)
	case excluded && sum == nil:
		return a.allow
	case excluded:
		return choose(sum, b.Scalar(d, a.excluded))
	case sum == nil:
		return choose(b.Scalar(d, 0), b.Scalar(d, a.excluded))
	default:
		return b.Node(op.Add{}, sum, choose(b.Scalar(d, 0), b.Scalar(d, a.excluded)))
	}
}

// view is a value after reshapes and transposes, times scale.
type view struct {
	of    *ir.Value // the value before them
	views []ir.Op   // the reshapes and transposes, from last to first
	scale float64
}

// scaledView splits v into a scale and a view: transposes and reshapes of a value. If the scale is 1, the view is v
// itself.
func scaledView(v *ir.Value) view {
	w := view{of: v, scale: 1}
	for {
		x, c := unscaled(w.of)
		w.of, w.scale = x, w.scale*c
		if x.Def == nil {
			break
		}
		_, isTranspose := x.Def.Op.(op.Transpose)
		_, isReshape := x.Def.Op.(op.Reshape)
		if !isTranspose && !isReshape {
			break
		}
		w.views, w.of = append(w.views, x.Def.Op), x.Def.Args[0]
	}
	if w.scale == 1 {
		return view{of: v, scale: 1}
	}
	return w
}

func (w view) swapped() view {
	if perm, x := transposed(w.of); len(w.views) == 0 && perm != nil {
		w.of, w.views = x, []ir.Op{op.Transpose{Perm: perm}}
	}
	last := w.typ().Rank() - 1
	perm := seq(last + 1)
	perm[last-1], perm[last] = last, last-1
	w.views = slices.Clone(w.views)
	if len(w.views) > 0 {
		if outer, ok := w.views[0].(op.Transpose); ok {
			perm, w.views = compose(outer.Perm, perm), w.views[1:]
		}
	}
	if !slices.IsSorted(perm) {
		w.views = slices.Insert(w.views, 0, ir.Op(op.Transpose{Perm: perm}))
	}
	return w
}

func (w view) typ() ir.Type {
	t := w.of.Type
	for _, o := range slices.Backward(w.views) {
		out, err := o.Infer([]ir.Type{t})
		if err != nil {
			return ir.Type{}
		}
		t = out[0]
	}
	return t
}

func (w view) build(b *ir.Builder) *ir.Value {
	v := w.of
	for _, o := range slices.Backward(w.views) {
		v = b.Node(o, v)
	}
	return v
}

// unrepeated returns a value [B,G,T,D] if v, [B,H,T,D], is this value with its heads repeated. Otherwise it returns
// nil.
func unrepeated(v *ir.Value) *ir.Value {
	whole, _, ok := madeBy[op.Reshape](v)
	if !ok || v.Type.Rank() != 4 {
		return nil
	}
	repeat, _, ok := madeBy[op.Expand](whole.Args[0])
	if !ok {
		return nil
	}
	split, _, ok := madeBy[op.Reshape](repeat.Args[0])
	if !ok || split.Args[0].Type.Rank() != 4 || repeat.Results[0].Type.Rank() != 5 {
		return nil
	}
	once := split.Args[0]
	from, to, s := once.Type.Shape, repeat.Results[0].Type.Shape, v.Type.Shape
	one := []dim.Dim{from[0], from[1], dim.Const(1), from[2], from[3]}
	many := []dim.Dim{from[0], from[1], to[2], from[2], from[3]}
	kept := []dim.Dim{from[0], s[1], from[2], from[3]}
	for _, pair := range [][2][]dim.Dim{{one, split.Results[0].Type.Shape}, {many, to}, {kept, s}} {
		if !slices.EqualFunc(pair[0], pair[1], dim.Dim.Equal) {
			return nil
		}
	}
	return once
}
