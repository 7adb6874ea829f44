package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ProductColumns is the product of rows that [PackRows] made, [batch,M,4·⌈K/4⌉], and
// matrices of bytes as they come, [weights,K,N], that repeat along the batch: i32
// [batch,M,N]. Elements of u8 move by −128, to i8. Further operands are a zero point of the
// rows, i32 of one element, zero points of the moved columns, i32 of one element for each
// column of all matrices or one for all, and the sums of the rows, i32, which the latter
// need. Each may be absent. It is for factors that are not the same in every run: these
// are packed on the way.
type ProductColumns struct{}

// Infer gives [batch,M,N].
func (ProductColumns) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 5); err != nil {
		return nil, err
	}
	a, w := in[0], in[1]
	if a.Rank() != 3 || a.DType != ir.U8 {
		return nil, fmt.Errorf("rows %s", a)
	}
	if err := checkPack(in[1:2]); err != nil {
		return nil, err
	}
	if err := same(a.Shape[2], padFour(w.Shape[1]), "inner dimensions"); err != nil {
		return nil, err
	}
	channels, rows := w.Shape[0].Mul(w.Shape[2]), a.Shape[0].Mul(a.Shape[1])
	for i, elems := range []ir.Dim{ir.Const(1), channels, rows} {
		t := operand(in, 2+i)
		if !t.IsZero() && (t.DType != ir.I32 || !t.Elems().Equal(elems) && (i != 1 || !isOne(t))) {
			return nil, fmt.Errorf("operand %d is %s, %s elements of i32 expected", 2+i, t, elems)
		}
	}
	if !operand(in, 3).IsZero() && operand(in, 4).IsZero() {
		return nil, fmt.Errorf("a zero point without sums")
	}
	return []ir.Type{ir.TensorOf(ir.I32, a.Shape[0], a.Shape[1], w.Shape[2])}, nil
}

// Eval sums products of integers.
func (op ProductColumns) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.I32, shape...)
	a, w := in[0], in[1]
	if w.Shape[0] == 0 {
		return []*ir.Tensor{y}, nil
	}
	m, n, k := shape[1], shape[2], w.Shape[1]
	x := zeroAt(operandOf(in, 2), 0)
	for i := range y.Len() {
		batch, row, column := i/n/m, i/n%m, i%n
		matrix := batch % w.Shape[0]
		sum := int64(0)
		for l := range k {
			v := moved(w.Int((matrix*k+l)*n+column), w.DType, ir.I8)
			sum += (a.Int((batch*m+row)*a.Shape[2]+l) - x) * v
		}
		if zero := operandOf(in, 3); zero != nil {
			sum -= zeroAt(zero, matrix*n+column) * (in[4].Int(batch*m+row) - int64(k)*x)
		}
		y.SetInt(i, int64(int32(sum)))
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts two operations for each product.
func (ProductColumns) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(in[1].Shape[1]).Mul(ir.Const(2))
}

// columnParts is how many parts of a product there is memory to compute at a time.
const columnParts = 8

// Call is cpu.ProductColumns.
func (op ProductColumns) Call(n *ir.Node) (ir.Call, error) {
	a, w := n.Arg(0).Type, n.Arg(1).Type
	// cpu.ProductColumnsScratch, for several parts
	strip := ir.Const(4 * block)
	parts := ir.Const(columnParts).Min(w.Shape[0].Mul(w.Shape[2].CeilDiv(strip)).Max(ir.Const(1)))
	scratch := ir.Scratch{DType: ir.I8, Len: strip.Mul(padFour(w.Shape[1])).Mul(parts)}
	return ir.Call{Kernel: "ProductColumns", Args: []any{
		ir.Out(0), ir.In(0), ir.In(1), ir.In(2), ir.In(3), ir.In(4), scratch,
		a.Shape[0], w.Shape[0], a.Shape[1], w.Shape[2], w.Shape[1],
	}}, nil
}
