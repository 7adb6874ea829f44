package launch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var pointwise = []entry{
	computes(pointwiseRegion),
}

func pointwiseRegion(_ op.Pointwise, n *ir.Node) ([]kernels.Launch, error) {
	return pointwiseMap(pointwiseName(regionNames(n)), n, func(*kernels.Emitter, *ir.Value, func() []*kernel.Value) *kernel.Value { return nil })
}

// operandElement returns an element of a, an operand of a pointwise node, if the kernel computes a itself. It returns
// nil if a is in memory. The function `at` returns the index, on each axis, of the element of the result that needs
// it.
type operandElement func(e *kernels.Emitter, a *ir.Value, at func() []*kernel.Value) *kernel.Value

func pointwiseMap(name string, n *ir.Node, operand operandElement) ([]kernels.Launch, error) {
	return one(kernels.MapLanes(name, n.Results[0].Type.Shape, pointwiseLanes(n), func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		for k, v := range elements(e, n, i, at, operand) {
			e.Write(n.Results[k]).Set(i, v)
		}
	}))
}

// pointwiseLanes returns the number of adjacent elements that a thread computes for each result of a pointwise node.
func pointwiseLanes(n *ir.Node) int {
	y := n.Results[0].Type
	size := 16
	for _, v := range slices.Concat(n.Args, n.Results) {
		if sameShape(v.Type.Shape, y.Shape) {
			size = min(size, max(1, v.Type.DType.Size()))
		}
	}
	return kernels.LanesOf(y.Elems(), size, len(n.Blocks[0].Nodes))
}

// elements computes an element of each result of a pointwise node. i is the element's index in row-major order, and
// indices holds its index on each axis; nil indices are computed from i. The function `operand` returns the
// elements of operands that are not in memory.
func elements(e *kernels.Emitter, n *ir.Node, i *kernel.Value, indices []*kernel.Value, operand operandElement) []*kernel.Value {
	shape, in := n.Results[0].Type.Shape, make([]*kernel.Value, len(n.Args))
	index := func() []*kernel.Value {
		if indices == nil {
			indices = e.Unflatten(i, shape)
		}
		return indices
	}
	for k, a := range n.Args {
		switch v := operand(e, a, index); {
		case v != nil:
			in[k] = v
		case sameShape(a.Type.Shape, shape):
			in[k] = e.Read(a).Get(i)
		default:
			x := e.Read(a)
			in[k] = x.Get(x.BroadcastOffset(index()))
		}
	}
	return region(e, n.Blocks[0], in)
}

func sameShape(a, b []dim.Dim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

func region(e *kernels.Emitter, b *ir.Block, in []*kernel.Value) []*kernel.Value {
	values := map[*ir.Value]*kernel.Value{}
	for i, p := range b.Params {
		values[p] = in[i]
	}
	narrow := narrowed(b)
	for _, n := range b.Nodes {
		v, err := element(e, n, values, narrow[n])
		if err != nil {
			e.Fail("%s: %w", n.Text(), err)
		}
		values[n.Results[0]] = v
	}
	out := make([]*kernel.Value, len(b.Results))
	for i, r := range b.Results {
		out[i] = values[r]
	}
	return out
}

// narrowed returns the nodes that may be computed with the error of [op.Narrow]. The result of such a node affects
// only f16 and bf16 results of b. It affects them only through products, conversions to floats, and sums without
// constants, because other operators might enlarge a relative error.
func narrowed(b *ir.Block) map[*ir.Node]bool {
	exact := map[*ir.Value]bool{}
	for _, r := range b.Results {
		exact[r] = r.Type.DType != ir.F16 && r.Type.DType != ir.BF16
	}
	narrow := map[*ir.Node]bool{}
	for _, n := range slices.Backward(b.Nodes) {
		keeps := false
		switch n.Op.(type) {
		case op.Mul, op.Cast:
			keeps = n.Results[0].Type.DType.IsFloat()
		case op.Add:
			keeps = !slices.ContainsFunc(n.Args, func(a *ir.Value) bool { _, ok := a.ConstValue(); return ok })
		}
		for _, a := range n.Args {
			if a != nil && (!keeps || exact[n.Results[0]]) {
				exact[a] = true
			}
		}
		narrow[n] = !exact[n.Results[0]]
	}
	return narrow
}

// element computes the result of node n of a region. If narrow is true, the result may have the error of
// [op.Narrow].
func element(e *kernels.Emitter, n *ir.Node, values map[*ir.Value]*kernel.Value, narrow bool) (*kernel.Value, error) {
	if t, ok := n.Results[0].ConstValue(); ok {
		return number(e, t)
	}
	o, ok := n.Op.(op.Scalar)
	if !ok {
		return nil, errors.New("it has no formula")
	}
	args := make([]*kernel.Value, len(n.Args))
	for i, a := range n.Args {
		if a != nil {
			args[i] = values[a]
		}
	}
	if o, ok := n.Op.(op.Narrow); ok && narrow && args[0].Type.DType == ir.F32 {
		if v := o.Narrow(e.Builder, args); v != nil {
			return v, nil
		}
	}
	v := o.Scalar(e.Builder, n.Results[0].Type.DType, args)
	if v == nil {
		return nil, fmt.Errorf("it has no formula for %v", n.ArgTypes())
	}
	return v, nil
}

func number(e *kernels.Emitter, t *ir.Tensor) (*kernel.Value, error) {
	d, ok := kernels.Arithmetic(t.DType)
	switch {
	case !ok:
		return nil, fmt.Errorf("a kernel does not compute with %s", t.DType)
	case d == ir.Bool:
		return e.Bool(t.Bool(0)), nil
	case d.IsFloat():
		return e.Float(d, t.Float(0)), nil
	}
	return e.Whole(d, t.Int(0)), nil
}
