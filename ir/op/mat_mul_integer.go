package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MatMulInteger is the product of integer matrices (ONNX MatMulInteger, QLinearMatMul). a, [batch…,M,K], and b,
// [batch…,K,N], are i8 or u8. Their zero points are subtracted. The zero point of a has one element, and the zero
// point of b has one element or N. Sums are i32, and [Requantize] converts them; its channels are the columns.
// Batches broadcast, and operands of rank 1 are as in [MatMul]. The operands are a, b, their optional zero points,
// and the operands of [Requantize].
type MatMulInteger struct{ Requantize }

// Infer returns the shape of a [MatMul] of a and b, with the element type i32 or To.
func (op MatMulInteger) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, ProductOperands); err != nil {
		return nil, err
	}
	a, m, a0, b0 := in[0], in[1], Operand(in, 2), Operand(in, 3)
	if err := CheckFactor(a, a0); err != nil {
		return nil, err
	}
	if err := CheckFactor(m, b0); err != nil {
		return nil, err
	}
	p, err := Matrices(a, m)
	if err != nil {
		return nil, err
	}
	if !a0.IsZero() && !HasOneElement(a0) {
		return nil, fmt.Errorf("zero point %s, one element expected", a0)
	}
	if !b0.IsZero() && !HasOneElement(b0) {
		if b0.Rank() != 1 {
			return nil, fmt.Errorf("zero point %s", b0)
		}
		if err := Same(b0.Shape[0], p.N, "zero point and columns"); err != nil {
			return nil, err
		}
	}
	d, err := op.check(in, p.N)
	return []ir.Type{ir.TensorOf(d, p.shape(a, m)...)}, err
}

// shape returns the shape of the product of a and b: [batch…,M,N], without M if a has rank 1, and without N if b has
// rank 1.
func (p factors) shape(a, b ir.Type) []dim.Dim {
	shape := slices.Clone(p.Batch)
	if a.Rank() > 1 {
		shape = append(shape, p.M)
	}
	if b.Rank() > 1 {
		shape = append(shape, p.N)
	}
	return shape
}

// Eval returns the requantised sums.
func (op MatMulInteger) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	p, err := Matrices(in[0].Type(), in[1].Type())
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	a0 := ZeroAt(OperandOf(in, 2), 0)
	p.each(func(i, atA, atB, m, k, n int) {
		for j := range m * n {
			b0 := ZeroAt(OperandOf(in, 3), j%n)
			sum := int64(0)
			for l := range k {
				sum += (in[0].Int(atA+j/n*k+l) - a0) * (in[1].Int(atB+l*n+j%n) - b0)
			}
			op.Store(y, i*m*n+j, sum, in, j%n)
		}
	})
	return []*ir.Tensor{y}, nil
}

// Flops counts a multiplication and an addition for each product of an element of a and one of b.
func (MatMulInteger) Flops(in, out []ir.Type) dim.Dim { return MatMul{}.Flops(in, out) }

func importMatMulInteger(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{integerSums(c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3))}, nil
}

