package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// foldOneHot replaces a product of one-hot rows and a table of weights by a gather of rows of the table. If an
// elementwise operator combines the gathered rows with weights, foldOneHot computes the operator on the table,
// before the gather.
func foldOneHot(ctx *Context, m *ir.Module) (changed bool, err error) {
	if ctx.Strict {
		return false, nil
	}
	known := fixed{}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		var y *ir.Value
		switch n.Op.(type) {
		case op.MatMul:
			y = chosenRows(b, known, n)
		case op.Elementwise:
			y = onTable(b, known, n)
		}
		if y == nil {
			return nil
		}
		return []*ir.Value{y}
	})
}

// maxTable is the maximum number of elements of a table. [foldOneHot] leaves products with larger tables as they are.
// The new table has twice as many elements and two more rows.
const maxTable = 1 << 20

// chosenRows returns a gather that equals n, a product of one-hot rows and a table of weights. It returns nil if n
// is not such a product. off and on are the values of the one-hot rows, and sum is the sum of the table's rows. A
// new table consists of
//   - (on − off)·row + off·sum for each row of the table
//   - off·sum, for indices past the end
//   - off·sum, for indices before the beginning
//   - (on − off)·row + off·sum for each row again, for negative indices
func chosenRows(b *ir.Builder, known fixed, n *ir.Node) *ir.Value {
	rows, table := n.Args[0], n.Args[1]
	if r, _, ok := madeBy[op.Reshape](rows); ok && trailing(r.Args[0].Type.Shape, rows.Type.Shape) > 0 {
		rows = r.Args[0]
	}
	hot, o, ok := madeBy[op.OneHot](rows)
	if !ok || o.Axis != rows.Type.Rank()-1 || !known.has(table) || table.Type.Rank() != 2 {
		return nil
	}
	depth, okDepth := o.Depth.Int()
	elems, okElems := table.Type.Elems().Int()
	if !known.has(hot.Args[1]) || !okDepth || !okElems || elems > maxTable {
		return nil
	}
	value := func(i int) *ir.Value {
		return b.Node(op.Slice{Starts: dim.Consts(i), Shape: dim.Consts(1), Steps: []int{1}}, hot.Args[1])
	}
	off, on, indices := value(0), value(1), hot.Args[0]
	sum := b.Node(op.Mul{}, b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{0}, KeepDims: true}, table), off)
	table = b.Node(op.Add{}, b.Node(op.Mul{}, table, b.Node(op.Sub{}, on, off)), sum)
	table = b.Node(op.Concat{}, table, sum, sum, table)
	number := func(i int) *ir.Value { return b.Const(ir.IntTensor(indices.Type.DType, int64(i))) }
	indices = b.Node(op.Min{}, b.Node(op.Max{}, indices, number(-depth-1)), number(depth))
	return reshaped(b, b.Node(op.Gather{}, table, indices), n.Results[0].Type.Shape...)
}

// onTable returns a replacement for n, an elementwise node. One operand of n is gathered rows of a table. Each
// other operand is a vector or a scalar that depends on weights and constants only. The replacement computes n on
// the table, and gathers the rows of the result. onTable returns nil if n is not such a node, if something else
// reads the table or the gathered rows, or if the table is itself a weight or constant of the module.
func onTable(b *ir.Builder, known fixed, n *ir.Node) *ir.Value {
	y := n.Results[0]
	at := slices.IndexFunc(n.Args, func(v *ir.Value) bool {
		_, o, ok := madeBy[op.Gather](v)
		return ok && o.Axis == 0 && v.Type.Equal(ir.TensorOf(v.Type.DType, y.Type.Shape...))
	})
	if at < 0 {
		return nil
	}
	gather := n.Args[at].Def
	table := gather.Args[0]
	if !known.has(table) || table.Type.Rank() != 2 || b.Uses(table) != 1 || b.Uses(n.Args[at]) != 1 || isLeaf(table.Def) {
		return nil
	}
	args := slices.Clone(n.Args)
	for i, a := range args {
		row := a != nil && (a.Type.Rank() == 0 || a.Type.Rank() == 1)
		if i != at && !(row && known.has(a)) {
			return nil
		}
	}
	args[at] = table
	whole := b.Node(n.Op, args...)
	return b.Node(op.Gather{}, whole, gather.Args[1])
}
