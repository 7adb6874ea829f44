package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ByteTable replaces each element of x, i8 or u8, by an element of a table of 256 elements. The
// bits of the element of x are the index.
type ByteTable struct{}

const tableSize = 256

// Infer returns x's shape with the table's element type.
func (ByteTable) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := CheckFactor(in[0], ir.Type{}); err != nil {
		return nil, err
	}
	if t := in[1]; t.Rank() != 1 || !t.Shape[0].Equal(dim.Const(tableSize)) {
		return nil, fmt.Errorf("table %s, %d elements expected", t, tableSize)
	}
	return []ir.Type{in[0].With(in[1].DType)}, nil
}

// Eval returns table[x] for each element of x, in x's shape.
func (ByteTable) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(in[1].DType, in[0].Shape...)
	for i := range y.Len() {
		y.Copy(i, in[1], int(uint8(in[0].Int(i))))
	}
	return []*ir.Tensor{y}, nil
}

// ByteCodes returns the 256 values of the 8-bit integer type d, in the order in which the table of a [ByteTable]
// has its elements.
func ByteCodes(d ir.DType) *ir.Tensor {
	codes := ir.NewTensor(d, tableSize)
	for i := range tableSize {
		codes.SetInt(i, int64(i))
	}
	return codes
}
