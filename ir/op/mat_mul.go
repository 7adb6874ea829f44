package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MatMul is the product of matrices a, [batch…,M,K], and b, [batch…,K,N], of one element type (ONNX MatMul).
// Batches broadcast. If a has rank 1, it is one row, and the result has no axis M. If b has rank 1, it is one
// column, and the result has no axis N. Integers wrap.
type MatMul struct {
	Wide bool // the result of narrow floats is f32
}

// Infer returns [batch…,M,N], without M if a has rank 1, and without N if b has rank 1.
func (op MatMul) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	m, err := Matrices(in[0], in[1])
	if err != nil {
		return nil, err
	}
	shape := m.Batch
	if in[0].Rank() > 1 {
		shape = append(shape, m.M)
	}
	if in[1].Rank() > 1 {
		shape = append(shape, m.N)
	}
	return []ir.Type{ir.TensorOf(sumsOf(in[0].DType, op.Wide), shape...)}, nil
}

// factors holds the extents of a batch of matrix products. Batch is the common batch of the operands. A is [M,K]
// and B is [K,N] in each product.
type factors struct {
	Batch   []dim.Dim
	M, N, K dim.Dim
	A, B    []dim.Dim // shapes of the operands, with at least two axes
}

// Matrices returns the extents of the product of a and b. It returns an error if a and b cannot be multiplied.
func Matrices(a, b ir.Type) (p factors, err error) {
	if a.Rank() == 0 || b.Rank() == 0 {
		return p, fmt.Errorf("a product of %s and %s", a, b)
	}
	p.A, p.B = a.Shape, b.Shape
	if a.Rank() == 1 {
		p.A = []dim.Dim{dim.Const(1), a.Shape[0]}
	}
	if b.Rank() == 1 {
		p.B = []dim.Dim{b.Shape[0], dim.Const(1)}
	}
	i, j := len(p.A), len(p.B)
	p.M, p.K, p.N = p.A[i-2], p.A[i-1], p.B[j-1]
	if err := Same(p.K, p.B[j-2], "inner dimensions"); err != nil {
		return p, err
	}
	p.Batch, err = broadcastShape([]ir.Type{ir.TensorOf(a.DType, p.A[:i-2]...), ir.TensorOf(b.DType, p.B[:j-2]...)})
	return p, err
}

// each calls visit for every product of a batch whose extents are static. i is the index of the product. atA and
// atB are the offsets of its matrices, [m,k] and [k,n], in the operands.
func (p factors) each(visit func(i, atA, atB, m, k, n int)) {
	batch, _ := dim.Ints(p.Batch)
	a, _ := dim.Ints(p.A)
	b, _ := dim.Ints(p.B)
	walkA, walkB := newIndex(batch, a[:len(a)-2]), newIndex(batch, b[:len(b)-2])
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	for i := range LenOf(batch) {
		visit(i, walkA.Offset*m*k, walkB.Offset*k*n, m, k, n)
		walkA.Next()
		walkB.Next()
	}
}

// Eval returns the products. It sums in float64, or in wrapping integers.
func (op MatMul) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	p, err := Matrices(in[0].Type(), in[1].Type())
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	p.each(func(i, atA, atB, m, k, n int) {
		evalProduct(y, i*m*n, in[0], atA, k, 1, in[1], atB, n, 1, m, n, k)
	})
	return []*ir.Tensor{y}, nil
}

// evalProduct computes the product of a matrix [m,k] and a matrix [k,n], and stores it at element y0 of y in
// row-major order. The matrices are parts of a and b. Their first elements have the indices a0 and b0. aRow and
// bRow are the distances between rows, and aCol and bCol the distances between columns, in elements.
func evalProduct(y *ir.Tensor, y0 int, a *ir.Tensor, a0, aRow, aCol int, b *ir.Tensor, b0, bRow, bCol int, m, n, k int) {
	if y.DType.IsFloat() {
		row, column := make([]float64, k), make([]float64, n*k)
		for j := range n * k {
			column[j] = b.Float(b0 + j%k*bRow + j/k*bCol)
		}
		for i := range m {
			for l := range row {
				row[l] = a.Float(a0 + i*aRow + l*aCol)
			}
			for j := range n {
				sum := 0.0
				for l, v := range column[j*k:][:k] {
					sum += float64(row[l] * v)
				}
				y.SetFloat(y0+i*n+j, sum)
			}
		}
		return
	}
	for i := range m * n {
		sum := int64(0)
		for l := range k {
			sum += a.Int(a0+i/n*aRow+l*aCol) * b.Int(b0+l*bRow+i%n*bCol)
		}
		y.SetInt(y0+i, sum)
	}
}

