package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// MatMul is the product of matrices a, [batch…,M,K], and b, [batch…,K,N], of one
// element type, their batches broadcast (ONNX MatMul). An operand of rank 1 is a
// row before, or a column after, the other, and its axis of extent 1 is not in
// the result. Integers wrap.
type MatMul struct{}

// Infer gives [batch…,M,N].
func (MatMul) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	m, err := matrices(in[0], in[1])
	if err != nil {
		return nil, err
	}
	shape := m.batch
	if in[0].Rank() > 1 {
		shape = append(shape, m.m)
	}
	if in[1].Rank() > 1 {
		shape = append(shape, m.n)
	}
	return []ir.Type{ir.TensorOf(in[0].DType, shape...)}, nil
}

// factors is what a product of matrices has of extents.
type factors struct {
	batch   []ir.Dim
	m, n, k ir.Dim
	a, b    []ir.Dim // the operands' shapes, at least rank 2
}

// matrices returns the extents of a product of a and b.
func matrices(a, b ir.Type) (p factors, err error) {
	if a.Rank() == 0 || b.Rank() == 0 {
		return p, fmt.Errorf("a product of %s and %s", a, b)
	}
	p.a, p.b = a.Shape, b.Shape
	if a.Rank() == 1 {
		p.a = []ir.Dim{ir.Const(1), a.Shape[0]}
	}
	if b.Rank() == 1 {
		p.b = []ir.Dim{b.Shape[0], ir.Const(1)}
	}
	i, j := len(p.a), len(p.b)
	p.m, p.k, p.n = p.a[i-2], p.a[i-1], p.b[j-1]
	if err := same(p.k, p.b[j-2], "inner dimensions"); err != nil {
		return p, err
	}
	p.batch, err = broadcastShape([]ir.Type{ir.TensorOf(a.DType, p.a[:i-2]...), ir.TensorOf(b.DType, p.b[:j-2]...)})
	return p, err
}

// each calls visit for every product of a static batch: its number, the elements
// that its factors begin at, and their extents.
func (p factors) each(visit func(i, atA, atB, m, k, n int)) {
	batch, _ := ir.Ints(p.batch)
	a, _ := ir.Ints(p.a)
	b, _ := ir.Ints(p.b)
	walkA, walkB := newIndex(batch, a[:len(a)-2]), newIndex(batch, b[:len(b)-2])
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	for i := range lenOf(batch) {
		visit(i, walkA.Offset*m*k, walkB.Offset*k*n, m, k, n)
		walkA.Next()
		walkB.Next()
	}
}

// Eval sums in float64, or in wrapping integers.
func (op MatMul) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	p, err := matrices(in[0].Type(), in[1].Type())
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(in[0].DType, shape...)
	p.each(func(i, atA, atB, m, k, n int) {
		evalProduct(y, i*m*n, in[0], atA, k, 1, in[1], atB, n, 1, m, n, k)
	})
	return []*ir.Tensor{y}, nil
}

// evalProduct stores the product of two matrices, given by the number of their
// first element and the strides of their axes, at element y0 of y.
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

// Flops counts two operations for each product.
func (MatMul) Flops(in, out []ir.Type) ir.Dim {
	p, err := matrices(in[0], in[1])
	if err != nil {
		return ir.Dim{}
	}
	return out[0].Elems().Mul(p.k).Mul(ir.Const(2))
}

// Grad is g·bᵀ of a and aᵀ·g of b, where g is the result's, summed over what was
// broadcast.
func (MatMul) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	x, y := n.Arg(0), n.Arg(1)
	p, err := matrices(x.Type, y.Type)
	if err != nil {
		ir.FailWith(err)
	}
	c := calculus{b}
	g := reshape(b, of[0], slices.Concat(p.batch, []ir.Dim{p.m, p.n})...)
	a2, b2 := reshape(b, x, p.a...), reshape(b, y, p.b...)
	grads := make([]*ir.Value, 2)
	if want[0] {
		grads[0] = reshape(b, c.fit(b.Node(MatMul{}, g, swapLast(b, b2)), a2), x.Type.Shape...)
	}
	switch {
	case want[1] && len(p.b) == 2 && len(p.a) > 2: // one product of all rows rather than a sum of products
		rows := ir.Product(append(slices.Clone(p.batch), p.m)...)
		all, top := reshape(b, expand(b, a2, slices.Concat(p.batch, p.a[len(p.a)-2:])...), rows, p.k), reshape(b, g, rows, p.n)
		grads[1] = reshape(b, b.Node(MatMul{}, swapLast(b, all), top), y.Type.Shape...)
	case want[1]:
		grads[1] = reshape(b, c.fit(b.Node(MatMul{}, swapLast(b, a2), g), b2), y.Type.Shape...)
	}
	return grads
}

// swapLast appends x with its last two axes exchanged.
func swapLast(b *ir.Builder, x *ir.Value) *ir.Value {
	perm := make([]int, x.Type.Rank())
	for i := range perm {
		perm[i] = i
	}
	i := len(perm)
	perm[i-1], perm[i-2] = i-2, i-1
	return transpose(b, x, perm...)
}

// Lower puts b of f32 into panels. For other types it sums products along an axis
// of their own.
func (op MatMul) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, y := n.Arg(0), n.Arg(1)
	p, err := matrices(x.Type, y.Type)
	if err != nil {
		ir.FailWith(err)
	}
	x, y = reshape(b, x, p.a...), reshape(b, y, p.b...)
	var product *ir.Value
	if x.Type.DType == ir.F32 {
		product = matMulPanels(b, x, b.Node(PackPanels{}, y), p.n, p.batch, nil)
	} else {
		one, r := ir.Const(1), len(p.batch)+2
		x = reshape(b, x, append(p.a[:len(p.a):len(p.a)], one)...)
		y = reshape(b, y, append(p.b[:len(p.b)-2:len(p.b)-2], one, p.k, p.n)...)
		product = b.Node(Reduce{Kind: ReduceSum, Axes: []int{r - 1}}, b.Node(Mul{}, x, y))
	}
	return []*ir.Value{reshape(b, product, n.Results[0].Type.Shape...)}
}

// matMulPanels appends the product of matrices a and of panels of n columns,
// their batches broadcast to batch, and a bias of n elements, unless it is nil.
func matMulPanels(b *ir.Builder, a, panels *ir.Value, n ir.Dim, batch []ir.Dim, bias *ir.Value) *ir.Value {
	matrix, packed := a.Type.Shape, panels.Type.Shape
	i, j := len(matrix)-2, len(packed)-3
	one := ir.Const(1)
	switch {
	case ir.Product(packed[:j]...).Equal(one):
		panels = reshape(b, panels, packed[j:]...)
	case ir.Product(matrix[:i]...).Equal(one):
		a = reshape(b, a, matrix[i:]...)
		panels = expand(b, panels, slices.Concat(batch, packed[j:])...)
	default:
		a = expand(b, a, slices.Concat(batch, matrix[i:])...)
		panels = expand(b, panels, slices.Concat(batch, packed[j:])...)
	}
	if bias != nil {
		bias = blockVector(b, bias)
	}
	y := b.Node(MatMulPanels{N: n}, a, panels, bias)
	return reshape(b, y, slices.Concat(batch, []ir.Dim{matrix[i], n})...)
}

// importMatMul reads MatMul.
func importMatMul(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(MatMul{}, c.Arg(0), c.Arg(1))}, nil
}

// IsStatistic reports false: there are no statistics.
func (MatMul) IsStatistic(int) bool { return false }
