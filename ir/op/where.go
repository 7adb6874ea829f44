package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// Where returns x where cond is true, and y elsewhere, with broadcasting. cond is bool. x and y have one element
// type, which may be any type.
type Where struct{ elementwise }

// Infer returns the element type of x and y, with the common shape of the three operands.
func (Where) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	if in[0].DType != ir.Bool {
		return nil, fmt.Errorf("the condition is %s, booleans expected", in[0].DType)
	}
	if err := sameDType(in[1:]); err != nil {
		return nil, err
	}
	shape, err := broadcastShape(in)
	if err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(in[1].DType, shape...)}, nil
}

// Overwrites returns the indices of x and y. The result may reuse the memory of one of them.
func (Where) Overwrites() []int { return []int{1, 2} }

// Eval returns x where cond is true, and y elsewhere, in the common shape of the three operands.
func (Where) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape, walks, err := evalBroadcast(in)
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(in[1].DType, shape...)
	for i := range y.Len() {
		chosen := 2
		if in[0].Bool(walks[0].Offset) {
			chosen = 1
		}
		y.Copy(i, in[chosen], walks[chosen].Offset)
		for _, w := range walks {
			w.Next()
		}
	}
	return []*ir.Tensor{y}, nil
}

// Scalar returns x if cond is true, and y otherwise, for one element of each operand.
func (Where) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Select(x[0], x[1], x[2])
}

// InferElems returns the element of x where cond is known to be true, and the element of y where it is known to be
// false. Where cond is unknown, x and y must have the same element. If they do not, InferElems returns nil.
func (Where) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		switch n, ok := e[0].Num.Int(); {
		case !ok:
			return e[1], e[1].Den == e[2].Den && e[1].Num.Same(e[2].Num)
		case n != 0:
			return e[1], true
		}
		return e[2], true
	})
}

// Lower expands strings to the shape of the result, see [lowerTexts].
func (Where) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerTexts(b, n) }

// Grad returns, for x, dy where cond is true and 0 elsewhere. For y it returns dy where cond is
// false and 0 elsewhere. Both are summed over broadcast axes.
func (Where) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	condition, g := n.Arg(0), dy[0]
	return partials(b, n, want, nil,
		func(c calculus) *ir.Value { return c.where(condition, g) },
		func(c calculus) *ir.Value { return c.Node(Where{}, condition, c.num(g, 0), g) },
	)
}

func importWhere(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Where{}, c.Arg(0), c.Arg(1), c.Arg(2))}, nil
}
