package pass

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// fuseQDQ replaces operators on floats by operators on 8-bit integers if they are between a
// DequantizeLinear and a QuantizeLinear. There are four cases:
//
//   - An operator that only moves elements, or takes a maximum, is applied before the dequantisation.
//   - A convolution, matrix product or average, with a bias and bounds after it, sums integers.
//   - Elementwise operators of one 8-bit operand become a table.
//   - A matrix product that is not quantised afterwards sums integers, and its sums are scaled to f32.
//
// The scales of activations must be constants. The scales of weights must be fixed: they may depend on weights and
// constants only. An intermediate value must have no other reader.
func fuseQDQ(ctx *Context, m *ir.Module) (changed bool, err error) {
	f := qdq{ctx: ctx, known: fixed{}}
	for _, visit := range []func(*ir.Builder, *ir.Node) []*ir.Value{f.visit, f.scaledProduct} {
		for range CanonicalRounds {
			c, err := rewriteAll(m, visit)
			if err != nil {
				return changed, err
			}
			if !c {
				break
			}
			changed, f.known = true, fixed{}
			for _, fn := range m.Funcs {
				fn.Prune()
			}
		}
	}
	return changed, nil
}

type qdq struct {
	ctx   *Context
	known fixed
}

// quantum describes a quantised value: the float is (x − zero)·scale.
type quantum struct {
	x           *ir.Value // the integers; nil if the value is still to be computed
	scale, zero *ir.Value // zero is nil if it is 0
	axis        int       // axis of per-channel scales, −1 if there is one scale
}

// one returns the scale of q, and true, if q has one constant scale and a constant zero point. The
// scale must be positive and finite. Otherwise one returns 0 and false.
func (q quantum) one() (float64, bool) {
	scale, ok := q.scale.ConstValue()
	if !ok || q.axis >= 0 || scale.Len() == 0 || !(scale.Float(0) > 0) || math.IsInf(scale.Float(0), 1) {
		return 0, false
	}
	_, ok = q.zero.ConstValue()
	return scale.Float(0), ok || q.zero == nil
}

// dequantized returns the operands of the DequantizeLinear that computes v in f32. ok is false if v
// is not computed in this way.
func dequantized(v *ir.Value) (q quantum, ok bool) {
	if v == nil || v.Def == nil {
		return q, false
	}
	o, ok := v.Def.Op.(op.DequantizeLinear)
	if !ok || o.To != ir.F32 {
		return q, false
	}
	q = quantum{x: v.Def.Args[0], scale: v.Def.Args[1], zero: v.Def.Arg(2), axis: -1}
	if q.scale.Type.DType != ir.F32 {
		return q, false
	}
	if !isSingle(q.scale) {
		if o.Block > 0 {
			return q, false
		}
		q.axis = o.Axis
	}
	return q, true
}

func isSingle(v *ir.Value) bool { return v.Type.Elems().Equal(dim.Const(1)) }

func isByte(v *ir.Value) bool { return v.Type.DType == ir.U8 || v.Type.DType == ir.I8 }

// activation is [dequantized] for 8-bit integers with one constant scale, which it also returns. ok
// is false if v is not such a value.
func activation(v *ir.Value) (q quantum, scale float64, ok bool) {
	if q, ok = dequantized(v); !ok || !isByte(q.x) {
		return q, 0, false
	}
	scale, ok = q.one()
	return q, scale, ok
}

// visit returns the replacement of n, or nil if n stays. It replaces nodes that quantise. It also
// replaces a node that moves elements of a dequantised value if nothing else reads this value.
func (f *qdq) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	var y *ir.Value
	if o, ok := n.Op.(op.QuantizeLinear); ok {
		y = f.quantizer(b, n, o)
	} else {
		y = f.earlier(b, n, func(v *ir.Value) bool { return b.Uses(v) == 1 })
	}
	if y == nil {
		return nil
	}
	f.ctx.Count(FusedQuantized, 1)
	return []*ir.Value{y}
}

