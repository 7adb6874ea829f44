package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// formPointwise turns every elementwise node into a pointwise node with a region. A constant whose
// elements are equal moves into the region as a number if the kernel accepts one. If only the
// values of symbols show whether an operand's extent is 1, the operand is repeated first.
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

// scalarOperands reports, for each operand of n, whether the kernel takes it as a number: a
// constant of equal elements that the kernel accepts. At least one operand is read element by
// element.
func (c *Context) scalarOperands(n *ir.Node) []bool {
	inside := make([]bool, len(n.Args))
	read := c.Target.Reads(n)
	for i, a := range n.Args {
		t, ok := a.ConstValue()
		inside[i] = ok && t.Stored() == 1 && !slices.Contains(read, a)
	}
	return inside
}

// repeatOperands repeats operands so that along every axis each has the extent of the result or 1,
// and at least one has the extent of the result.
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

// repeatUnproven repeats v to the shape of `out` if an extent of v is not known to be 1 or the
// extent of `out`. It appends a check that the extent is one of the two.
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

// repeatTo appends a copy of v repeated to the given shape. An axis whose extent is 1 at run time
// is read with stride 0.
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
