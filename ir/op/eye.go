package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Eye returns a matrix [Rows,Cols] of type DType with ones on diagonal K and zeros elsewhere. The diagonal starts
// at column K of row 0, or at column 0 of row -K if K is negative.
type Eye struct {
	DType      ir.DType
	Rows, Cols dim.Dim
	K          int
}

// Infer returns DType[Rows,Cols].
func (op Eye) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 0, 0); err != nil {
		return nil, err
	}
	if op.DType.Class() == ir.Text || op.DType.Class() == ir.NoClass {
		return nil, fmt.Errorf("element type %s", op.DType)
	}
	return []ir.Type{ir.TensorOf(op.DType, op.Rows, op.Cols)}, nil
}

// Eval returns the matrix, [Rows,Cols].
func (op Eye) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	shape, ok := dim.Ints([]dim.Dim{op.Rows, op.Cols})
	if _, err := ir.CheckedLen(shape); err != nil || !ok {
		return nil, fmt.Errorf("%s rows and %s columns", op.Rows, op.Cols)
	}
	y := ir.NewTensor(op.DType, shape...)
	for row := range shape[0] {
		if col := row + op.K; col >= 0 && col < shape[1] {
			y.SetNumber(row*shape[1]+col, 1)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Lower computes the matrix in f32 if DType is a float of at most 16 bits, and in i8 or u8 if DType
// is a narrower integer type. It then converts the matrix to DType. It returns nil for other types.
func (op Eye) Lower(b *ir.Builder, _ *ir.Node) []*ir.Value {
	to := op.DType
	if op.DType = wide(to); op.DType == to {
		return nil
	}
	return []*ir.Value{ConvertTo(b, b.Node(op), to)}
}

func importEyeLike(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	if x.Type.Rank() != 2 {
		return nil, fmt.Errorf("rank %d, 2 expected", x.Type.Rank())
	}
	op := Eye{DType: c.DType("dtype", x.Type.DType), Rows: x.Type.Shape[0], Cols: x.Type.Shape[1], K: c.Int("k", 0)}
	return []*ir.Value{c.Builder().Node(op)}, nil
}
