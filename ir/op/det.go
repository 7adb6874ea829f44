package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Det is the determinant of each matrix of x, floats […,M,M] (ONNX Det). The determinant of an empty
// matrix is 1.
type Det struct{}

// Infer returns the type of x without the last two axes. It returns an error unless these axes have equal extents.
func (Det) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	r := in[0].Rank()
	if r < 2 {
		return nil, fmt.Errorf("%s has no matrices", in[0])
	}
	shape := in[0].Shape
	return []ir.Type{ir.TensorOf(in[0].DType, shape[:r-2]...)}, Same(shape[r-2], shape[r-1], "rows and columns")
}

// Eval returns the determinants, computed in float64 by Gaussian elimination.
func (Det) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	m := x.Shape[x.Rank()-1]
	y := ir.NewTensor(x.DType, x.Shape[:x.Rank()-2]...)
	for i := range y.Len() {
		y.SetFloat(i, determinant(pick(AllAxes(m*m), func(k int) float64 { return x.Float(i*m*m + k) }), m))
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns dy·y·(x⁻¹)ᵀ, which requires invertible matrices.
func (Det) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c := calculus{b}
	shape := append(slices.Clone(dy[0].Type.Shape), dim.Consts(1, 1)...)
	g := ReshapeTo(b, c.mul(dy[0], n.Results[0]), shape...)
	return []*ir.Value{c.mul(g, swapLast(b, b.Node(Inverse{}, n.Arg(0))))}
}

// determinant returns the determinant of a, a matrix [m,m] in row-major order. It overwrites a.
func determinant(a []float64, m int) float64 {
	det := 1.0
	for k := range m {
		top := k
		for i := k + 1; i < m; i++ {
			if math.Abs(a[i*m+k]) > math.Abs(a[top*m+k]) {
				top = i
			}
		}
		if top != k {
			det = -det
			for j := k; j < m; j++ {
				a[k*m+j], a[top*m+j] = a[top*m+j], a[k*m+j]
			}
		}
		pivot := a[k*m+k]
		if det *= pivot; pivot == 0 {
			return det
		}
		for i := k + 1; i < m; i++ {
			f := a[i*m+k] / pivot
			for j := k; j < m; j++ {
				a[i*m+j] -= float64(f * a[k*m+j])
			}
		}
	}
	return det
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (Det) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Flops counts M³ operations for each matrix. This is more than an elimination takes: about M³/3 products and as many
// subtractions.
func (Det) Flops(in, out []ir.Type) dim.Dim {
	return in[0].Elems().Mul(in[0].Shape[in[0].Rank()-1])
}

func importDet(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Det{}, c.Arg(0))}, nil
}
