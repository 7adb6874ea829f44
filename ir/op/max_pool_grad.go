package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// MaxPoolGrad is the gradient of the operand x of a [MaxPool] from that of its result, g:
// each element of g is added where the first greatest element of its window stands, of a
// window with a NaN where the first of these does.
type MaxPoolGrad struct {
	Window
	// Blocked is set where the operands are channel-blocked.
	Blocked bool
}

// Infer gives the type of x.
func (op MaxPoolGrad) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
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

// Eval adds in float64.
func (op MaxPoolGrad) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	values, sums := numbersOf(x), make([]float64, x.Len())
	_, err := evalPool(MaxPool(op), op.Window, x, op.Blocked, func(_ *ir.Tensor, i int, c cells, cell func(int) int) {
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

// Flops counts a comparison for each cell of a window.
func (op MaxPoolGrad) Flops(in, _ []ir.Type) ir.Dim {
	return in[1].Elems().Mul(ir.Const(lenOf(op.Kernel)))
}

// Grad is of g what of the result's stands where the greatest elements of x do.
func (op MaxPoolGrad) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	x, s := n.Arg(0), of[0]
	grads := make([]*ir.Value, 2)
	if want[1] {
		at, inside := op.places(b, x)
		grads[1] = calculus{b}.where(inside, b.Node(Gather{}, reshape(b, s, x.Type.Elems()), at))
	}
	return grads
}

// places appends where the greatest elements of the windows stand, as numbers over all of
// x, and which windows have one: those of padding alone have none, and 0 for its place.
func (op MaxPoolGrad) places(b *ir.Builder, x *ir.Value) (at, inside *ir.Value) {
	level := fill(b, ir.Scalar(x.Type.DType, 0), x.Type.Shape...)
	inside = b.Node(Equal{}, b.Node(MaxPool{Window: op.Window}, level), b.Scalar(x.Type.DType, 0))
	return b.Node(Where{}, inside, maxPoolIndices(b, x, op.Window, false), b.Scalar(ir.I64, 0)), inside
}

// hasKernel reports whether there is a kernel for x: f32 over one or two spatial axes.
func (op MaxPoolGrad) hasKernel(x ir.Type) bool {
	return x.DType == ir.F32 && len(op.Kernel) >= 1 && len(op.Kernel) <= maxSpatial
}

// Lower adds at places that [ArgMax] gives what has no kernel.
func (op MaxPoolGrad) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, g := n.Arg(0), n.Arg(1)
	if op.hasKernel(x.Type) {
		return nil
	}
	at, inside := op.places(b, x)
	g = calculus{b}.where(inside, g)
	zeros := fill(b, ir.Scalar(x.Type.DType, 0), x.Type.Elems())
	sum := b.Node(ScatterElements{Reduction: "add"}, zeros, reshape(b, at, g.Type.Elems()), reshape(b, g, g.Type.Elems()))
	return []*ir.Value{reshape(b, sum, x.Type.Shape...)}
}

// Relayout takes blocked operands where x is blocked.
func (op MaxPoolGrad) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !op.hasKernel(n.Arg(0).Type) {
		return nil
	}
	g := l.Block(n.Arg(1))
	if g == nil {
		return nil
	}
	op.Blocked = true
	return b.Node(op, x, g)
}

// Call is cpu.MaxPoolGrad.
func (op MaxPoolGrad) Call(n *ir.Node) (ir.Call, error) {
	shape, err := op.poolShapeOf(n.Arg(0).Type, n.Arg(1).Type, op.Blocked)
	return ir.Call{Kernel: "MaxPoolGrad", Args: []any{ir.Out(0), ir.In(0), ir.In(1), shape}}, err
}
