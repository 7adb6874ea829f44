package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ProductInteger is the product of rows that [PackRows] or [Patches] made and panels
// of weights that [PackColumns] made, whose batch, at least 1, repeats along that of
// the rows. The result is [batch,M,N]. The operands are rows, panels, and for each
// column of all panels: a bias i32, a zero point i32 and a scale f64, which may also
// have one element; then the sums of the rows, i32, and a zero point of the result, i32
// of one element. To the sum of products is added the bias, and from it subtracted the
// zero point times the sum of the row; [Requantize] says what becomes of it. With To f32 the
// scale is f32 and the last operand an offset f32, like the scale. The bias, the zero
// point with the sums, the scale and the last operand may be absent.
type ProductInteger struct {
	N ir.Dim // columns
	Requantize
}

// Infer gives [batch,M,N].
func (op ProductInteger) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 7); err != nil {
		return nil, err
	}
	a, panels := in[0], in[1]
	four, lanes := ir.Const(4), ir.Const(block)
	if a.Rank() != 3 || panels.Rank() != 5 || !panels.Shape[3].Equal(lanes) || !panels.Shape[4].Equal(four) {
		return nil, fmt.Errorf("rows %s and panels %s", a, panels)
	}
	if a.DType != ir.U8 || panels.DType != ir.I8 || !panels.Shape[1].Equal(op.N.CeilDiv(lanes)) {
		return nil, fmt.Errorf("rows %s and panels %s for %s columns", a, panels, op.N)
	}
	if err := same(a.Shape[2], panels.Shape[2].Mul(four), "inner dimensions"); err != nil {
		return nil, err
	}
	channels, others := panels.Shape[0].Mul(op.N), a.Shape[0].Mul(a.Shape[1])
	type vector struct {
		d ir.DType
		n ir.Dim
	}
	want := []vector{{ir.I32, channels}, {ir.I32, channels}, {ir.F64, channels}, {ir.I32, others}, {ir.I32, ir.Const(1)}}
	if op.To == ir.F32 {
		want[2], want[4] = vector{ir.F32, channels}, vector{ir.F32, channels}
	}
	for i, w := range want {
		t := operand(in, 2+i)
		if t.IsZero() {
			continue
		}
		if t.DType != w.d || !t.Elems().Equal(w.n) && !isOne(t) {
			return nil, fmt.Errorf("operand %d is %s, %s elements of %s expected", 2+i, t, w.n, w.d)
		}
	}
	if operand(in, 3).IsZero() != operand(in, 5).IsZero() || op.To != ir.Invalid && operand(in, 4).IsZero() {
		return nil, fmt.Errorf("a zero point without sums, or a type without a scale")
	}
	d := ir.I32
	if op.To != ir.Invalid {
		d = op.To
	}
	return []ir.Type{ir.TensorOf(d, a.Shape[0], a.Shape[1], op.N)}, op.checkClamp()
}

// Eval sums products of integers.
func (op ProductInteger) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	a, panels := in[0], in[1]
	m, n, k := shape[1], shape[2], a.Shape[2]
	if a.Shape[0] == 0 || panels.Shape[0] == 0 {
		return []*ir.Tensor{y}, nil
	}
	at := func(i int) int64 { return zeroAt(operandOf(in, 2+i), 0) }
	result := []*ir.Tensor{nil, nil, nil, nil, nil, nil, nil}
	result[scaleOperand] = operandOf(in, 4)
	if zero := operandOf(in, 6); zero != nil {
		result[zeroOperand] = zero
	}
	for i := range y.Len() {
		batch, row, column := i/n/m, i/n%m, i%n
		channel, other := batch%panels.Shape[0]*n+column, batch*m+row
		first := (batch*m + row) * k
		panel := (batch%panels.Shape[0]*panels.Shape[1] + column/block) * k * block
		sum := at(0)
		if t := operandOf(in, 2); t != nil {
			sum = zeroAt(t, channel)
		}
		for l := range k {
			sum += a.Int(first+l) * panels.Int(panel+l/4*4*block+column%block*4+l%4)
		}
		if zero := operandOf(in, 3); zero != nil {
			sum -= zeroAt(zero, channel) * in[5].Int(other)
		}
		op.set(y, i, sum, result, channel)
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts two operations for each product.
func (op ProductInteger) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(in[0].Shape[2]).Mul(ir.Const(2))
}

// Call is cpu.ProductInteger or cpu.ProductScaled.
func (op ProductInteger) Call(n *ir.Node) (ir.Call, error) {
	a, panels := n.Arg(0).Type, n.Arg(1).Type
	if op.To == ir.F32 {
		return ir.Call{Kernel: "ProductScaled", Args: []any{
			ir.Out(0), ir.In(0), ir.In(1), ir.In(2), ir.In(3), ir.In(4), ir.In(6), ir.In(5),
			a.Shape[0], panels.Shape[0], a.Shape[1], op.N, a.Shape[2],
		}}, nil
	}
	lo, hi := op.bounds()
	return ir.Call{Kernel: "ProductInteger", Args: []any{
		ir.Out(0), ir.In(0), ir.In(1), ir.In(2), ir.In(3), ir.In(4), ir.In(5), ir.In(6),
		a.Shape[0], panels.Shape[0], a.Shape[1], op.N, a.Shape[2], lo, hi,
	}}, nil
}