// quantizer returns the replacement of n. n quantises its operand to 8 bits with one constant
// scale. The replacement also computes the operators before n, on integers. quantizer returns nil
// if this is not possible.
func (f *qdq) quantizer(b *ir.Builder, n *ir.Node, o op.QuantizeLinear) *ir.Value {
	x := n.Args[0]
	to := quantum{scale: n.Args[1], zero: n.Arg(2), axis: -1}
	scale, ok := to.one()
	if !ok || !isSingle(to.scale) || to.scale.Type.DType != ir.F32 || !isByte(n.Results[0]) || o.Precision != ir.F32 || x.Type.DType != ir.F32 || x.Def == nil || f.known.has(x) {
		return nil
	}
	if y := table(b, n); y != nil {
		return y
	}
	if b.Uses(x) != 1 {
		return nil
	}
	if v := f.earlier(b, x.Def, func(*ir.Value) bool { return true }); v != nil {
		return b.Node(o, v, n.Args[1], n.Arg(2))
	}
	if c, ok := x.Def.Op.(op.Concat); ok {
		return concatOf(b, c, x.Def, n)
	}
	if f.ctx.Strict {
		return nil
	}
	sums := op.Requantize{To: o.To}
	x = bounded(b, x, &sums, scale, zeroOf(to.zero))
	if x.Def == nil {
		return nil
	}
	return f.product(b, x, sums, &to)
}

// earlier swaps n, a node that moves elements, with the dequantisation before it: n is then applied
// to the integers. earlier returns the dequantised result. It returns nil if n does more than move
// elements, or cannot be applied to integers. It also returns nil if the operand of n is not
// dequantised, or if `pred` returns false for the operand.
func (f *qdq) earlier(b *ir.Builder, n *ir.Node, pred func(*ir.Value) bool) *ir.Value {
	if !isMove(n) || f.known.has(n.Results[0]) && !isTransposeOfWeights(n) {
		return nil
	}
	q, ok := dequantized(n.Args[0])
	if !ok || !pred(n.Args[0]) {
		return nil
	}
	by := op.DequantizeLinear{To: ir.F32}
	if q.axis >= 0 {
		t, ok := n.Op.(op.Transpose)
		if !ok {
			return nil
		}
		by.Axis = slices.Index(t.Perm, q.axis)
	}
	if _, pool := n.Op.(op.MaxPool); pool {
		if _, ok := q.one(); !ok || !isByte(q.x) {
			return nil
		}
	}
	args := append([]*ir.Value{q.x}, n.Args[1:]...)
	return b.Node(by, b.Node(n.Op, args...), q.scale, q.zero)
}

// isTransposeOfWeights reports whether n is a transpose. The operands of n must depend on weights and constants only.
// It makes an exception in [qdq.earlier], so that weights that are transposed after the dequantisation are still
// recognised as quantised.
func isTransposeOfWeights(n *ir.Node) bool {
	_, ok := n.Op.(op.Transpose)
	return ok
}

// isMove reports whether n is known to only move elements: each element of its result is an element
// of its first operand. A max pool qualifies if it has no dilations and no ceil mode, and if its
// padding is smaller than its kernel.
func isMove(n *ir.Node) bool {
	if o, ok := n.Op.(op.MaxPool); ok {
		for i, p := range o.Pads {
			if k := o.Kernel[i%len(o.Kernel)]; p >= k {
				return false
			}
		}
		return !o.Blocked && !o.Ceil && o.Dilations == nil
	}
	m := op.MovementOf(n.Op)
	return m == op.Rearranges || m == op.Picks
}

// concatOf returns a replacement for n. n quantises the result of the Concat c in the node
// `joined`. The replacement quantises each operand of the Concat, and concatenates the results.
// concatOf returns nil unless each operand is an [activation].
func concatOf(b *ir.Builder, c op.Concat, joined, n *ir.Node) *ir.Value {
	parts := make([]*ir.Value, len(joined.Args))
	for i, a := range joined.Args {
		if _, _, ok := activation(a); !ok {
			return nil
		}
		parts[i] = b.Node(n.Op, a, n.Args[1], n.Arg(2))
	}
	return b.Node(c, parts...)
}

// table returns a replacement for n. n quantises the result of elementwise operators of one 8-bit
// value. The replacement looks up each byte in a table. table returns nil if n does something else.
func table(b *ir.Builder, n *ir.Node) *ir.Value {
	var chain []*ir.Node
	v := n.Args[0]
	for {
		if q, _, ok := activation(v); ok {
			return tabulated(b, n, chain, q)
		}
		if v.Def == nil || len(v.Def.Results) != 1 || b.Uses(v) != 1 && len(chain) > 0 || len(chain) > maxTableOps {
			return nil
		}
		if _, ok := v.Def.Op.(op.Elementwise); !ok || v.Type.DType != ir.F32 {
			return nil
		}
		var from *ir.Value
		for _, a := range v.Def.Args {
			if t, ok := a.ConstValue(); ok && t.Stored() == 1 && a.Type.Rank() <= v.Type.Rank() {
				continue
			}
			if from != nil && from != a || a == nil || !a.Type.Equal(v.Type) {
				return nil
			}
			from = a
		}
		if from == nil || b.Uses(v) != 1 {
			return nil
		}
		chain = append(chain, v.Def)
		v = from
	}
}

