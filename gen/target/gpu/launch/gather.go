package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var gather = []entry{
	computes(byteTable),
	computes(gatherAxis),
	computes(gatherElements),
	computes(gatherND),
	computes(oneHot),
}

// place converts an index of an axis to a position, an i32 from 0 to extent − 1. An index below 0
// counts from the end. An index out of range gives the nearest position.
func place(e *kernels.Emitter, index *kernel.Value, extent dim.Dim) *kernel.Value {
	count, zero := e.Convert(index.Type.DType, e.Dim(extent)), e.Whole(index.Type.DType, 0)
	index = e.Select(e.Lt(index, zero), e.Add(index, count), index)
	last := e.Sub(count, e.Whole(index.Type.DType, 1))
	return e.Convert(ir.I32, e.Max(zero, e.Min(last, index)))
}

func gatherAxis(o op.Gather, n *ir.Node) ([]kernels.Launch, error) {
	x, indices := n.Args[0], n.Args[1]
	shape := x.Type.Shape
	outer, inner := dim.Product(shape[:o.Axis]...), dim.Product(shape[o.Axis+1:]...)
	return gatherSlices("gather", n, outer, indices.Type.Elems(), shape[o.Axis], inner, false)
}

// gatherND is like [gatherAxis], for index tuples. It returns an error unless each index tuple has one coordinate.
func gatherND(o op.GatherND, n *ir.Node) ([]kernels.Launch, error) {
	x, indices := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	last := len(indices) - 1
	if !indices[last].Equal(dim.Const(1)) {
		return nil, errTuples
	}
	k := o.BatchDims
	return gatherSlices("gather_nd", n, dim.Product(x[:k]...), dim.Product(indices[k:last]...), x[k], dim.Product(x[k+1:]...), true)
}

// gatherSlices gathers slices of the middle axis of an operand [outer, extent, inner]. The result is [outer,
// picked, inner]. The indices are [outer, picked] if batched is true, and otherwise [picked].
func gatherSlices(name string, n *ir.Node, outer, picked, extent, inner dim.Dim, batched bool) ([]kernels.Launch, error) {
	x, indices, y := n.Args[0], n.Args[1], n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	return one(kernels.Map(name, []dim.Dim{outer, picked, inner}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		index := at[1]
		if batched {
			index = e.Add(e.Mul(at[0], e.Dim(picked)), index)
		}
		slice := e.Add(e.Mul(at[0], e.Dim(extent)), place(e, e.Read(indices).Get(index), extent))
		e.Write(y).SetRaw(i, e.Read(x).Raw(e.Add(e.Mul(slice, e.Dim(inner)), at[2])))
	}))
}

func gatherElements(o op.GatherElements, n *ir.Node) ([]kernels.Launch, error) {
	x, indices, y := n.Args[0], n.Args[1], n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	if !fits(indices.Type.Shape, x.Type.Shape, o.Axis) {
		return nil, errExtents
	}
	return one(kernels.Map("gather_elements", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		from := append([]*kernel.Value{}, at...)
		from[o.Axis] = place(e, e.Read(indices).Get(i), x.Type.Shape[o.Axis])
		in := e.Read(x)
		e.Write(y).SetRaw(i, in.Raw(in.Offset(from)))
	}))
}

// fits reports whether shape[i] is known to be at most array[i] for each i except axis.
func fits(shape, array []dim.Dim, axis int) bool {
	for i, d := range shape {
		if i != axis && !array[i].Sub(d).NonNegative() {
			return false
		}
	}
	return true
}

func oneHot(o op.OneHot, n *ir.Node) ([]kernels.Launch, error) {
	indices, values, y := n.Args[0], n.Args[1], n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	shape := indices.Type.Shape
	outer, inner := dim.Product(shape[:o.Axis]...), dim.Product(shape[o.Axis:]...)
	return one(kernels.Map("one_hot", []dim.Dim{outer, o.Depth, inner}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		index := e.Read(indices).Get(e.Add(e.Mul(at[0], e.Dim(inner)), at[2]))
		d := index.Type.DType
		here := e.Eq(index, e.Convert(d, at[1]))
		fromEnd := e.Eq(index, e.Convert(d, e.Sub(at[1], e.Dim(o.Depth))))
		e.Write(y).SetRaw(i, e.Read(values).Raw(e.Select(e.Or(here, fromEnd), e.Int(1), e.Int(0))))
	}))
}

func byteTable(_ op.ByteTable, n *ir.Node) ([]kernels.Launch, error) {
	x, table, y := n.Args[0], n.Args[1], n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	return one(kernels.Map("byte_table", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		code := e.And(e.Convert(ir.I32, e.Read(x).Get(i)), e.Int(255))
		e.Write(y).SetRaw(i, e.Read(table).Raw(code))
	}))
}