// Flops counts a multiplication and an addition for each product of an element of a and one of b.
func (MatMul) Flops(in, out []ir.Type) dim.Dim {
	p, err := Matrices(in[0], in[1])
	if err != nil {
		return dim.Dim{}
	}
	return out[0].Elems().Mul(p.K).Mul(dim.Const(2))
}

// Grad returns dy·bᵀ for a and aᵀ·dy for b, summed over broadcast axes.
func (MatMul) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	x, y := n.Arg(0), n.Arg(1)
	p, err := Matrices(x.Type, y.Type)
	if err != nil {
		ir.FailWith(err)
	}
	c := calculus{b}
	g := ReshapeTo(b, dy[0], slices.Concat(p.Batch, []dim.Dim{p.M, p.N})...)
	a2, b2 := ReshapeTo(b, x, p.A...), ReshapeTo(b, y, p.B...)
	grads := make([]*ir.Value, 2)
	if want[0] {
		grads[0] = ReshapeTo(b, c.fit(b.Node(MatMul{}, g, swapLast(b, b2)), a2), x.Type.Shape...)
	}
	switch {
	case want[1] && len(p.B) == 2 && len(p.A) > 2: // a single product over all rows instead of a sum of products
		rows := dim.Product(append(slices.Clone(p.Batch), p.M)...)
		all, top := ReshapeTo(b, ExpandTo(b, a2, slices.Concat(p.Batch, p.A[len(p.A)-2:])...), rows, p.K), ReshapeTo(b, g, rows, p.N)
		grads[1] = ReshapeTo(b, b.Node(MatMul{}, swapLast(b, all), top), y.Type.Shape...)
	case want[1]:
		grads[1] = ReshapeTo(b, c.fit(b.Node(MatMul{}, swapLast(b, a2), g), b2), y.Type.Shape...)
	}
	return grads
}

func swapLast(b *ir.Builder, x *ir.Value) *ir.Value {
	perm := make([]int, x.Type.Rank())
	for i := range perm {
		perm[i] = i
	}
	i := len(perm)
	perm[i-1], perm[i-2] = i-2, i-1
	return TransposeBy(b, x, perm...)
}

// Lower computes operands of narrow types, such as f16, in a wider type. It keeps an f32 product, because every
// target has a kernel for it. For other types, it multiplies the elements with broadcasting, and sums the products
// along K.
func (op MatMul) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, y := n.Arg(0), n.Arg(1)
	if x.Type.DType == ir.F32 {
		return nil
	}
	p, err := Matrices(x.Type, y.Type)
	if err != nil {
		ir.FailWith(err)
	}
	x, y = ReshapeTo(b, x, p.A...), ReshapeTo(b, y, p.B...)
	one, r := dim.Const(1), len(p.Batch)+2
	x = ReshapeTo(b, x, append(p.A[:len(p.A):len(p.A)], one)...)
	y = ReshapeTo(b, y, append(p.B[:len(p.B)-2:len(p.B)-2], one, p.K, p.N)...)
	product := b.Node(Reduce{Kind: ReduceSum, Axes: []int{r - 1}}, b.Node(Mul{}, x, y))
	return []*ir.Value{ReshapeTo(b, product, n.Results[0].Type.Shape...)}
}

func importMatMul(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(MatMul{}, c.Arg(0), c.Arg(1))}, nil
}

// IsStatistic returns false: no operand is a running statistic.
func (MatMul) IsStatistic(int) bool { return false }

// Factors returns 2: both operands are multiplied.
func (MatMul) Factors() int { return 2 }

// Widened returns the product with a result of f32.
func (MatMul) Widened() ir.Op { return MatMul{Wide: true} }
