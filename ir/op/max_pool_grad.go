package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MaxPoolGrad is the gradient of the operand x of a [MaxPool], given the gradient g of its result. Each element of
// g is added at one position of its window: at the first maximum, or at the first NaN.
type MaxPoolGrad struct {
	Window
	// Blocked says that the operands are channel-blocked.
	Blocked bool
}

// Infer returns the type of x. It returns an error unless g has the type of the pool's result.
func (op MaxPoolGrad) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	y, err := op.inferPool(in[:1], op.Blocked, floats{})
	if err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	if !in[1].Equal(y[0]) {
		return nil, fmt.Errorf("gradient %s, %s expected", in[1], y[0])
	}
	return in[:1], nil
}

// Eval returns the gradient of x, in x's shape. It adds in float64.
func (op MaxPoolGrad) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	values, sums := NumbersOf(x), make([]float64, x.Len())
	_, err := evalPool(MaxPool(op), op.Window, x, op.Blocked, func(_ *ir.Tensor, i int, c Cells, cell func(int) int) {
		if best := firstGreatest(values, c, cell); best >= 0 {
			sums[best] += in[1].Float(i)
		}
	})
	y := ir.NewTensor(x.DType, x.Shape...)
	for i, v := range sums {
		y.SetFloat(i, v)
	}
	return []*ir.Tensor{y}, err
}

// Flops counts a comparison for each cell of each window.
func (op MaxPoolGrad) Flops(in, _ []ir.Type) dim.Dim {
	return in[1].Elems().Mul(dim.Const(LenOf(op.Kernel)))
}

// Grad returns, for g, the element of dy at the maximum of each window. For x it returns zero.
func (op MaxPoolGrad) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	x, s := n.Arg(0), dy[0]
	grads := make([]*ir.Value, 2)
	if want[1] {
		at, inside := op.places(b, x)
		grads[1] = calculus{b}.where(inside, b.Node(Gather{}, ReshapeTo(b, s, x.Type.Elems()), at))
	}
	return grads
}

// places appends the index of the maximum of each window, counted over all elements of x. inside is false for a
// window that has only padding; its index is 0.
func (op MaxPoolGrad) places(b *ir.Builder, x *ir.Value) (at, inside *ir.Value) {
	level := fill(b, ir.Scalar(x.Type.DType, 0), x.Type.Shape...)
	inside = b.Node(Equal{}, b.Node(MaxPool{Window: op.Window}, level), b.Scalar(x.Type.DType, 0))
	return b.Node(Where{}, inside, maxPoolIndices(b, x, op.Window, false), b.Scalar(ir.I64, 0)), inside
}

// IsWhole marks the operator as [Whole], because its lowering has a node for each cell of a window.
func (MaxPoolGrad) IsWhole() {}

// HasKernel reports whether every target has a kernel for the operator. x must be f32 over one or two spatial axes.
func (op MaxPoolGrad) HasKernel(x ir.Type) bool {
	return x.DType == ir.F32 && len(op.Kernel) >= 1 && len(op.Kernel) <= MaxSpatial
}

// Lower replaces the node by zeros, to which it adds g at the indices of the maxima. It returns nil if every target
// has a kernel for the operator.
func (op MaxPoolGrad) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, g := n.Arg(0), n.Arg(1)
	if op.HasKernel(x.Type) {
		return nil
	}
	at, inside := op.places(b, x)
	g = calculus{b}.where(inside, g)
	zeros := fill(b, ir.Scalar(x.Type.DType, 0), x.Type.Elems())
	sum := b.Node(ScatterElements{Reduction: "add"}, zeros, ReshapeTo(b, at, g.Type.Elems()), ReshapeTo(b, g, g.Type.Elems()))
	return []*ir.Value{ReshapeTo(b, sum, x.Type.Shape...)}
}
