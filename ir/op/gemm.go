package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Gemm computes Alpha·A·B + Beta·C for matrices of one element type (ONNX Gemm). A is [M,K], or [K,M] with TransA.
// B is [K,N], or [N,K] with TransB. The optional C broadcasts to [M,N]. For integers, sums wrap, and Alpha and Beta
// are whole numbers.
type Gemm struct {
	Alpha, Beta    float64
	TransA, TransB bool
}

// Infer returns [M,N].
func (op Gemm) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	a, b := in[0], in[1]
	if a.Rank() != 2 || b.Rank() != 2 {
		return nil, fmt.Errorf("a product of %s and %s, matrices expected", a, b)
	}
	if d := a.DType; d.IsInt() && (op.Alpha != float64(int32(op.Alpha)) || op.Beta != float64(int32(op.Beta))) {
		return nil, fmt.Errorf("alpha %v and beta %v for %s", op.Alpha, op.Beta, d)
	}
	m, k := a.Shape[0], a.Shape[1]
	if op.TransA {
		m, k = k, m
	}
	l, n := b.Shape[0], b.Shape[1]
	if op.TransB {
		l, n = n, l
	}
	if err := Same(k, l, "inner dimensions"); err != nil {
		return nil, err
	}
	y := ir.TensorOf(a.DType, m, n)
	if len(in) > 2 && !in[2].IsZero() {
		if err := broadcastsTo(in[2], y); err != nil {
			return nil, err
		}
	}
	return []ir.Type{y}, nil
}

func broadcastsTo(t, y ir.Type) error {
	extra := y.Rank() - t.Rank()
	if extra < 0 {
		return fmt.Errorf("%s does not broadcast to %s", t, y)
	}
	for i, d := range t.Shape {
		if d.Equal(dim.Const(1)) {
			continue
		}
		if err := Same(d, y.Shape[extra+i], fmt.Sprintf("axis %d of %s broadcast to %s", i, t, y)); err != nil {
			return err
		}
	}
	return nil
}

// Eval returns Alpha·A·B + Beta·C, [M,N]. It sums in float64, or in wrapping integers.
func (op Gemm) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	a, b := in[0], in[1]
	m, n, k := shape[0], shape[1], a.Shape[1]
	aRow, aCol, bRow, bCol := k, 1, n, 1
	if op.TransA {
		k = a.Shape[0]
		aRow, aCol = 1, m
	}
	if op.TransB {
		bRow, bCol = 1, k
	}
	sums := ir.NewTensor(wider(a.DType), shape...)
	evalProduct(sums, 0, a, 0, aRow, aCol, b, 0, bRow, bCol, m, n, k)
	y := ir.NewTensor(a.DType, shape...)
	if len(in) < 3 || in[2] == nil {
		in = []*ir.Tensor{a, b, ir.NewTensor(a.DType)}
	}
	c := newIndex(shape, in[2].Shape)
	for i := range y.Len() {
		if a.DType.IsFloat() {
			y.SetFloat(i, float64(op.Alpha*sums.Float(i))+float64(op.Beta*in[2].Float(c.Offset)))
		} else {
			y.SetInt(i, int64(op.Alpha)*sums.Int(i)+int64(op.Beta)*in[2].Int(c.Offset))
		}
		c.Next()
	}
	return []*ir.Tensor{y}, nil
}

// wider returns the element type in which the evaluator adds up products of elements of type d.
func wider(d ir.DType) ir.DType {
	if d.IsFloat() {
		return ir.F64
	}
	return ir.I64
}

// Flops counts a multiplication and an addition for each product of an element of A and one of B.
func (op Gemm) Flops(in, out []ir.Type) dim.Dim {
	k := in[0].Shape[1]
	if op.TransA {
		k = in[0].Shape[0]
	}
	return out[0].Elems().Mul(k).Mul(dim.Const(2))
}

// Grad returns Alpha·dy·Bᵀ for A, [M,K], and Alpha·Aᵀ·dy for B, [K,N]. With TransA, the gradient of A is transposed
// to [K,M]. With TransB, the gradient of B is transposed to [N,K]. For C it returns Beta·dy, summed over broadcast
// axes.
func (op Gemm) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, x, y, g := calculus{b}, n.Arg(0), n.Arg(1), dy[0]
	if op.TransA {
		x = swapLast(b, x)
	}
	if op.TransB {
		y = swapLast(b, y)
	}
	product := func(a, b *ir.Value, transposed bool) *ir.Value {
		p := c.Node(MatMul{}, a, b)
		if transposed {
			p = swapLast(c.Builder, p)
		}
		return times(c.Builder, p, op.Alpha)
	}
	grads := make([]*ir.Value, len(n.Args))
	if want[0] {
		grads[0] = product(g, swapLast(b, y), op.TransA)
	}
	if want[1] {
		grads[1] = product(swapLast(b, x), g, op.TransB)
	}
	if len(want) > 2 && want[2] {
		grads[2] = times(b, c.fit(g, n.Arg(2)), op.Beta)
	}
	return grads
}

// Lower replaces the node by a matrix product. It multiplies the product by Alpha unless Alpha is 1, and adds
// Beta·C if C is present.
func (op Gemm) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	a, m := n.Arg(0), n.Arg(1)
	if op.TransA {
		a = TransposeBy(b, a, 1, 0)
	}
	if op.TransB {
		m = TransposeBy(b, m, 1, 0)
	}
	return []*ir.Value{op.Finish(b, b.Node(MatMul{}, a, m), n.Arg(2))}
}

// Finish appends Alpha·product + Beta·c. c may be nil.
func (op Gemm) Finish(b *ir.Builder, product, c *ir.Value) *ir.Value {
	y, d := product, product.Type.DType
	if op.Alpha != 1 {
		y = b.Node(Mul{}, y, b.Scalar(d, op.Alpha))
	}
	if c != nil {
		if op.Beta != 1 {
			c = b.Node(Mul{}, c, b.Scalar(d, op.Beta))
		}
		y = b.Node(Add{}, y, c)
	}
	return y
}

// IsRow reports whether t has `width` elements along its last axis, and extent 1 along all other axes.
func IsRow(t ir.Type, width dim.Dim) bool {
	return t.Rank() > 0 && t.Shape[t.Rank()-1].Equal(width) && t.Elems().Equal(width)
}

func importGemm(c ir.Importer) ([]*ir.Value, error) {
	op := Gemm{
		Alpha:  c.Float("alpha", 1),
		Beta:   c.Float("beta", 1),
		TransA: c.Int("transA", 0) != 0,
		TransB: c.Int("transB", 0) != 0,
	}
	y := c.Builder().Node(op, c.Arg(0), c.Arg(1), c.Arg(2))
	if c.Opset() < 7 && c.Int("broadcast", 0) == 0 {
		if d := c.Arg(2); d == nil || d.Type.Rank() != 2 {
			return nil, fmt.Errorf("operand C does not have the shape of the result, and broadcast is not set")
		}
	}
	return []*ir.Value{y}, nil
}

// IsStatistic returns false: no operand is a running statistic.
func (Gemm) IsStatistic(int) bool { return false }
