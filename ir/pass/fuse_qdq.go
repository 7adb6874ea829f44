package pass

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// fuseQDQ computes in 8-bit integers what stands between operators that dequantise
// and one that quantises. Operators that only move elements, and maxima, are moved
// before the dequantising; convolutions, products of matrices and averages, with a
// bias and bounds after them, sum integers; an elementwise operator of one such
// operand is a table. Scales of activations have to be constants and those of
// weights fixed, and no value between may have another user. A product of matrices
// that nothing quantises is scaled to f32.
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

// qdq is a fuseQDQ under way.
type qdq struct {
	ctx   *Context
	known fixed
}

// quantum is how an 8-bit value stands for floats: (x − zero)·scale.
type quantum struct {
	x           *ir.Value // the integers; nil of a result
	scale, zero *ir.Value // zero is nil for 0
	axis        int       // of a scale for each channel, −1 of one for all
}

// one reports whether q has one scale and zero point for all, both constants, and
// returns the scale.
func (q quantum) one() (float64, bool) {
	scale, ok := q.scale.ConstValue()
	if !ok || q.axis >= 0 || scale.Len() == 0 || !(scale.Float(0) > 0) || math.IsInf(scale.Float(0), 1) {
		return 0, false
	}
	_, ok = q.zero.ConstValue()
	return scale.Float(0), ok || q.zero == nil
}

// dequantized returns what v is the dequantised form of.
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

func isSingle(v *ir.Value) bool { return v.Type.Elems().Equal(ir.Const(1)) }

// isByte reports whether v is of i8 or u8.
func isByte(v *ir.Value) bool { return v.Type.DType == ir.U8 || v.Type.DType == ir.I8 }

// activation is dequantized for bytes with one constant scale.
func activation(v *ir.Value) (q quantum, scale float64, ok bool) {
	if q, ok = dequantized(v); !ok || !isByte(q.x) {
		return q, 0, false
	}
	scale, ok = q.one()
	return q, scale, ok
}

// visit rewrites what n quantises, and what moves elements that only it uses.
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
	f.ctx.count(FusedQuantized, 1)
	return []*ir.Value{y}
}

// quantizer rewrites a node that quantises to bytes by one constant scale.
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

