package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
	"github.com/burngen/burngen/runtime/rt"
)

// Multinomial draws Samples columns of each row of x, floats [N,C] (ONNX Multinomial). The probability of a column
// is proportional to the exponential of its element. The result holds the indices of the columns, integers
// [N,Samples] of type DType. Sample i, counted in row-major order over all rows, is the first column at which the
// cumulative probability exceeds [rt.UniformAt](Seed, i).
type Multinomial struct {
	Samples int
	DType   ir.DType
	Seed    int64
}

// Infer returns [N,Samples] of type DType.
func (op Multinomial) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() != 2 || op.DType != ir.I32 && op.DType != ir.I64 || op.Samples < 0 {
		return nil, fmt.Errorf("%d samples of type %s of %s", op.Samples, op.DType, x)
	}
	return []ir.Type{ir.TensorOf(op.DType, x.Shape[0], dim.Const(op.Samples))}, nil
}

// Eval returns the drawn columns, [N,Samples]. It adds probabilities in float64.
func (op Multinomial) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	rows, columns := x.Shape[0], x.Shape[1]
	if rows > 0 && columns == 0 && op.Samples > 0 {
		return nil, fmt.Errorf("no columns to draw from")
	}
	y := ir.NewTensor(op.DType, rows, op.Samples)
	for i := range y.Len() {
		row := pick(AllAxes(columns), func(j int) float64 { return x.Float(i/op.Samples*columns + j) })
		left := rt.UniformAt(uint64(op.Seed), uint64(i)) * exponentials(row)
		for j, v := range row {
			if left -= portable.Exp(v); left < 0 || j == columns-1 {
				y.SetInt(i, int64(j))
				break
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// IsRandom marks the operator as random: other implementations draw other numbers.
func (Multinomial) IsRandom() {}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (Multinomial) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

func importMultinomial(c ir.Importer) ([]*ir.Value, error) {
	op := Multinomial{Samples: c.Int("sample_size", 1), DType: c.DType("dtype", ir.I32), Seed: seed(c)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
