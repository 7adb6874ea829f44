package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Indices returns the operand of n that holds indices or lengths, and the operator that checks them before the kernel
// runs. The check only reports an index out of range: the kernel stays inside of its memory even without the check.
// ok is false for nodes without such an operand.
func Indices(n *ir.Node) (operand int, check op.CheckIndex, ok bool) {
	fromEnd := func(axis int) op.CheckIndex {
		return op.CheckIndex{Count: n.Args[0].Type.Shape[axis], FromEnd: true}
	}
	lengths := func(axis int) op.CheckIndex {
		return op.CheckIndex{Count: n.Args[0].Type.Shape[axis].Add(dim.Const(1)), What: "sequence length", Things: "possible lengths"}
	}
	switch o := n.Op.(type) {
	case op.Gather:
		return 1, fromEnd(o.Axis), true
	case op.GatherElements:
		return 1, fromEnd(o.Axis), true
	case op.GatherND:
		return 1, fromEnd(o.BatchDims), true
	case op.GRUSteps:
		return gruLens, lengths(0), n.Arg(gruLens) != nil
	case op.ReverseSequence:
		time, _ := o.Axes()
		return 1, lengths(time), true
	case op.RNNSteps, op.LSTMSteps:
		return 2, lengths(0), n.Arg(2) != nil
	case op.RoiAlign:
		return 2, ImageIndex(n.Args[0]), true
	case op.ScatterElements:
		return 1, fromEnd(o.Axis), true
	case op.ScatterND:
		return 1, fromEnd(0), true
	}
	return 0, op.CheckIndex{}, false
}

// ImageIndex returns the check of indices that select one of the N images of x, [N,C,H,W].
func ImageIndex(x *ir.Value) op.CheckIndex {
	return op.CheckIndex{Count: x.Type.Shape[0], What: "batch index", Things: "images"}
}

// Extents returns equations between extents. The kernels of node n work only if the equations hold. Equations that
// cannot be proven are checked before the kernels run.
func Extents(n *ir.Node) []ir.CheckDim {
	switch o := n.Op.(type) {
	case op.Col2Im:
		return foldExtents(o, n)
	case op.PadIndex:
		return []ir.CheckDim{readable(o.Extent, n)}
	case op.ResizeOutside:
		return []ir.CheckDim{readable(o.Table.In, n)}
	case op.ResizeTable:
		return []ir.CheckDim{readable(o.In, n)}
	}
	return nil
}

// readable returns the condition that an axis has elements to read. The elements of n's first result are indices of
// the axis. If there are any, `extent`, the extent of the axis, must be at least 1.
func readable(extent dim.Dim, n *ir.Node) ir.CheckDim {
	some := n.Results[0].Type.Elems().Min(dim.Const(1))
	return ir.CheckDim{A: extent, B: extent.Max(some), What: "axis"}
}
