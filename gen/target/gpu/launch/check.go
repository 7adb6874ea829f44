package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var check = []entry{
	computes(checkIndex),
}

// checkIndex returns the launch of a kernel that copies indices and reports the first index that is out of range. The
// kernel has one block of threads. With FromEnd, an index that counts from the end is copied as the index that counts
// from the start. Indices out of range are copied unchanged, because other kernels stay inside of an axis whatever
// the indices are.
func checkIndex(o op.CheckIndex, n *ir.Node) ([]kernels.Launch, error) {
	return one(kernels.Rows("check_index", dim.Const(1), n.Args[0].Type.Elems(), func(r *kernels.Row) {
		d := n.Args[0].Type.DType
		x, y := r.Read(n.Args[0]), r.Write(n.Results[0])
		first := r.Not(lastIndex(r, d, o.Count)) // counted from the end
		setFault(r, d, o.Count, func(i *kernel.Value) *kernel.Value {
			given := x.Get(i)
			index := given
			if o.FromEnd {
				fromEnd := r.And(r.Lt(given, r.Whole(d, 0)), r.Ge(given, first))
				index = r.Select(fromEnd, r.Add(given, r.Extent(d, o.Count)), given)
			}
			y.Set(i, index)
			return index
		})
	}))
}

// lastIndex returns the last index of an axis. If the integer type d cannot represent it, lastIndex returns the
// greatest number of d.
func lastIndex(r *kernels.Row, d ir.DType, extent dim.Dim) *kernel.Value {
	last := r.Sub(r.Extent(ir.I64, extent), r.Whole(ir.I64, 1))
	return r.Convert(d, r.Min(last, r.Whole(ir.I64, limitOf(d, true))))
}

// setFault makes a kernel report a fault if an index of the row is below 0 or is at least `extent`. The fault holds
// the value of the first such index. The function `index` returns index i of the row, of integer type d.
func setFault(r *kernels.Row, d ir.DType, extent dim.Dim, index func(i *kernel.Value) *kernel.Value) {
	last, zero := lastIndex(r, d, extent), r.Whole(d, 0)
	start := []*kernel.Value{r.Length, zero}
	first := r.Reduce(start, func(first []*kernel.Value, i *kernel.Value) []*kernel.Value {
		index := index(i)
		isFirst := r.And(r.Or(r.Lt(index, zero), r.Gt(index, last)), r.Lt(i, first[0]))
		return []*kernel.Value{r.Select(isFirst, i, first[0]), r.Select(isFirst, index, first[1])}
	}, func(a, b []*kernel.Value) []*kernel.Value {
		isFirst := r.Lt(a[0], b[0])
		return []*kernel.Value{r.Select(isFirst, a[0], b[0]), r.Select(isFirst, a[1], b[1])}
	})
	found := r.And(r.Eq(r.Thread(0), r.Int(0)), r.Lt(first[0], r.Length))
	r.Do(found, func() { r.SetFault(first[1]) })
}
