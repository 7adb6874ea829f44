package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Products of integers as rows, columns and patches.

// lowerMatMulInteger packs the rows of the first operand, and replaces n by a product. If the second operand
// varies, and n returns sums without a bias, the product is a [ProductColumns]. Otherwise it is a [ProductInteger],
// whose second operand is packed into panels.
func lowerMatMulInteger(b *ir.Builder, n *ir.Node, o op.MatMulInteger) []*ir.Value {
	x, w := n.Arg(0), n.Arg(1)
	f, err := op.Matrices(x.Type, w.Type)
	if err != nil {
		ir.FailWith(err)
	}
	i, j := len(f.A)-2, len(f.B)-2
	one := dim.Const(1)
	x, w = op.ReshapeTo(b, x, f.A...), op.ReshapeTo(b, w, f.B...)
	if single := dim.Product(f.B[:j]...).Equal(one); single {
		x = op.ReshapeTo(b, x, one, dim.Product(f.A[:i]...).Mul(f.M), f.K)
		w = op.ReshapeTo(b, w, one, f.K, f.N)
	} else {
		batch := dim.Product(f.Batch...)
		x = op.ReshapeTo(b, op.ExpandTo(b, x, slices.Concat(f.Batch, f.A[i:])...), batch, f.M, f.K)
		w = op.ReshapeTo(b, op.ExpandTo(b, w, slices.Concat(f.Batch, f.B[j:])...), batch, f.K, f.N)
	}
	p := integerProduct{b: b, to: o.To, weights: w, w0: n.Arg(3), x0: n.Arg(2), signed: x.Type.DType == ir.I8}
	var y *ir.Value
	if o.To == ir.Invalid && n.Arg(op.BiasOperand) == nil && varies(w) {
		y = p.direct(x)
	} else {
		p.vectors(n, true)
		rows := b.Nodes(PackRows{Sums: p.zero != nil}, x)
		y = p.build(o.Requantize, rows, f.N)
	}
	return []*ir.Value{op.ReshapeTo(b, y, n.Results[0].Type.Shape...)}
}

// lowerConvInteger replaces n by a product of the weights and patches of x, unless n is a depthwise convolution. If n
// is depthwise and has a scale that is not f64, lowerConvInteger only converts the scale to f64. It returns nil for
// other depthwise convolutions.
func lowerConvInteger(b *ir.Builder, n *ir.Node, o op.ConvInteger) []*ir.Value {
	x, w := n.Arg(0), n.Arg(1)
	if o.IsDepthwise(w.Type) {
		if scale := n.Arg(op.ScaleOperand); scale != nil && scale.Type.DType != ir.F64 {
			args := append([]*ir.Value{}, n.Args...)
			args[op.ScaleOperand] = op.ConvertTo(b, scale, ir.F64)
			return b.Nodes(o, args...)
		}
		return nil
	}
	p := convProduct(b, n, o, true)
	out := n.Results[0].Type
	x0 := normal(b, p.x0, x.Type.DType, ir.U8)
	rows := b.Nodes(Patches{Window: o.Window, Group: o.Group, Sums: p.zero != nil}, x, x0)
	y := p.build(o.Requantize, rows, p.weights.Type.Shape[2])
	return []*ir.Value{op.ReshapeTo(b, b.Node(op.Transpose{Perm: []int{0, 2, 1}}, y), out.Shape...)}
}

// convProduct describes the product that computes the convolution n: the weights times patches of x. It appends the
// operands of the product except the patches. The weights of each group are a matrix. If pack is set, convProduct
// packs the weights.
func convProduct(b *ir.Builder, n *ir.Node, o op.ConvInteger, pack bool) integerProduct {
	x, w := n.Arg(0), n.Arg(1)
	group := dim.Const(o.Group)
	out := n.Results[0].Type
	width := dim.Product(w.Type.Shape[1:]...)
	per := dim.Product(out.Shape[1:2]...).FloorDiv(group)
	if m, ok := w.Type.Shape[0].Int(); ok {
		per = dim.Const(m / o.Group)
	}
	columns := b.Node(op.Transpose{Perm: []int{0, 2, 1}}, op.ReshapeTo(b, w, group, per, width))
	p := integerProduct{b: b, to: o.To, weights: columns, w0: n.Arg(3), x0: n.Arg(2), signed: x.Type.DType == ir.I8}
	p.vectors(n, pack)
	return p
}

