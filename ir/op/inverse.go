package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Inverse is the inverse of each matrix of x, floats [batch…,N,N] (com.microsoft Inverse). A singular matrix gives
// infinite or NaN elements.
type Inverse struct{}

// Infer returns the operand's type.
func (Inverse) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	rank := in[0].Rank()
	if rank < 2 {
		return nil, fmt.Errorf("%s where matrices are expected", in[0])
	}
	return in, Same(in[0].Shape[rank-2], in[0].Shape[rank-1], "rows and columns")
}

// Eval returns the inverse of each matrix. It uses Gauss–Jordan elimination with pivots, in float64.
func (Inverse) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	y, n := ir.NewTensor(x.DType, x.Shape...), x.Shape[x.Rank()-1]
	for first := 0; first < y.Len(); first += n * n {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, 2*n)
			for j := range n {
				rows[i][j] = x.Float(first + i*n + j)
			}
			rows[i][n+i] = 1
		}
		for k := range rows {
			best := k
			for i := k + 1; i < n; i++ {
				if math.Abs(rows[i][k]) > math.Abs(rows[best][k]) {
					best = i
				}
			}
			rows[k], rows[best] = rows[best], rows[k]
			scaleBy(rows[k], 1/rows[k][k])
			for i, row := range rows {
				if factor := row[k]; i != k {
					for j, v := range rows[k] {
						row[j] -= float64(factor * v)
					}
				}
			}
		}
		for i := range n * n {
			y.SetFloat(first+i, rows[i/n][n+i%n])
		}
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns −yᵀ·dy·yᵀ, where y is the result.
func (Inverse) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	y := swapLast(b, n.Results[0])
	return []*ir.Value{b.Node(Neg{}, b.Node(MatMul{}, b.Node(MatMul{}, y, dy[0]), y))}
}

// Flops counts 4·N³ operations for each matrix. The elimination takes 2·N³ products and as many subtractions.
func (Inverse) Flops(in, _ []ir.Type) dim.Dim {
	return in[0].Elems().Mul(in[0].Shape[in[0].Rank()-1]).Mul(dim.Const(4))
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (Inverse) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }
