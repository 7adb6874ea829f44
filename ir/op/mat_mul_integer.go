package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// MatMulInteger is the product of integer matrices (ONNX MatMulInteger,
// QLinearMatMul): with a, [batch…,M,K], and b, [batch…,K,N], each i8 or u8, less
// their zero points, a's of one element and b's of one or N, its sums are i32, to
// which [Requantize] applies, its channels being the columns. Batches are broadcast
// and operands of rank 1 are as in [MatMul]. The operands are a, b, their zero
// points, which may be absent, and those of [Requantize].
type MatMulInteger struct{ Requantize }

// Infer gives [batch…,M,N].
func (op MatMulInteger) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, productOperands); err != nil {
		return nil, err
	}
	a, m, a0, b0 := in[0], in[1], operand(in, 2), operand(in, 3)
	if err := checkFactor(a, a0); err != nil {
		return nil, err
	}
	if err := checkFactor(m, b0); err != nil {
		return nil, err
	}
	p, err := matrices(a, m)
	if err != nil {
		return nil, err
	}
	if !a0.IsZero() && !isOne(a0) {
		return nil, fmt.Errorf("zero point %s, one element expected", a0)
	}
	if !b0.IsZero() && !isOne(b0) {
		if b0.Rank() != 1 {
			return nil, fmt.Errorf("zero point %s", b0)
		}
		if err := same(b0.Shape[0], p.n, "zero point and columns"); err != nil {
			return nil, err
		}
	}
	d, err := op.check(in, p.n)
	return []ir.Type{ir.TensorOf(d, p.shape(a, m)...)}, err
}

// shape returns the shape of a product of a and b.
func (p factors) shape(a, b ir.Type) []ir.Dim {
	shape := slices.Clone(p.batch)
	if a.Rank() > 1 {
		shape = append(shape, p.m)
	}
	if b.Rank() > 1 {
		shape = append(shape, p.n)
	}
	return shape
}

// Eval sums products of integers.
func (op MatMulInteger) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	p, err := matrices(in[0].Type(), in[1].Type())
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	a0 := zeroAt(operandOf(in, 2), 0)
	p.each(func(i, atA, atB, m, k, n int) {
		for j := range m * n {
			b0 := zeroAt(operandOf(in, 3), j%n)
			sum := int64(0)
			for l := range k {
				sum += (in[0].Int(atA+j/n*k+l) - a0) * (in[1].Int(atB+l*n+j%n) - b0)
			}
			op.set(y, i*m*n+j, sum, in, j%n)
		}
	})
	return []*ir.Tensor{y}, nil
}

// Flops counts two operations for each product.
func (MatMulInteger) Flops(in, out []ir.Type) ir.Dim { return MatMul{}.Flops(in, out) }

// Lower multiplies the rows of a with b in panels.
func (op MatMulInteger) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, w := n.Arg(0), n.Arg(1)
	f, err := matrices(x.Type, w.Type)
	if err != nil {
		ir.FailWith(err)
	}
	i, j := len(f.a)-2, len(f.b)-2
	one := ir.Const(1)
	x, w = reshape(b, x, f.a...), reshape(b, w, f.b...)
	if single := ir.Product(f.b[:j]...).Equal(one); single {
		x = reshape(b, x, one, ir.Product(f.a[:i]...).Mul(f.m), f.k)
		w = reshape(b, w, one, f.k, f.n)
	} else {
		batch := ir.Product(f.batch...)
		x = reshape(b, expand(b, x, slices.Concat(f.batch, f.a[i:])...), batch, f.m, f.k)
		w = reshape(b, expand(b, w, slices.Concat(f.batch, f.b[j:])...), batch, f.k, f.n)
	}
	p := integerProduct{b: b, to: op.To, weights: w, w0: n.Arg(3), x0: n.Arg(2), signed: x.Type.DType == ir.I8}
	var y *ir.Value
	if op.To == ir.Invalid && n.Arg(biasOperand) == nil && varies(w) {
		y = p.direct(x)
	} else {
		p.vectors(n, true)
		rows := b.Nodes(PackRows{Sums: p.zero != nil}, x)
		y = p.build(op.Requantize, rows, f.n)
	}
	return []*ir.Value{reshape(b, y, n.Results[0].Type.Shape...)}
}

// importMatMulInteger reads MatMulInteger.
func importMatMulInteger(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{integerSums(c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3))}, nil
}

// integerSums appends the i32 product of a and m less their zero points, any of
// which may be nil. Those of a may also be one for each row, those of m one for
// each column of each matrix.
func integerSums(b *ir.Builder, a, m, a0, m0 *ir.Value) *ir.Value {
	if a.Type.Rank() == 0 || m.Type.Rank() == 0 {
		ir.Fail("%s and %s are no matrices", a.Type, m.Type)
	}
	columns := m.Type.Shape[m.Type.Rank()-1]
	if m0 != nil && m0.Type.Rank() == 1 && m.Type.Rank() > 1 && !isOne(m0.Type) {
		m0 = expand(b, m0, columns)
	}
	ofRow, ofColumn := !plainZero(a0, ir.Dim{}), !plainZero(m0, columns)
	if !ofRow && !ofColumn {
		return b.Node(MatMulInteger{}, a, m, a0, m0)
	}
	if a.Type.Rank() == 1 || m.Type.Rank() == 1 {
		ir.Fail("zero points of several elements for %s and %s", a.Type, m.Type)
	}
	var a1, m1 *ir.Value // the zero points that the product cannot take
	if ofRow {
		a0, a1 = nil, convert(b, ofRows(b, a0, a.Type), ir.I32)
	}
	if ofColumn {
		m0, m1 = nil, convert(b, m0, ir.I32)
	}
	y := b.Node(MatMulInteger{}, a, m, a0, m0)
	// Σ(a−a0−a1)(m−m0−m1) = Σ(a−a0)(m−m0) − a1·Σ(m−m0) − m1·Σ(a−a0−a1)
	if ofRow {
		y = b.Node(Sub{}, y, b.Node(Mul{}, a1, sumsLess(b, m, m0, m.Type.Rank()-2)))
	}
	if ofColumn {
		if ofRow {
			a0 = a1
		}
		y = b.Node(Sub{}, y, b.Node(Mul{}, m1, sumsLess(b, a, a0, a.Type.Rank()-1)))
	}
	return y
}

// sumsLess appends the i32 sums of x less a zero point, which may be nil, along an axis,
// whose extent becomes 1.
func sumsLess(b *ir.Builder, x, zero *ir.Value, axis int) *ir.Value {
	sums := b.Node(Reduce{Kind: ReduceSum, Axes: []int{axis}, KeepDims: true}, convert(b, x, ir.I32))
	if zero == nil {
		return sums
	}
	return b.Node(Sub{}, sums, b.Node(Mul{}, convert(b, zero, ir.I32), extent(b, x.Type.Shape[axis])))
}

// plainZero reports whether a zero point has one element, or one for each column.
func plainZero(zero *ir.Value, columns ir.Dim) bool {
	return zero == nil || isOne(zero.Type) || zero.Type.Rank() == 1 && zero.Type.Shape[0].Equal(columns)
}

// ofRows appends a scale or zero point for the rows of a so that it broadcasts to a:
// of rank 1 it has one element, or one for each row.
func ofRows(b *ir.Builder, v *ir.Value, a ir.Type) *ir.Value {
	if isOne(v.Type) {
		return reshape(b, v)
	}
	if v.Type.Rank() == 1 && a.Rank() > 1 {
		return reshape(b, v, v.Type.Shape[0], ir.Const(1))
	}
	return v
}

// importQLinearMatMul reads QLinearMatMul. Scales may be f16 or bf16 from opset 21;
// factors may be 8-bit floats then.
func importQLinearMatMul(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x, w, zero := c.Arg(0), c.Arg(3), c.Arg(7)
	xs, x0, ws, w0, ys := c.Arg(1), c.Arg(2), c.Arg(4), c.Arg(5), c.Arg(6)
	for i := range 8 {
		if c.Arg(i) == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
	}
	if w.Type.Rank() == 0 {
		return nil, fmt.Errorf("a product of %s and %s", x.Type, w.Type)
	}
	if !x.Type.DType.IsInt() {
		return []*ir.Value{floatProduct(b, x, w, xs, x0, ws, w0, ys, zero)}, nil
	}
	columns := w.Type.Shape[w.Type.Rank()-1]
	if isOne(xs.Type) && isOne(x0.Type) && plainZero(ws, columns) && plainZero(w0, columns) && isOne(ys.Type) && isOne(zero.Type) {
		return []*ir.Value{b.Node(MatMulInteger{Requantize{To: zero.Type.DType}}, x, w, x0, w0, nil, rescale(b, xs, ws, ys), zero)}, nil
	}
	sums := convert(b, integerSums(b, x, w, x0, w0), ir.F32)
	scale := b.Node(Mul{}, ofRows(b, convert(b, xs, ir.F32), x.Type), convert(b, ws, ir.F32))
	scale = b.Node(Div{}, scale, ofRows(b, convert(b, ys, ir.F32), x.Type))
	q := b.Node(Mul{}, sums, scale)
	zero = expand(b, ofRows(b, zero, x.Type), q.Type.Shape...)
	y := QuantizeLinear{To: zero.Type.DType, Precision: ir.F32}
	if !isOne(zero.Type) {
		y.Block = 1
	}
	return []*ir.Value{b.Node(y, q, ones(b, zero.Type), zero)}, nil
}

// floatProduct appends a product of 8-bit floats with scales and zero points.
func floatProduct(b *ir.Builder, x, w, xs, x0, ws, w0, ys, zero *ir.Value) *ir.Value {
	d := xs.Type.DType
	less := func(v, zero *ir.Value) *ir.Value {
		return b.Node(Sub{}, convert(b, v, ir.F32), convert(b, zero, ir.F32))
	}
	y := b.Node(MatMul{}, less(x, ofRows(b, x0, x.Type)), less(w, w0))
	scale := b.Node(Mul{}, ofRows(b, convert(b, xs, ir.F32), x.Type), convert(b, ws, ir.F32))
	scale = b.Node(Div{}, scale, ofRows(b, convert(b, ys, ir.F32), x.Type))
	y = b.Node(Add{}, b.Node(Mul{}, y, scale), convert(b, ofRows(b, zero, x.Type), ir.F32))
	return convert(b, convert(b, y, d), zero.Type.DType)
}
