package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ByteTable replaces each element of x, i8 or u8, by one of a table of 256: that
// whose number has the element's bits.
type ByteTable struct{}

// tableSize is the number of elements of a table.
const tableSize = 256

// Infer gives x the table's element type.
func (ByteTable) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := checkFactor(in[0], ir.Type{}); err != nil {
		return nil, err
	}
	if t := in[1]; t.Rank() != 1 || !t.Shape[0].Equal(ir.Const(tableSize)) {
		return nil, fmt.Errorf("table %s, %d elements expected", t, tableSize)
	}
	return []ir.Type{in[0].With(in[1].DType)}, nil
}

// Eval looks the elements up.
func (ByteTable) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(in[1].DType, in[0].Shape...)
	for i := range y.Len() {
		y.Copy(i, in[1], int(uint8(in[0].Int(i))))
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.ByteTable.
func (ByteTable) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "ByteTable", Args: []any{ir.Out(0), ir.In(0), ir.In(1)}}, nil
}

// ByteCodes returns all elements of an 8-bit integer type in the order of a
// [ByteTable].
func ByteCodes(d ir.DType) *ir.Tensor {
	codes := ir.NewTensor(d, tableSize)
	for i := range tableSize {
		codes.SetInt(i, int64(i))
	}
	return codes
}

// MapsLanes marks the operator.
func (ByteTable) MapsLanes() {}