// earlier moves the elements that n moves before they are dequantised, where may
// says so of the dequantised value.
func (f *qdq) earlier(b *ir.Builder, n *ir.Node, may func(*ir.Value) bool) *ir.Value {
	if !isMove(n) || f.known.has(n.Results[0]) && !isTransposeOfWeights(n) {
		return nil
	}
	q, ok := dequantized(n.Args[0])
	if !ok || !may(n.Args[0]) {
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

// isTransposeOfWeights tells transposes, after which weights are still recognised
// as quantised.
func isTransposeOfWeights(n *ir.Node) bool {
	_, ok := n.Op.(op.Transpose)
	return ok
}

// isMove reports whether the elements of n's result are some of its first
// operand's; of a pool each window has one.
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

// concatOf quantises before elements are joined.
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

// table returns n, which quantises what elementwise operators make of one byte, as
// a table of its results.
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

// maxTableOps bounds the operators that become one table.
const maxTableOps = 64

// tabulated returns the results of n for the bytes of q, dequantised and passed
// through a chain of operators, the last first.
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

// tableOf evaluates what depends on constants only; nil where that fails.
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

// bounded follows bounds of v, that nothing else uses, to what they bound, and
// notes them as bounds of the quantised result.
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

// product returns v, of floats, as sums of integers that are requantised; nil where
// it is no product or average of quantised operands, or something else uses it.
func (f *qdq) product(b *ir.Builder, v *ir.Value, r op.Requantize, to *quantum) *ir.Value {
	if b.Uses(v) != 1 {
		return nil
	}
	n := v.Def
	switch o := n.Op.(type) {
	case op.Conv:
		return f.convolution(b, n, o, r, to)
	case op.AveragePool:
		if o.Blocked || o.Ceil || o.Pads != nil && !o.CountPad || o.Same != "" {
			return nil
		}
		return f.average(b, n, o.Window, r, to)
	case op.GlobalAveragePool:
		kernel, ok := ir.Ints(n.Args[0].Type.Shape[2:])
		if !ok || o.Blocked || len(kernel) == 0 {
			return nil
		}
		return f.average(b, n, op.Window{Kernel: kernel}, r, to)
	}
	if p, ok := f.matrices(b, v, true); ok {
		return p.node(b, r, to)
	}
	return nil
}

// weights returns what v is the dequantised form of: bytes of one scale, or one for
// each index of an axis, all fixed.
func (f *qdq) weights(v *ir.Value, axis int) (quantum, bool) {
	q, ok := dequantized(v)
	if !ok || !isByte(q.x) || q.axis >= 0 && q.axis != axis || !f.known.has(q.scale) || q.zero != nil && !f.known.has(q.zero) {
		return q, false
	}
	return q, true
}

// convolution sums integers where x and the weights are bytes.
func (f *qdq) convolution(b *ir.Builder, n *ir.Node, o op.Conv, r op.Requantize, to *quantum) *ir.Value {
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
		x.x, w.x, x.zero, w.zero, bias, factor(b, x, w, to), to.zero)
}

// average sums the bytes of a window as a convolution with ones.
func (f *qdq) average(b *ir.Builder, n *ir.Node, w op.Window, r op.Requantize, to *quantum) *ir.Value {
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
	ones := b.Node(op.Fill{Value: ir.Scalar(ir.I8, 1), Shape: ir.Dims(append([]int{c, 1}, w.Kernel...)...)})
	each := quantum{scale: b.Scalar(ir.F64, 1/float64(cells))}
	return b.Node(op.ConvInteger{Window: w, Group: c, Requantize: r}, x.x, ones, x.zero, nil, nil, factor(b, x, each, to), to.zero)
}

// maxAverage bounds the cells of a window whose bytes are summed: the sum fits i32.
const maxAverage = 1 << 20

// factor returns what the sums of products of x and w are multiplied by to count in
// steps of a result: the quotient of the scales, f64, of rank 0 or 1.
func factor(b *ir.Builder, x, w quantum, to *quantum) *ir.Value {
	return b.Node(op.Div{}, b.Node(op.Mul{}, exactScale(b, w.scale), exactScale(b, x.scale)), exactScale(b, to.scale))
}

// exactScale returns a scale as f64, of rank 0 where it has one element, else 1.
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

// counted returns a bias, f32, in whole steps of the products of x and w, i32.
func counted(b *ir.Builder, bias *ir.Value, x, w quantum) *ir.Value {
	bias = reshaped(b, bias, bias.Type.Elems())
	scale := b.Node(op.Mul{}, exactScale(b, w.scale), exactScale(b, x.scale))
	return b.Node(op.QuantizeLinear{To: ir.I32, Precision: ir.F32}, bias, b.Node(op.Cast{To: ir.F32}, scale))
}

// matrixProduct is a product of matrices of bytes, and a bias.
type matrixProduct struct {
	a, w quantum
	bias *ir.Value // f32, nil for none
}

// matrices recognises v as one; inner tells that nothing but a quantising node
// uses v, so that a sum with a bias may be part of it.
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

func lastOf(t ir.Type) ir.Dim { return t.Shape[t.Rank()-1] }

// isRow reports whether t has width elements along its last axis and no others.
func isRow(t ir.Type, width ir.Dim) bool {
	return t.Rank() > 0 && lastOf(t).Equal(width) && t.Elems().Equal(width)
}

// node appends the product, requantised to a quantum.
func (p matrixProduct) node(b *ir.Builder, r op.Requantize, to *quantum) *ir.Value {
	bias := p.bias
	if bias != nil {
		bias = counted(b, bias, p.a, p.w)
	}
	return b.Node(op.MatMulInteger{Requantize: r},
		p.a.x, p.w.x, p.a.zero, p.w.zero, bias, factor(b, p.a, p.w, to), to.zero)
}

// scaledProduct computes a product of matrices of bytes in integers, to scale the
// sums to f32.
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
	f.ctx.count(FusedQuantized, 1)
	return []*ir.Value{y}
}