const maxTableOps = 64

// tabulated returns a replacement for n: a lookup of the bytes of q in a table of 256 bytes. chain
// lists the operators between q and n, from last to first. The table holds, for each byte of q, the
// byte that n returns. If the table maps each byte to itself, tabulated returns the bytes of q.
func tabulated(b *ir.Builder, n *ir.Node, chain []*ir.Node, q quantum) *ir.Value {
	x := b.Const(op.ByteCodes(q.x.Type.DType))
	v := b.Node(op.DequantizeLinear{To: ir.F32}, x, q.scale, q.zero)
	for _, c := range slices.Backward(chain) {
		args := make([]*ir.Value, len(c.Args))
		for i, a := range c.Args {
			if args[i] = v; a == nil {
				args[i] = nil
			} else if t, ok := a.ConstValue(); ok && t.Stored() == 1 {
				args[i] = b.Const(single(t))
			}
		}
		v = b.Node(c.Op, args...)
	}
	v = b.Node(n.Op, v, n.Args[1], n.Arg(2))
	e := tableOf(v)
	if e != nil && e.DType == q.x.Type.DType && e.Equal(op.ByteCodes(e.DType)) {
		return q.x
	}
	if e != nil {
		v = b.Const(e)
	}
	return b.Node(op.ByteTable{}, q.x, v)
}

// tableOf returns the elements of v, which depends on constants only. It returns nil if they cannot
// be computed.
func tableOf(v *ir.Value) *ir.Tensor {
	if t, ok := v.ConstValue(); ok {
		return t
	}
	if v.Def == nil || len(v.Def.Blocks) > 0 || len(v.Def.Results) != 1 {
		return nil
	}
	args := make([]*ir.Tensor, len(v.Def.Args))
	for i, a := range v.Def.Args {
		if a == nil {
			continue
		}
		if args[i] = tableOf(a); args[i] == nil {
			return nil
		}
	}
	out, err := v.Def.Op.Eval(args)
	if err != nil {
		return nil
	}
	return out[0]
}

// bounded skips the operators before v that clamp it, such as a Relu, if they have no other reader.
// It returns the value before them. It quantises their bounds with `scale` and `zero`, which are
// the scale and the zero point of the result, and stores the quantised bounds in r.
func bounded(b *ir.Builder, v *ir.Value, r *op.Requantize, scale float64, zero int) *ir.Value {
	least, most := math.Inf(-1), math.Inf(1)
	for v.Def != nil && b.Uses(v) == 1 {
		limits, ok := bounds(v.Def.Op)
		if !ok || limits.Lo > limits.Hi {
			break
		}
		within := interval{limits.Lo, limits.Hi}
		if math.IsInf(least, -1) && math.IsInf(most, 1) {
			least, most = within.Lo, within.Hi
		} else {
			outer := interval{least, most}
			least, most = outer.limit(within.Lo), outer.limit(within.Hi)
		}
		v = v.Def.Args[0]
	}
	q := op.Quantize{Scale: scale, Zero: zero, To: r.To}
	y, err := q.Eval([]*ir.Tensor{ir.FloatTensor(ir.F32, least, most)})
	if err == nil && !(math.IsInf(least, -1) && math.IsInf(most, 1)) {
		r.Clamp, r.Lo, r.Hi = true, int(y[0].Int(0)), int(y[0].Int(1))
	}
	return v
}

func zeroOf(v *ir.Value) int {
	if t, ok := v.ConstValue(); ok {
		return int(t.Int(0))
	}
	return 0
}

