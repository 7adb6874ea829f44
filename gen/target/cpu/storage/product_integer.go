package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ProductInteger is the product of rows packed by [PackRows] or [Patches] and panels of weights packed by
// [PackColumns]. The panels are W packed matrices: the rows with index i in the batch are multiplied by the panels
// with index i mod W. The result is [batch,M,N]. Operands 0 and 1 are the rows and the panels. The others are
// optional:
//
//   - 2: a bias, i32
//   - 3: a zero point, i32
//   - 4: a scale, f64
//   - 5: the sums of the rows, i32, which are required if there is operand 3
//   - 6: a zero point of the result, i32 of one element
//
// Operands 2, 3 and 4 have one element, or W·N elements: one for each of the N columns of each of the W matrices.
// Each sum of products is increased by the bias, and decreased by the zero point times the sum of the row.
// [op.Requantize] then converts it. If To is f32, operand 4 is f32, and operand 6 is an offset, f32 of the same shape
// as operand 4.
type ProductInteger struct {
	N dim.Dim // columns
	op.Requantize
}

// Infer returns [batch,M,N] of the type To, or i32 if the sums are not requantised.
func (o ProductInteger) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 7); err != nil {
		return nil, err
	}
	a, panels := in[0], in[1]
	four, lanes := dim.Const(4), dim.Const(block)
	if a.Rank() != 3 || panels.Rank() != 5 || !panels.Shape[3].Equal(lanes) || !panels.Shape[4].Equal(four) {
		return nil, fmt.Errorf("rows %s and panels %s", a, panels)
	}
	if a.DType != ir.U8 || panels.DType != ir.I8 || !panels.Shape[1].Equal(o.N.CeilDiv(lanes)) {
		return nil, fmt.Errorf("rows %s and panels %s for %s columns", a, panels, o.N)
	}
	if err := op.Same(a.Shape[2], panels.Shape[2].Mul(four), "inner dimensions"); err != nil {
		return nil, err
	}
	channels, others := panels.Shape[0].Mul(o.N), a.Shape[0].Mul(a.Shape[1])
	type vector struct {
		d ir.DType
		n dim.Dim
	}
	want := []vector{{ir.I32, channels}, {ir.I32, channels}, {ir.F64, channels}, {ir.I32, others}, {ir.I32, dim.Const(1)}}
	if o.To == ir.F32 {
		want[2], want[4] = vector{ir.F32, channels}, vector{ir.F32, channels}
	}
	for i, w := range want {
		t := op.Operand(in, 2+i)
		if t.IsZero() {
			continue
		}
		if t.DType != w.d || !t.Elems().Equal(w.n) && !op.HasOneElement(t) {
			return nil, fmt.Errorf("operand %d is %s, %s elements of %s expected", 2+i, t, w.n, w.d)
		}
	}
	if op.Operand(in, 3).IsZero() != op.Operand(in, 5).IsZero() || o.To != ir.Invalid && op.Operand(in, 4).IsZero() {
		return nil, fmt.Errorf("a zero point without sums, or a type without a scale")
	}
	d := ir.I32
	if o.To != ir.Invalid {
		d = o.To
	}
	return []ir.Type{ir.TensorOf(d, a.Shape[0], a.Shape[1], o.N)}, o.CheckClamp()
}

// Eval computes the sums. Unless To is [ir.Invalid], it converts the sums to the type To.
func (o ProductInteger) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
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
	at := func(i int) int64 { return op.ZeroAt(op.OperandOf(in, 2+i), 0) }
	result := []*ir.Tensor{nil, nil, nil, nil, nil, nil, nil}
	result[op.ScaleOperand] = op.OperandOf(in, 4)
	if zero := op.OperandOf(in, 6); zero != nil {
		result[op.ZeroOperand] = zero
	}
	for i := range y.Len() {
		batch, row, column := i/n/m, i/n%m, i%n
		channel, other := batch%panels.Shape[0]*n+column, batch*m+row
		first := (batch*m + row) * k
		panel := (batch%panels.Shape[0]*panels.Shape[1] + column/block) * k * block
		sum := at(0)
		if t := op.OperandOf(in, 2); t != nil {
			sum = op.ZeroAt(t, channel)
		}
		for l := range k {
			sum += a.Int(first+l) * panels.Int(panel+l/4*4*block+column%block*4+l%4)
		}
		if zero := op.OperandOf(in, 3); zero != nil {
			sum -= op.ZeroAt(zero, channel) * in[5].Int(other)
		}
		o.Store(y, i, sum, result, channel)
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts two operations for each product.
func (o ProductInteger) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(in[0].Shape[2]).Mul(dim.Const(2))
}
