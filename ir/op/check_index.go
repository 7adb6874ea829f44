package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// CheckIndex returns its operand, indices of i32 or i64, and checks them at run time. An index must be at least 0
// and below Count. Errors call an index What, and the elements that it selects Things. With FromEnd, indices from
// -Count to -1 are also accepted, and converted to count from the start, as in [Gather].
type CheckIndex struct {
	Count        dim.Dim
	FromEnd      bool
	What, Things string
}

// Infer returns the operand's type.
func (op CheckIndex) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	return in[:1], indexType(in[0])
}

// Eval returns the indices, counted from the start of the axis. It returns an error if an index is out of range.
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

// checkIndex returns an error unless 0 ≤ index < count. The error calls the index `label`, and the elements that it
// selects `things`.
func checkIndex(index int64, count int, label, things string) error {
	if index < 0 || index >= int64(count) {
		return fmt.Errorf("%s %d is not one of %d %s", label, index, count, things)
	}
	return nil
}

func checked(b *ir.Builder, indices *ir.Value, count dim.Dim, what, things string) *ir.Value {
	return b.Node(CheckIndex{Count: count, What: what, Things: things}, indices)
}

// checkedAxis appends a check that axis is an axis of a tensor of the given rank. It returns the axis as an index
// from the start.
func checkedAxis(b *ir.Builder, axis *ir.Value, rank int) *ir.Value {
	return b.Node(CheckIndex{Count: dim.Const(rank), FromEnd: true, What: "axis", Things: "axes"}, axis)
}

// Overwrites allows the result to reuse the memory of the operand.
func (CheckIndex) Overwrites() []int { return []int{0} }