// product replaces v, an f32 value, by an integer product that is requantised as r says, with the scale and the zero
// point of `target`. v must be a product or an average of quantised operands, and have one reader. Otherwise product
// returns nil.
func (f *qdq) product(b *ir.Builder, v *ir.Value, r op.Requantize, target *quantum) *ir.Value {
	if b.Uses(v) != 1 {
		return nil
	}
	n := v.Def
	switch o := n.Op.(type) {
	case op.Conv:
		return f.convolution(b, n, o, r, target)
	case op.AveragePool:
		if o.Blocked || o.Ceil || o.Pads != nil && !o.CountPad || o.Same != "" {
			return nil
		}
		return f.average(b, n, o.Window, r, target)
	case op.GlobalAveragePool:
		kernel, ok := dim.Ints(n.Args[0].Type.Shape[2:])
		if !ok || o.Blocked || len(kernel) == 0 {
			return nil
		}
		return f.average(b, n, op.Window{Kernel: kernel}, r, target)
	}
	if p, ok := f.matrices(b, v, true); ok {
		return p.node(b, r, target)
	}
	return nil
}

// weights returns the integers, scales and zero points of v, which is dequantised. It returns false if the integers
// do not have 8 bits, or if the scales or zero points are not fixed. There must be one scale, or one for each index
// along `axis`.
func (f *qdq) weights(v *ir.Value, axis int) (quantum, bool) {
	q, ok := dequantized(v)
	if !ok || !isByte(q.x) || q.axis >= 0 && q.axis != axis || !f.known.has(q.scale) || q.zero != nil && !f.known.has(q.zero) {
		return q, false
	}
	return q, true
}

// convolution returns a ConvInteger that replaces n, which has the operator o. The sums are
// requantised as r says, with the scale and the zero point of `target`. convolution returns nil
// unless the input and the weights are dequantised from 8 bits. The scales of the weights and the
// bias must be fixed.
func (f *qdq) convolution(b *ir.Builder, n *ir.Node, o op.Conv, r op.Requantize, target *quantum) *ir.Value {
	x, _, ok := activation(n.Args[0])
	if !ok {
		return nil
	}
	w, ok := f.weights(n.Args[1], 0)
	if !ok {
		return nil
	}
	bias := n.Arg(2)
	if bias != nil && !f.known.has(bias) {
		return nil
	}
	if bias != nil {
		bias = counted(b, bias, x, w)
	}
	return b.Node(op.ConvInteger{Window: o.Window, Group: o.Group, Requantize: r},
		x.x, w.x, x.zero, w.zero, bias, factor(b, x, w, target), target.zero)
}

// average returns a ConvInteger that replaces n, an average over the window w. All weights of the
// ConvInteger are 1. The sums are requantised as r says, with the scale and the zero point of
// `target`. average returns nil if the operand of n is not dequantised, or if the window is too
// large.
func (f *qdq) average(b *ir.Builder, n *ir.Node, w op.Window, r op.Requantize, target *quantum) *ir.Value {
	x, _, ok := activation(n.Args[0])
	c, okC := n.Args[0].Type.Shape[1].Int()
	if !ok || !okC || c == 0 {
		return nil
	}
	cells := 1
	for _, k := range w.Kernel {
		if cells *= k; cells == 0 || cells > maxAverage {
			return nil
		}
	}
	ones := b.Node(op.Fill{Value: ir.Scalar(ir.I8, 1), Shape: dim.Consts(append([]int{c, 1}, w.Kernel...)...)})
	each := quantum{scale: b.Scalar(ir.F64, 1/float64(cells))}
	return b.Node(op.ConvInteger{Window: w, Group: c, Requantize: r}, x.x, ones, x.zero, nil, nil, factor(b, x, each, target), target.zero)
}

// maxAverage is the maximum number of cells in a window of an average that is computed on integers.
// A sum of maxAverage bytes fits an i32.
const maxAverage = 1 << 20

// factor returns scale(x)·scale(w)/scale(target). A sum of products of integers of x and w, times
// this factor, is in units of target's scale. The result is f64. It has rank 0, or rank 1 with one
// element for each channel.
func factor(b *ir.Builder, x, w quantum, target *quantum) *ir.Value {
	return b.Node(op.Div{}, b.Node(op.Mul{}, exactScale(b, w.scale), exactScale(b, x.scale)), exactScale(b, target.scale))
}

// exactScale returns a scale in f64. The result has rank 0 if the scale has one element, and
// otherwise rank 1.
func exactScale(b *ir.Builder, v *ir.Value) *ir.Value {
	if isSingle(v) {
		v = reshaped(b, v)
	} else {
		v = reshaped(b, v, v.Type.Elems())
	}
	if v.Type.DType == ir.F64 {
		return v
	}
	return b.Node(op.Cast{To: ir.F64}, v)
}

