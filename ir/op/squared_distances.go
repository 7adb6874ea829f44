package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SquaredDistances returns the squared Euclidean distance of every row of a matrix [N,K] to every row of a matrix
// [M,K], in f32 or f64. The result is [N,M].
type SquaredDistances struct{}

// Infer returns [N,M].
func (op SquaredDistances) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	a, b := in[0], in[1]
	if a.Rank() != 2 || b.Rank() != 2 || a.DType != b.DType || a.DType != ir.F32 && a.DType != ir.F64 {
		return nil, fmt.Errorf("distances of %s and %s, matrices of f32 or f64 expected", a, b)
	}
	if err := Same(a.Shape[1], b.Shape[1], "features"); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(a.DType, a.Shape[0], b.Shape[0])}, nil
}

// Eval returns the squared distances, [N,M], summed in float64.
func (op SquaredDistances) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	a, b := in[0], in[1]
	n, m, k := a.Shape[0], b.Shape[0], a.Shape[1]
	y := ir.NewTensor(a.DType, n, m)
	for i := range n {
		for j := range m {
			sum := 0.0
			for l := range k {
				d := a.Float(i*k+l) - b.Float(j*k+l)
				sum += float64(d * d)
			}
			y.SetFloat(i*m+j, sum)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts three operations for each pair of elements.
func (op SquaredDistances) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(in[0].Shape[1]).Mul(dim.Const(3))
}