// integerProduct builds a [ProductInteger] of weights, [batch,K,N], and rows.
type integerProduct struct {
	b       *ir.Builder
	to      ir.DType // of the result, Invalid for sums
	weights *ir.Value
	w0, x0  *ir.Value // zero points; nil is 0
	signed  bool      // the rows were i8 and have been shifted by 128

	packed                  *ir.Value // the weights
	bias, zero, scale, last *ir.Value // operands of the product
}

// shape returns [batch,N], the shape of a vector with an element for each channel of each batch.
func (p *integerProduct) shape() []dim.Dim {
	return []dim.Dim{p.weights.Type.Shape[0], p.weights.Type.Shape[2]}
}

// vectors sets the bias, scale and zero points of p from the operands of n, an integer product. If pack is set, it
// packs the weights. Packed weights are i8 and rows are u8. A zero point of another type is shifted by 128.
func (p *integerProduct) vectors(n *ir.Node, pack bool) {
	b := p.b
	from := p.weights.Type.DType
	p.zero = normal(b, p.w0, from, ir.I8)
	if isNought(p.zero) {
		p.zero = nil
	}
	other := ir.U8
	if p.signed {
		other = ir.I8
	}
	x0 := normal(b, p.x0, other, ir.U8)
	var sums *ir.Value // of channels
	switch nought := isNought(x0); {
	case pack && nought:
		p.packed = b.Node(PackColumns{}, p.weights)
	case pack:
		packed := b.Nodes(PackColumns{Sums: true}, p.weights)
		p.packed, sums = packed[0], packed[1]
	case !nought:
		sums = b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{1}}, op.ConvertTo(b, p.weights, ir.I32))
		if shift := normal(b, nil, from, ir.I8); shift != nil {
			sums = b.Node(op.Add{}, sums, b.Node(op.Mul{}, p.depth(), shift))
		}
	}
	// Σ(x−x0)(w−w0) = Σxw − w0·Σx − x0·(Σw − K·w0)
	if sums != nil {
		if p.zero != nil {
			sums = b.Node(op.Sub{}, sums, b.Node(op.Mul{}, p.channels(p.zero), p.depth()))
		}
		p.bias = b.Node(op.Neg{}, b.Node(op.Mul{}, sums, x0))
	}
	if given := n.Arg(op.BiasOperand); given != nil {
		given = p.channels(given)
		if p.bias == nil {
			p.bias = given
		} else {
			p.bias = b.Node(op.Add{}, p.bias, given)
		}
	}
	if p.bias != nil {
		p.bias = op.ExpandTo(b, p.bias, p.shape()...)
	}
	if scale := n.Arg(op.ScaleOperand); scale != nil {
		if p.to != ir.F32 {
			scale = op.ConvertTo(b, scale, ir.F64)
		}
		p.scale = p.perBatch(scale)
	}
	if p.zero != nil {
		p.zero = p.perBatch(p.zero)
	}
	if zero := n.Arg(op.ZeroOperand); zero != nil && p.to == ir.F32 {
		p.last = p.perBatch(zero)
	} else if zero != nil {
		p.last = op.ConvertTo(b, op.ReshapeTo(b, zero, dim.Const(1)), ir.I32)
	}
}

