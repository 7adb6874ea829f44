package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// CheckIndex is its operand, indices of i32 or i64. One below 0, or not below Count, is
// an error at run time that calls it What and says how many Things there are: the
// definition where it stands knows no indices that count from the end, as [Gather] does.
// With FromEnd it does: those from -Count on are allowed, and counted from the front.
type CheckIndex struct {
	Count        ir.Dim
	FromEnd      bool
	What, Things string
}

// Infer gives the operand's type.
func (op CheckIndex) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	return in[:1], indexType(in[0])
}

// Eval compares the indices.
func (op CheckIndex) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	count, ok := op.Count.Int()
	if !ok {
		return nil, fmt.Errorf("%s %s", op.Count, op.Things)
	}
	y := ir.NewTensor(in[0].DType, in[0].Shape...)
	for i := range y.Len() {
		k := in[0].Int(i)
		if op.FromEnd && k < 0 && k >= -int64(count) {
			k += int64(count)
		}
		if err := checkIndex(k, count, op.What, op.Things); err != nil {
			return nil, err
		}
		y.SetInt(i, k)
	}
	return []*ir.Tensor{y}, nil
}

// checkIndex returns an error for an index that is not one of count things.
func checkIndex(index int64, count int, what, things string) error {
	if index < 0 || index >= int64(count) {
		return fmt.Errorf("%s %d is not one of %d %s", what, index, count, things)
	}
	return nil
}

// checked appends indices that a [CheckIndex] has compared.
func checked(b *ir.Builder, indices *ir.Value, count ir.Dim, what, things string) *ir.Value {
	return b.Node(CheckIndex{Count: count, What: what, Things: things}, indices)
}

// checkedAxis appends an axis of a rank, counted from the front.
func checkedAxis(b *ir.Builder, axis *ir.Value, rank int) *ir.Value {
	return b.Node(CheckIndex{Count: ir.Const(rank), FromEnd: true, What: "axis", Things: "axes"}, axis)
}

// Overwrites lists the operand.
func (CheckIndex) Overwrites() []int { return []int{0} }

// Call is cpu.CheckIndex.
func (op CheckIndex) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "CheckIndex", Args: []any{ir.Out(0), ir.In(0), op.Count, op.FromEnd, op.What, op.Things}}, nil
}
