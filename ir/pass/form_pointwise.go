package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// formPointwise turns every elementwise node into a pointwise node with a region. If all elements of a constant are
// equal and the kernel accepts it as a number, the constant moves into the region. If it is known only at run time
// whether an extent of an operand is 1, formPointwise first repeats the operand to the shape of the result.
func formPointwise(ctx *Context, m *ir.Module) (changed bool, err error) {
	inRegion := regionNodes(m)
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		o, ok := n.Op.(op.Elementwise)
		if !ok || inRegion[n] || slices.ContainsFunc(n.Args, isText) {
			return nil
		}
		inside := ctx.scalarOperands(n)
		var args []*ir.Value
		for i, a := range n.Args {
			if !inside[i] && a != nil && !slices.Contains(args, a) {
				args = append(args, a)
			}
		}
		if len(args) == 0 {
			return nil
		}
		runs := repeatOperands(b, args, n.Results[0].Type)
		region := b.Block(func(b *ir.Builder) {
			params := make([]*ir.Value, len(args))
			for i, a := range args {
				params[i] = b.Param("p", ir.TensorOf(a.Type.DType))
			}
			operands := make([]*ir.Value, len(n.Args))
			for i, a := range n.Args {
				switch {
				case inside[i]:
					t, _ := a.ConstValue()
					operands[i] = b.Const(single(t))
				case a != nil:
					operands[i] = params[slices.Index(args, a)]
				}
			}
			b.Return(b.Node(o, operands...))
		})
		return b.NodeBlocks(op.Pointwise{}, []*ir.Block{region}, runs...)
	})
}

func isText(v *ir.Value) bool { return v != nil && v.Type.DType == ir.String }

// scalarOperands reports which operands of n the kernel takes as a number. Such an operand is a constant whose
// elements are all equal, and the kernel must accept it. At least one operand is not taken as a number, but read
// element by element.
func (c *Context) scalarOperands(n *ir.Node) []bool {
	inside := make([]bool, len(n.Args))
	read := c.Target.Reads(n)
	for i, a := range n.Args {
		t, ok := a.ConstValue()
		inside[i] = ok && t.Stored() == 1 && !slices.Contains(read, a)
	}
	return inside
}

// repeatOperands returns the operands, with elements repeated where that is needed. Afterwards each extent of an
// operand is known to be 1 or the extent of the result. Along every axis, at least one operand has the extent of the
// result.
func repeatOperands(b *ir.Builder, args []*ir.Value, out ir.Type) []*ir.Value {
	runs := make([]*ir.Value, len(args))
	covered := make([]bool, out.Rank()) // axes along which some operand has the extent
	for i, a := range args {
		if t, ok := a.ConstValue(); ok && t.Stored() == 1 {
			a = b.Const(single(t))
		}
		runs[i] = repeatUnproven(b, a, out)
		lead := out.Rank() - runs[i].Type.Rank()
		for k, d := range runs[i].Type.Shape {
			covered[lead+k] = covered[lead+k] || d.Equal(out.Shape[lead+k])
		}
	}
	for k, c := range covered {
		if !c && !out.Shape[k].Equal(dim.Const(1)) {
			runs[0] = repeatTo(b, runs[0], out.Shape)
			break
		}
	}
	if len(covered) > 0 && !covered[0] {
		missing := out.Rank() - runs[0].Type.Rank()
		runs[0] = reshaped(b, runs[0], append(slices.Repeat(dim.Consts(1), missing), runs[0].Type.Shape...)...)
	}
	return runs
}

// repeatUnproven returns v if each extent of v is known to be 1 or equal to the extent of `out`. Otherwise it appends
// checks of the unknown extents at run time, and a copy of v that is repeated to the shape of `out`.
func repeatUnproven(b *ir.Builder, v *ir.Value, out ir.Type) *ir.Value {
	lead, proven := out.Rank()-v.Type.Rank(), true
	one := dim.Const(1)
	for k, d := range v.Type.Shape {
		if to := out.Shape[lead+k]; !d.Equal(one) && !d.Equal(to) {
			proven = false
			b.Nodes(ir.CheckDim{A: d, B: to, One: true, What: fmt.Sprintf("axis %d: %s broadcast to %s", lead+k, d, to)})
		}
	}
	if proven {
		return v
	}
	return repeatTo(b, v, out.Shape)
}

// repeatTo appends a copy of v, repeated to the given shape. It reads an axis with stride 0 if the axis has extent
// 1 at run time.
func repeatTo(b *ir.Builder, v *ir.Value, shape []dim.Dim) *ir.Value {
	one := dim.Const(1)
	lead := len(shape) - v.Type.Rank()
	strides := make([]dim.Dim, len(shape))
	for k, s := range op.RowMajor(v.Type.Shape) {
		switch d := v.Type.Shape[k]; {
		case d.Equal(one):
		case d.Equal(shape[lead+k]):
			strides[lead+k] = s
		default:
			strides[lead+k] = d.Sub(one).Min(one).Mul(s)
		}
	}
	return b.Node(op.StridedCopy{Shape: slices.Clone(shape), Strides: strides}, v)
}