// counted converts an f32 bias to i32. It divides the bias by scale(x)·scale(w) and rounds the
// quotient. The result has rank 1.
func counted(b *ir.Builder, bias *ir.Value, x, w quantum) *ir.Value {
	bias = reshaped(b, bias, bias.Type.Elems())
	scale := b.Node(op.Mul{}, exactScale(b, w.scale), exactScale(b, x.scale))
	return b.Node(op.QuantizeLinear{To: ir.I32, Precision: ir.F32}, bias, b.Node(op.Cast{To: ir.F32}, scale))
}

// matrixProduct describes a product a·w plus a bias. a and w are matrices of 8-bit integers with
// their scales and zero points.
type matrixProduct struct {
	a, w quantum
	bias *ir.Value // f32, or nil
}

// matrices describes v as a product of 8-bit matrices. ok is false if v is not such a product. Set
// `inner` if v is quantised again and has no other reader: v may then also be a product plus a
// bias.
func (f *qdq) matrices(b *ir.Builder, v *ir.Value, inner bool) (p matrixProduct, ok bool) {
	n := v.Def
	switch o := n.Op.(type) {
	case op.Add:
		for i, a := range n.Args {
			bias := n.Args[1-i]
			if _, isProduct := opOf(a).(op.MatMul); !inner || !isProduct || b.Uses(a) != 1 || !a.Type.Equal(v.Type) || !f.known.has(bias) || !isRow(bias.Type, lastOf(v.Type)) {
				continue
			}
			if p, ok = f.matrices(b, a, true); ok {
				p.bias = bias
				return p, true
			}
		}
	case op.MatMul:
		p.a, _, ok = activation(n.Args[0])
		if !ok || n.Args[1].Type.Rank() < 2 || n.Args[0].Type.Rank() < 2 {
			return p, false
		}
		p.w, ok = f.weights(n.Args[1], n.Args[1].Type.Rank()-1)
		return p, ok
	case op.Gemm:
		bias := n.Arg(2)
		if o.Alpha != 1 || o.TransA || bias != nil && (o.Beta != 1 || !f.known.has(bias) || !isRow(bias.Type, lastOf(v.Type))) {
			return p, false
		}
		if p.a, _, ok = activation(n.Args[0]); !ok {
			return p, false
		}
		axis := 1
		if o.TransB {
			axis = 0
		}
		if p.w, ok = f.weights(n.Args[1], axis); ok && o.TransB {
			p.w.x = b.Node(op.Transpose{Perm: []int{1, 0}}, p.w.x)
		}
		p.bias = bias
		return p, ok
	}
	return p, false
}

func opOf(v *ir.Value) ir.Op {
	if v.Def == nil {
		return nil
	}
	return v.Def.Op
}

func lastOf(t ir.Type) dim.Dim { return t.Shape[t.Rank()-1] }

func isRow(t ir.Type, width dim.Dim) bool {
	return t.Rank() > 0 && lastOf(t).Equal(width) && t.Elems().Equal(width)
}

// node appends the product as a MatMulInteger. The sums are requantised as r says, with the scale
// and the zero point of `target`.
func (p matrixProduct) node(b *ir.Builder, r op.Requantize, target *quantum) *ir.Value {
	bias := p.bias
	if bias != nil {
		bias = counted(b, bias, p.a, p.w)
	}
	return b.Node(op.MatMulInteger{Requantize: r},
		p.a.x, p.w.x, p.a.zero, p.w.zero, bias, factor(b, p.a, p.w, target), target.zero)
}

// scaledProduct returns the replacement of n. n is a product of 8-bit matrices with an f32 result.
// The replacement is an integer product, followed by a scaling of its sums. scaledProduct returns
// nil in strict mode, or if n is not such a product.
func (f *qdq) scaledProduct(b *ir.Builder, n *ir.Node) []*ir.Value {
	if f.ctx.Strict || len(n.Results) != 1 {
		return nil
	}
	p, ok := f.matrices(b, n.Results[0], false)
	if !ok {
		return nil
	}
	sums := b.Node(op.MatMulInteger{}, p.a.x, p.w.x, p.a.zero, p.w.zero)
	scale := b.Node(op.Mul{}, exactScale(b, p.w.scale), exactScale(b, p.a.scale))
	y := b.Node(op.Mul{}, b.Node(op.Cast{To: ir.F32}, sums), b.Node(op.Cast{To: ir.F32}, scale))
	if p.bias != nil {
		y = b.Node(op.Add{}, y, p.bias)
	}
	f.ctx.Count(FusedQuantized, 1)
	return []*ir.Value{y}
}