// integerSums appends the i32 product (a − a0)·(m − m0). a0 and m0 are zero points; nil is 0. a0 has one element, or
// one for each row of a. For m of [batch…,K,N], m0 has one element, is [N], or is [batch…,1,N].
func integerSums(b *ir.Builder, a, m, a0, m0 *ir.Value) *ir.Value {
	if a.Type.Rank() == 0 || m.Type.Rank() == 0 {
		ir.Fail("%s and %s are no matrices", a.Type, m.Type)
	}
	columns := m.Type.Shape[m.Type.Rank()-1]
	if m0 != nil && m0.Type.Rank() == 1 && m.Type.Rank() > 1 && !HasOneElement(m0.Type) {
		m0 = ExpandTo(b, m0, columns)
	}
	ofRow, ofColumn := !plainZero(a0, dim.Dim{}), !plainZero(m0, columns)
	if !ofRow && !ofColumn {
		return b.Node(MatMulInteger{}, a, m, a0, m0)
	}
	if a.Type.Rank() == 1 || m.Type.Rank() == 1 {
		ir.Fail("zero points of several elements for %s and %s", a.Type, m.Type)
	}
	var a1, m1 *ir.Value // the zero points that the product does not support
	if ofRow {
		a0, a1 = nil, ConvertTo(b, ofRows(b, a0, a.Type), ir.I32)
	}
	if ofColumn {
		m0, m1 = nil, ConvertTo(b, m0, ir.I32)
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

// sumsLess appends the sums of x − zero along an axis, in i32. The axis gets extent 1. A nil zero is 0.
func sumsLess(b *ir.Builder, x, zero *ir.Value, axis int) *ir.Value {
	sums := b.Node(Reduce{Kind: ReduceSum, Axes: []int{axis}, KeepDims: true}, ConvertTo(b, x, ir.I32))
	if zero == nil {
		return sums
	}
	return b.Node(Sub{}, sums, b.Node(Mul{}, ConvertTo(b, zero, ir.I32), Extent(b, x.Type.Shape[axis])))
}

// plainZero reports whether a zero point is nil, has one element, or is a vector with one element for each column.
func plainZero(zero *ir.Value, columns dim.Dim) bool {
	return zero == nil || HasOneElement(zero.Type) || zero.Type.Rank() == 1 && zero.Type.Shape[0].Equal(columns)
}

// ofRows appends v, reshaped so that it broadcasts to a. v is a scale or a zero point, with one element or one for
// each row of a.
func ofRows(b *ir.Builder, v *ir.Value, a ir.Type) *ir.Value {
	if HasOneElement(v.Type) {
		return ReshapeTo(b, v)
	}
	if v.Type.Rank() == 1 && a.Rank() > 1 {
		return ReshapeTo(b, v, v.Type.Shape[0], dim.Const(1))
	}
	return v
}

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
	if HasOneElement(xs.Type) && HasOneElement(x0.Type) && plainZero(ws, columns) && plainZero(w0, columns) && HasOneElement(ys.Type) && HasOneElement(zero.Type) {
		return []*ir.Value{b.Node(MatMulInteger{Requantize{To: zero.Type.DType}}, x, w, x0, w0, nil, rescale(b, xs, ws, ys), zero)}, nil
	}
	sums := ConvertTo(b, integerSums(b, x, w, x0, w0), ir.F32)
	scale := b.Node(Mul{}, ofRows(b, ConvertTo(b, xs, ir.F32), x.Type), ConvertTo(b, ws, ir.F32))
	scale = b.Node(Div{}, scale, ofRows(b, ConvertTo(b, ys, ir.F32), x.Type))
	q := b.Node(Mul{}, sums, scale)
	zero = ExpandTo(b, ofRows(b, zero, x.Type), q.Type.Shape...)
	y := QuantizeLinear{To: zero.Type.DType, Precision: ir.F32}
	if !HasOneElement(zero.Type) {
		y.Block = 1
	}
	return []*ir.Value{b.Node(y, q, ones(b, zero.Type), zero)}, nil
}

// floatProduct appends the product of x and w, which are 8-bit floats. x has the scale xs and the zero point x0,
// and w has ws and w0. The result has the scale ys, the zero point `zero`, and zero's element type.
func floatProduct(b *ir.Builder, x, w, xs, x0, ws, w0, ys, zero *ir.Value) *ir.Value {
	d := xs.Type.DType
	less := func(v, zero *ir.Value) *ir.Value {
		return b.Node(Sub{}, ConvertTo(b, v, ir.F32), ConvertTo(b, zero, ir.F32))
	}
	y := b.Node(MatMul{}, less(x, ofRows(b, x0, x.Type)), less(w, w0))
	scale := b.Node(Mul{}, ofRows(b, ConvertTo(b, xs, ir.F32), x.Type), ConvertTo(b, ws, ir.F32))
	scale = b.Node(Div{}, scale, ofRows(b, ConvertTo(b, ys, ir.F32), x.Type))
	y = b.Node(Add{}, b.Node(Mul{}, y, scale), ConvertTo(b, ofRows(b, zero, x.Type), ir.F32))
	return ConvertTo(b, ConvertTo(b, y, d), zero.Type.DType)
}

// Extent appends an extent as an i32 scalar.
func Extent(b *ir.Builder, d dim.Dim) *ir.Value {
	return b.Node(ir.Extents{Type: ir.StaticTensor(ir.I32), Elems: []dim.Dim{d}})
}
