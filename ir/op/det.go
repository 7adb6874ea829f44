package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Det is the determinant of each matrix of x, floats […,M,M] (ONNX Det). That of an
// empty matrix is 1.
type Det struct{}

// Infer drops the last two axes.
func (Det) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
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
	return []ir.Type{ir.TensorOf(in[0].DType, shape[:r-2]...)}, same(shape[r-2], shape[r-1], "rows and columns")
}

// Eval eliminates in float64.
func (Det) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	m := x.Shape[x.Rank()-1]
	y := ir.NewTensor(x.DType, x.Shape[:x.Rank()-2]...)
	for i := range y.Len() {
		y.SetFloat(i, determinant(pick(allAxes(m*m), func(k int) float64 { return x.Float(i*m*m + k) }), m))
	}
	return []*ir.Tensor{y}, nil
}

// Grad is the result's times y·(x⁻¹)ᵀ, of matrices that have an inverse.
func (Det) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c := calculus{b}
	shape := append(slices.Clone(of[0].Type.Shape), ir.Dims(1, 1)...)
	g := reshape(b, c.mul(of[0], n.Results[0]), shape...)
	return []*ir.Value{c.mul(g, swapLast(b, b.Node(Inverse{}, n.Arg(0))))}
}

// determinant returns that of a matrix of m rows, which it uses up.
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

// Lower computes narrow floats in f32.
func (Det) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Flops counts a multiplication and an addition for each third of a cube's cells.
func (Det) Flops(in, out []ir.Type) ir.Dim {
	return in[0].Elems().Mul(in[0].Shape[in[0].Rank()-1])
}

// Call is cpu.Det.
func (Det) Call(n *ir.Node) (ir.Call, error) {
	shape := n.Arg(0).Type.Shape
	m := shape[len(shape)-1]
	return ir.Call{Kernel: "Det", Args: []any{ir.Out(0), ir.In(0), ir.Scratch{DType: ir.F64, Len: m.Mul(m)}, m}}, nil
}

// importDet reads Det.
func importDet(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Det{}, c.Arg(0))}, nil
}