// direct packs the rows x and appends the sums of their product with weights that the product's kernel packs.
func (p *integerProduct) direct(x *ir.Value) *ir.Value {
	x0 := normal(p.b, p.x0, x.Type.DType, ir.U8)
	if isNought(x0) {
		x0 = nil
	}
	w0 := normal(p.b, p.w0, p.weights.Type.DType, ir.I8)
	if isNought(w0) {
		return p.b.Node(ProductColumns{}, p.b.Node(PackRows{}, x), p.weights, x0)
	}
	rows := p.b.Nodes(PackRows{Sums: true}, x)
	return p.b.Node(ProductColumns{}, rows[0], p.weights, x0, p.perBatch(w0), rows[1])
}

// varies reports whether v depends on the parameters of a function or block, and not only on weights
// and constants.
func varies(v *ir.Value) bool {
	seen := map[*ir.Node]bool{}
	todo := []*ir.Value{v}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case v == nil:
		case v.Def == nil:
			return true
		case !seen[v.Def]:
			seen[v.Def] = true
			todo = append(todo, v.Def.Args...)
		}
	}
	return false
}

// depth appends K, the number of products in a sum. K is an extent of the weights.
func (p *integerProduct) depth() *ir.Value { return op.Extent(p.b, p.weights.Type.Shape[1]) }

// channels appends v in a shape that broadcasts to [batch,channels]. v has one element, one for each
// channel, or one for each channel of each batch.
func (p *integerProduct) channels(v *ir.Value) *ir.Value {
	shape := p.shape()
	switch elems := v.Type.Elems(); {
	case op.HasOneElement(v.Type):
		return op.ReshapeTo(p.b, v)
	case elems.Equal(dim.Product(shape...)):
		return op.ReshapeTo(p.b, v, shape...)
	}
	return op.ReshapeTo(p.b, v, shape[1])
}

// perBatch returns v itself if v has one element. Otherwise it appends and returns v broadcast to [batch,channels].
func (p *integerProduct) perBatch(v *ir.Value) *ir.Value {
	if op.HasOneElement(v.Type) {
		return v
	}
	return op.ExpandTo(p.b, p.channels(v), p.shape()...)
}

// build appends the product. rows holds the packed rows, followed by the sums of the rows if p.zero is not nil. n is
// the number of columns.
func (p *integerProduct) build(r op.Requantize, rows []*ir.Value, n dim.Dim) *ir.Value {
	var sums *ir.Value
	if p.zero != nil {
		sums = rows[1]
	}
	return p.b.Node(ProductInteger{N: n, Requantize: r}, rows[0], p.packed, p.bias, p.zero, p.scale, sums, p.last)
}

// normal appends the zero point that elements of type `from` have after their conversion to type `to`. The zero point
// is i32. A conversion from i8 to u8 adds 128 to the zero point, and a conversion from u8 to i8 subtracts 128. A nil
// zero point is 0. normal returns nil if the zero point is nil and does not change.
func normal(b *ir.Builder, zero *ir.Value, from, to ir.DType) *ir.Value {
	shift := 0.0
	switch {
	case from == ir.I8 && to == ir.U8:
		shift = 128
	case from == ir.U8 && to == ir.I8:
		shift = -128
	}
	if zero == nil {
		if shift == 0 {
			return nil
		}
		return b.Scalar(ir.I32, shift)
	}
	zero = op.ConvertTo(b, zero, ir.I32)
	if op.HasOneElement(zero.Type) {
		zero = op.ReshapeTo(b, zero)
	}
	if shift == 0 {
		return zero
	}
	if t, ok := zero.ConstValue(); ok {
		moved := ir.NewTensor(ir.I32, t.Shape...)
		for i := range moved.Len() {
			moved.SetInt(i, t.Int(i)+int64(shift))
		}
		return b.Const(moved)
	}
	return b.Node(op.Add{}, zero, b.Scalar(ir.I32, shift))
}

// isNought reports whether a zero point is absent or a constant of zeros.
func isNought(v *ir.Value) bool {
	if v == nil {
		return true
	}
	t, ok := v.ConstValue()
	for i := 0; ok && i < t.Stored(); i++ {
		ok = t.Int(i) == 0
	}
	return ok
}
