package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ProductColumns is the product of packed rows and unpacked matrices of bytes. The rows are packed by [PackRows],
// [batch,M,4·⌈K/4⌉]. There are W matrices, [W,K,N]: the rows with index i in the batch are multiplied by matrix i
// mod W. The result is i32 [batch,M,N]. The kernel packs the matrices during the product. This suits factors that
// differ in each run. Elements of u8 are shifted by −128 to i8. Operands 0 and 1 are the rows and the matrices. The
// others are optional:
//
//   - 2: a zero point of the rows, i32 of one element
//   - 3: zero points of the shifted columns, i32 of one element or of W·N: one for each column of each matrix
//   - 4: the sums of the rows, i32, which are required if there is operand 3
type ProductColumns struct{}

// Infer returns i32[batch,M,N].
func (ProductColumns) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 5); err != nil {
		return nil, err
	}
	a, w := in[0], in[1]
	if a.Rank() != 3 || a.DType != ir.U8 {
		return nil, fmt.Errorf("rows %s", a)
	}
	if err := checkPack(in[1:2]); err != nil {
		return nil, err
	}
	if err := op.Same(a.Shape[2], padFour(w.Shape[1]), "inner dimensions"); err != nil {
		return nil, err
	}
	channels, rows := w.Shape[0].Mul(w.Shape[2]), a.Shape[0].Mul(a.Shape[1])
	for i, elems := range []dim.Dim{dim.Const(1), channels, rows} {
		t := op.Operand(in, 2+i)
		if !t.IsZero() && (t.DType != ir.I32 || !t.Elems().Equal(elems) && (i != 1 || !op.HasOneElement(t))) {
			return nil, fmt.Errorf("operand %d is %s, %s elements of i32 expected", 2+i, t, elems)
		}
	}
	if !op.Operand(in, 3).IsZero() && op.Operand(in, 4).IsZero() {
		return nil, fmt.Errorf("a zero point without sums")
	}
	return []ir.Type{ir.TensorOf(ir.I32, a.Shape[0], a.Shape[1], w.Shape[2])}, nil
}

// Eval computes the sums of products of shifted elements.
func (o ProductColumns) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
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
	x := op.ZeroAt(op.OperandOf(in, 2), 0)
	for i := range y.Len() {
		batch, row, column := i/n/m, i/n%m, i%n
		matrix := batch % w.Shape[0]
		sum := int64(0)
		for l := range k {
			v := moved(w.Int((matrix*k+l)*n+column), w.DType, ir.I8)
			sum += (a.Int((batch*m+row)*a.Shape[2]+l) - x) * v
		}
		if zero := op.OperandOf(in, 3); zero != nil {
			sum -= op.ZeroAt(zero, matrix*n+column) * (in[4].Int(batch*m+row) - int64(k)*x)
		}
		y.SetInt(i, int64(int32(sum)))
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts two operations for each product.
func (ProductColumns) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(in[1].Shape[1]).Mul(dim.Const(2))
}
