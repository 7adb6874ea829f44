package nn

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// MatMul returns the matrix product over the last two axes. The other axes broadcast. A vector v is treated as one
// row, and a vector w as one column.
func (v Value) MatMul(w Value) Value { return one(op.MatMul{}, v, v.operand(w)) }

// Dot returns the dot product of two vectors, a scalar.
func (v Value) Dot(w Value) Value {
	if v.Rank() != 1 || w.Rank() != 1 {
		fail("%s and %s are not vectors", v.typ(), w.typ())
	}
	return v.MatMul(w)
}

// Outer returns the outer product of two vectors, a matrix.
func (v Value) Outer(w Value) Value {
	if v.Rank() != 1 || w.Rank() != 1 {
		fail("%s and %s are not vectors", v.typ(), w.typ())
	}
	return v.Unsqueeze(1).Mul(w.Unsqueeze(0))
}

// Cross returns the cross products of vectors along an axis, whose extent is 3.
func (v Value) Cross(w Value, axis int) Value {
	axis = v.axis(axis)
	if !v.Dim(axis).Equal(3) {
		fail("axis %d has extent %s, not 3", axis, v.Dim(axis))
	}
	return v.Roll(-1, axis).Mul(w.Roll(1, axis)).Sub(v.Roll(1, axis).Mul(w.Roll(-1, axis)))
}

// Norm returns the p-norm along axes, whose extents become 1. Without axes it returns the p-norm of all elements.
// With p = 0 it counts the elements that are not 0. p = +Inf gives the largest magnitude, and p = −Inf the smallest.
func (v Value) Norm(p float64, axes ...int) Value {
	switch {
	case p == 0:
		return v.NotEqual(0).Cast(v.DType()).Sum(axes...)
	case p == 1:
		return v.reduce(op.ReduceL1, axes)
	case p == 2:
		return v.reduce(op.ReduceL2, axes)
	case p > maxFinite:
		return v.MaxAbs(axes...)
	case p < -maxFinite:
		return v.Abs().Min(axes...)
	}
	return v.Abs().Pow(p).Sum(axes...).Pow(1 / p)
}

// Normalize divides v by its p-norm along an axis. A norm below epsilon is replaced by epsilon.
func (v Value) Normalize(p float64, axis int, epsilon float64) Value {
	return v.Div(v.Norm(p, axis).ClampMin(epsilon))
}

// Det returns the determinants of the matrices in the last two axes.
func (v Value) Det() Value { return one(op.Det{}, v) }

// Inverse returns the inverses of the matrices in the last two axes. A singular matrix gives
// infinities or NaN.
func (v Value) Inverse() Value { return one(op.Inverse{}, v) }

// Diagonal returns the main diagonal of the matrices in the last two axes. The extents of these axes must be
// static.
func (v Value) Diagonal() Value {
	if v.Rank() < 2 {
		fail("%s is not a matrix", v.typ())
	}
	rows, cols := v.Dim(-2).Int(), v.Dim(-1).Int()
	n := min(rows, cols)
	flat := v.Flatten(-2, -1)
	return flat.Select(-1, Arange(n).Mul(cols+1))
}

// Trace returns the sum of the main diagonal of the matrices in the last two axes.
func (v Value) Trace() Value { return v.Diagonal().SumSqueezed(-1) }

// CosineSimilarity returns the cosine of the angle between two vectors along an axis, and removes the axis. Norms
// are clamped to at least epsilon.
func CosineSimilarity(x, y Value, axis int, epsilon float64) Value {
	lengths := x.Norm(2, axis).ClampMin(epsilon).Mul(y.Norm(2, axis).ClampMin(epsilon))
	return x.Mul(y).Sum(axis).Div(lengths).Squeeze(axis)
}

// PairwiseDistance returns the p-norm of x − y + epsilon along the last axis, and removes the axis.
func PairwiseDistance(x, y Value, p, epsilon float64) Value {
	return x.Sub(y).Add(epsilon).Norm(p, -1).Squeeze(-1)
}

// Einsum returns the sum of products that an equation such as "bij,bjk->bik" describes.
func Einsum(equation string, operands ...Value) Value {
	return imported("Einsum", map[string]any{"equation": equation}, operands...)[0]
}

// AddMM returns alpha·a·b + beta·c for matrices (torch.addmm).
func AddMM(c, a, b Value, alpha, beta float64) Value {
	return one(op.Gemm{Alpha: alpha, Beta: beta}, a, b, c)
}

// LU factors the square matrices in the last two axes, without pivoting. lower is a lower triangular matrix with
// ones on the diagonal, and upper is an upper triangular matrix. The extents of the two axes must be static. A
// pivot of 0 gives infinities or NaN.
func LU(v Value) (lower, upper Value) {
	n := v.Dim(-1).Int()
	upper, lower = v, Eye(n).Cast(v.DType()).Expand(shapeOf(v)...)
	for k := range n {
		row := upper.Narrow(-2, k, 1)
		factor := upper.Narrow(-1, k, 1).Div(row.Narrow(-1, k, 1))
		factor = factor.Mul(Arange(n).Greater(k).Cast(v.DType()).Unsqueeze(1))
		upper = upper.Sub(factor.MatMul(row))
		lower = lower.Add(factor.MatMul(Arange(n).Equal(k).Cast(v.DType()).Unsqueeze(0)))
	}
	return lower, upper
}

// QR factors the matrices in the last two axes with modified Gram–Schmidt. q is an orthogonal matrix, and r is an
// upper triangular matrix. The number of columns must be static, and not above the number of rows. Linearly
// dependent columns may give NaN.
func QR(v Value) (q, r Value) {
	n := v.Dim(-1).Int()
	var columns, rows []Value
	rest := v
	for k := range n {
		c := rest.Narrow(-1, k, 1)
		c = c.Div(c.Norm(2, -2))
		row := c.T().MatMul(rest)
		row = row.Mul(Arange(n).GreaterEqual(k).Cast(v.DType()))
		rest = rest.Sub(c.MatMul(row))
		columns, rows = append(columns, c), append(rows, row)
	}
	return Concat(-1, columns...), Concat(-2, rows...)
}

// maxFinite is a bound of finite p: a p-norm with a larger p is computed as if p were infinite.
const maxFinite = 1e300

func matrixOf(rows, cols int, at func(r, c int) float64) Value {
	t := ir.NewTensor(F32, rows, cols)
	for i := range t.Len() {
		t.SetFloat(i, at(i/cols, i%cols))
	}
	return constant(t)
}