// integerProduct builds a [ProductInteger] of weights, [batch,K,N], and rows.
type integerProduct struct {
	b       *ir.Builder
	to      ir.DType // of the result, Invalid for sums
	weights *ir.Value
	w0, x0  *ir.Value // zero points; nil is 0
	signed  bool      // the rows were i8

	packed                  *ir.Value // the weights
	bias, zero, scale, last *ir.Value // operands of the product
}

// shape is that of a vector for the channels of all weights.
func (p *integerProduct) shape() []ir.Dim {
	return []ir.Dim{p.weights.Type.Shape[0], p.weights.Type.Shape[2]}
}

// vectors computes the operands for their channels from those of node n, an integer
// product, and packs the weights if asked to. As the packed weights are i8 and the rows
// u8, zero points move by 128 where they were not.
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
		sums = b.Node(Reduce{Kind: ReduceSum, Axes: []int{1}}, convert(b, p.weights, ir.I32))
		if shift := normal(b, nil, from, ir.I8); shift != nil {
			sums = b.Node(Add{}, sums, b.Node(Mul{}, p.depth(), shift))
		}
	}
	// Σ(x−x0)(w−w0) = Σxw − w0·Σx − x0·(Σw − K·w0)
	if sums != nil {
		if p.zero != nil {
			sums = b.Node(Sub{}, sums, b.Node(Mul{}, p.channels(p.zero), p.depth()))
		}
		p.bias = b.Node(Neg{}, b.Node(Mul{}, sums, x0))
	}
	if given := n.Arg(biasOperand); given != nil {
		given = p.channels(given)
		if p.bias == nil {
			p.bias = given
		} else {
			p.bias = b.Node(Add{}, p.bias, given)
		}
	}
	if p.bias != nil {
		p.bias = expand(b, p.bias, p.shape()...)
	}
	if scale := n.Arg(scaleOperand); scale != nil {
		if p.to != ir.F32 {
			scale = convert(b, scale, ir.F64)
		}
		p.scale = p.perBatch(scale)
	}
	if p.zero != nil {
		p.zero = p.perBatch(p.zero)
	}
	if zero := n.Arg(zeroOperand); zero != nil && p.to == ir.F32 {
		p.last = p.perBatch(zero)
	} else if zero != nil {
		p.last = convert(b, reshape(b, zero, ir.Const(1)), ir.I32)
	}
}

// direct appends the sums of the product of rows x, not packed yet, and weights that are
// packed on the way.
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

// varies reports whether v follows from what a function or a block is given, not from
// weights and constants only.
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

// depth appends the number of products in a sum.
func (p *integerProduct) depth() *ir.Value { return extent(p.b, p.weights.Type.Shape[1]) }

// extent appends an extent as i32.
func extent(b *ir.Builder, d ir.Dim) *ir.Value {
	return b.Node(ir.Extents{Type: ir.StaticTensor(ir.I32), Elems: []ir.Dim{d}})
}

// channels appends a vector with an element for each channel, or one for all, so
// that it broadcasts to the channels, [batch,channels].
func (p *integerProduct) channels(v *ir.Value) *ir.Value {
	shape := p.shape()
	switch elems := v.Type.Elems(); {
	case isOne(v.Type):
		return reshape(p.b, v)
	case elems.Equal(ir.Product(shape...)):
		return reshape(p.b, v, shape...)
	}
	return reshape(p.b, v, shape[1])
}

// perBatch repeats a vector for the channels of one batch for all, unless it has one
// element.
func (p *integerProduct) perBatch(v *ir.Value) *ir.Value {
	if isOne(v.Type) {
		return v
	}
	return expand(p.b, p.channels(v), p.shape()...)
}

// build appends the product with rows, packed and with their sums if these are
// needed; n is its number of columns.
func (p *integerProduct) build(r Requantize, rows []*ir.Value, n ir.Dim) *ir.Value {
	var sums *ir.Value
	if p.zero != nil {
		sums = rows[1]
	}
	return p.b.Node(ProductInteger{N: n, Requantize: r}, rows[0], p.packed, p.bias, p.zero, p.scale, sums, p.last)
}

// normal appends a zero point, which may be nil, as i32 for a factor that moves from
// one 8-bit type to the other; nil where it is absent and nothing moves.
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
	zero = convert(b, zero, ir.I32)
	if isOne(zero.Type) {
		zero = reshape(b, zero)
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
	return b.Node(Add{}, zero, b.Scalar(ir.I32, shift))
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
