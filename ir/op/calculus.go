package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// calculus builds expressions for gradients. Its operations broadcast. A constant gets the element type of the
// value that it is combined with.
type calculus struct{ *ir.Builder }

func (c calculus) add(x, y *ir.Value) *ir.Value { return c.Node(Add{}, x, y) }
func (c calculus) sub(x, y *ir.Value) *ir.Value { return c.Node(Sub{}, x, y) }
func (c calculus) mul(x, y *ir.Value) *ir.Value { return c.Node(Mul{}, x, y) }
func (c calculus) div(x, y *ir.Value) *ir.Value { return c.Node(Div{}, x, y) }
func (c calculus) neg(x *ir.Value) *ir.Value    { return c.Node(Neg{}, x) }
func (c calculus) square(x *ir.Value) *ir.Value { return c.mul(x, x) }

func (c calculus) num(x *ir.Value, v float64) *ir.Value { return c.Scalar(x.Type.DType, v) }

func (c calculus) plus(x *ir.Value, v float64) *ir.Value  { return c.add(x, c.num(x, v)) }
func (c calculus) times(x *ir.Value, v float64) *ir.Value { return c.mul(x, c.num(x, v)) }

func (c calculus) over(v float64, x *ir.Value) *ir.Value { return c.div(c.num(x, v), x) }
func (c calculus) from(v float64, x *ir.Value) *ir.Value { return c.sub(c.num(x, v), x) }

func (c calculus) where(condition, x *ir.Value) *ir.Value {
	return c.Node(Where{}, condition, x, c.num(x, 0))
}

func (c calculus) negative(x *ir.Value) *ir.Value { return c.Node(Less{}, x, c.num(x, 0)) }
func (c calculus) positive(x *ir.Value) *ir.Value { return c.Node(Greater{}, x, c.num(x, 0)) }
func (c calculus) between(x *ir.Value, lo, hi float64) *ir.Value {
	return c.Node(And{}, c.Node(GreaterOrEqual{}, x, c.num(x, lo)), c.Node(LessOrEqual{}, x, c.num(x, hi)))
}

// choose returns g where the comparison of x and y is true, g/2 where x and y are equal, and 0 elsewhere.
func (c calculus) choose(x, y *ir.Value, comparison ir.Op, g *ir.Value) *ir.Value {
	return c.Node(Where{}, c.Node(Equal{}, x, y), c.times(g, 0.5), c.where(c.Node(comparison, x, y), g))
}

// sum returns x summed over axes, which are in ascending order. If keep is true, these axes get extent 1; otherwise
// they are removed.
func (c calculus) sum(x *ir.Value, keep bool, axes ...int) *ir.Value {
	if len(axes) == 0 {
		return x
	}
	return c.Node(Reduce{Kind: ReduceSum, Axes: axes, KeepDims: keep}, x)
}

func (c calculus) extent(x *ir.Value, d dim.Dim) *ir.Value {
	if n, ok := d.Int(); ok {
		return c.num(x, float64(n))
	}
	return ReshapeTo(c.Builder, ConvertTo(c.Builder, c.Dims(d), x.Type.DType))
}

// mean returns the mean along axes, whose extents become 1.
func (c calculus) mean(x *ir.Value, axes ...int) *ir.Value {
	if len(axes) == 0 {
		return x
	}
	return c.Node(Reduce{Kind: ReduceMean, Axes: axes, KeepDims: true}, x)
}

// fit returns g summed over the axes along which an operator broadcasts `operand`. g has the shape of the operator's
// result, and the sum has the shape of `operand`.
func (c calculus) fit(g *ir.Value, operand *ir.Value) *ir.Value {
	shape := operand.Type.Shape
	lead := g.Type.Rank() - len(shape)
	var axes []int
	for i, d := range g.Type.Shape {
		switch {
		case i < lead:
			axes = append(axes, i)
		case d.Equal(shape[i-lead]):
		case shape[i-lead].Equal(dim.Const(1)):
			axes = append(axes, i)
		default: // whether it was broadcast is known only at run time
			return c.Node(SumTo{Shape: shape}, g)
		}
	}
	return ReshapeTo(c.Builder, c.sum(g, false, axes...), shape...)
}

// chainRule returns the gradient of the operand x of an elementwise operator: dy times the operator's derivative at
// x. slope returns this derivative. Its argument y is the operator's result for x.
func chainRule(b *ir.Builder, n *ir.Node, dy []*ir.Value, slope func(c calculus, x, y *ir.Value) *ir.Value) []*ir.Value {
	return []*ir.Value{b.Node(Mul{}, dy[0], slope(calculus{b}, n.Arg(0), n.Results[0]))}
}

// partials returns the gradients of the operands of an elementwise operator with broadcasting. slopes[i] returns the
// gradient of operand i as if the operand had the shape of the result. partials sums it over the axes along which the
// operand was broadcast. It calls slopes[i] only if want[i] is true.
func partials(b *ir.Builder, n *ir.Node, want []bool, slopes ...func(c calculus) *ir.Value) []*ir.Value {
	c := calculus{b}
	grads := make([]*ir.Value, len(n.Args))
	for i, f := range slopes {
		if i < len(want) && want[i] {
			g := f(c)
			grads[i] = c.fit(ExpandTo(b, g, n.Results[0].Type.Shape...), n.Arg(i))
		}
	}
	return grads
}

func otherAxes(rank int, axes ...int) []int {
	var others []int
	for i := range rank {
		if !slices.Contains(axes, i) {
			others = append(others, i)
		}
	}
	return others
}
