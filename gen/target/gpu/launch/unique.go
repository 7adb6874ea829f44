package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// unique has the operators whose results have an extent that depends on the data. A first kernel determines the
// extent. The host then reads it, and other kernels compute the results.
var unique = []entry{
	computes(nonZero),
	computes(uniqueRows),
}

// numbering returns `numbers`, a vector of `length` elements, and the launches that compute it. Element i is the
// number of indices k in [0, i] for which the function `counts` returns true.
func numbering(name string, length dim.Dim, counts func(e *kernels.Emitter, i *kernel.Value) *kernel.Value) (numbers *kernels.Scratch, launches []kernels.Launch, err error) {
	numbers = &kernels.Scratch{DType: ir.I32, Shape: []dim.Dim{length}}
	launches, err = kernels.PrefixSums(name, kernels.Scan{
		Rows: dim.Const(1), Length: length, DType: ir.I32,
		Term: func(e *kernels.Emitter, _, i *kernel.Value) *kernel.Value {
			return e.Convert(ir.I32, counts(e, i))
		},
		Store: func(e *kernels.Emitter, _, i, sum *kernel.Value) { e.Scratch(numbers).Set(i, sum) },
	})
	return numbers, launches, err
}

// counted returns a launch that stores one number: the last of the `length` elements of `numbers`, or 0 if length is
// 0. The host reads this number as the value of the node's symbol.
func counted(name string, numbers *kernels.Scratch, length dim.Dim) (kernels.Launch, error) {
	count := &kernels.Scratch{DType: ir.I32, Shape: dim.Consts(1)}
	l, err := kernels.Map(name, dim.Consts(1), func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		n := e.Dim(length)
		last := e.If(e.Gt(n, e.Int(0)), func() []*kernel.Value {
			return []*kernel.Value{e.Scratch(numbers).Get(e.Sub(n, e.Int(1)))}
		}, func() []*kernel.Value { return []*kernel.Value{e.Int(0)} })
		e.Scratch(count).Set(i, last[0])
	})
	l.Binds = count
	return l, err
}

// nonZero returns the coordinates of the elements that are not zero. A first kernel numbers these elements. A second
// kernel has a thread for each element. The thread stores the element's coordinates.
func nonZero(_ op.NonZero, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	if x.Type.DType == ir.String {
		return nil, errText
	}
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	counts := func(e *kernels.Emitter, i *kernel.Value) *kernel.Value {
		return e.Convert(ir.Bool, e.Convert(d, e.Read(x).Get(i)))
	}
	numbers, launches, err := numbering("non_zero_numbers", x.Type.Elems(), counts)
	if err != nil {
		return nil, err
	}
	count, err := counted("non_zero_count", numbers, x.Type.Elems())
	if err != nil {
		return nil, err
	}
	store, err := kernels.Map("non_zero", x.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		e.Do(counts(e, i), func() {
			column := e.Sub(e.Scratch(numbers).Get(i), e.Int(1))
			for axis, v := range at {
				out := e.Write(y)
				out.Set(out.Offset([]*kernel.Value{e.Int(axis), column}), e.Convert(ir.I64, v))
			}
		})
	})
	return append(launches, count, store), err
}

// uniqueRows finds the different rows of a matrix. Equal rows are adjacent in sorted order, and form a group.
// uniqueRows numbers the groups.
func uniqueRows(o op.Unique, n *ir.Node) ([]kernels.Launch, error) {
	x, order := n.Args[0], n.Args[1]
	width, err := widthOf(x)
	if err != nil {
		return nil, err
	}
	rows := x.Type.Shape[0]
	u := &groups{order: order, rows: rows, count: n.Results[0].Type.Shape[0]}
	u.starts = &kernels.Scratch{DType: ir.I32, Shape: []dim.Dim{rows}}
	var launches []kernels.Launch
	u.numbers, launches, err = numbering("unique_groups", rows, func(e *kernels.Emitter, i *kernel.Value) *kernel.Value {
		return e.If(e.Eq(i, e.Int(0)), func() []*kernel.Value { return []*kernel.Value{e.Bool(true)} }, func() []*kernel.Value {
			compared := compareRows(e, x, e.Int(width), u.row(e, e.Sub(i, e.Int(1))), u.row(e, i))
			return []*kernel.Value{e.Ne(compared, e.Int(0))}
		})[0]
	})
	if err != nil {
		return nil, err
	}
	count, err := counted("unique_count", u.numbers, rows)
	if err != nil {
		return nil, err
	}
	starts, err := kernels.Map("unique_starts", []dim.Dim{rows}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		e.Do(u.isStart(e, i), func() { e.Scratch(u.starts).Set(u.group(e, i), i) })
	})
	if err != nil {
		return nil, err
	}
	launches = append(launches, count, starts)
	if !o.Sorted {
		more, err := u.numberByPlace()
		if err != nil {
			return nil, err
		}
		launches = append(launches, more...)
	}
	describe, err := u.describe(n.Results[1], n.Results[2], n.Results[3])
	if err != nil {
		return nil, err
	}
	y, first := n.Results[0], n.Results[1]
	gather, err := kernels.Map("unique_rows", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		in := e.Read(x)
		row := place(e, e.Write(first).Get(at[0]), rows)
		e.Write(y).SetRaw(i, in.Raw(in.Offset([]*kernel.Value{row, at[1]})))
	})
	return append(launches, describe, gather), err
}

type groups struct {
	order       *ir.Value // the rows in ascending order
	rows, count dim.Dim   // numbers of rows and groups
	// numbers counts the groups up to each place of the order, and starts holds the first place of each group.
	numbers, starts *kernels.Scratch
	// ranks has for each row the number of groups whose first row is this row or before it. It is nil if the groups
	// stay in ascending order.
	ranks *kernels.Scratch
}

func (u *groups) row(e *kernels.Emitter, at *kernel.Value) *kernel.Value {
	return place(e, e.Read(u.order).Get(at), u.rows)
}

func (u *groups) group(e *kernels.Emitter, at *kernel.Value) *kernel.Value {
	return e.Sub(e.Scratch(u.numbers).Get(at), e.Int(1))
}

func (u *groups) isStart(e *kernels.Emitter, at *kernel.Value) *kernel.Value {
	before := e.If(e.Gt(at, e.Int(0)), func() []*kernel.Value { return []*kernel.Value{u.group(e, e.Sub(at, e.Int(1)))} },
		func() []*kernel.Value { return []*kernel.Value{e.Int(-1)} })[0]
	return e.Ne(before, u.group(e, at))
}

// numberByPlace numbers the groups in the order of their first rows.
func (u *groups) numberByPlace() ([]kernels.Launch, error) {
	begins := &kernels.Scratch{DType: ir.I32, Shape: []dim.Dim{u.rows}} // 1 for the first row of a group
	mark, err := kernels.Map("unique_first", []dim.Dim{u.rows}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		e.Scratch(begins).Set(u.row(e, i), e.Convert(ir.I32, u.isStart(e, i)))
	})
	if err != nil {
		return nil, err
	}
	ranks, launches, err := numbering("unique_ranks", u.rows, func(e *kernels.Emitter, i *kernel.Value) *kernel.Value {
		return e.Ne(e.Scratch(begins).Get(i), e.Int(0))
	})
	u.ranks = ranks
	return append([]kernels.Launch{mark}, launches...), err
}

func (u *groups) describe(first, inverse, counts *ir.Value) (kernels.Launch, error) {
	return kernels.Map("unique", []dim.Dim{u.rows}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		whole := func(v *kernel.Value) *kernel.Value { return e.Convert(ir.I64, v) }
		group := u.group(e, i)
		start := e.Scratch(u.starts).Get(group)
		top, number := u.row(e, start), group
		if u.ranks != nil {
			rank := e.Sub(e.Scratch(u.ranks).Get(top), e.Int(1))
			number = e.Max(e.Int(0), e.Min(rank, e.Sub(e.Dim(u.count), e.Int(1)))) // inside, whatever the order is
		}
		e.Write(inverse).Set(u.row(e, i), whole(number))
		e.Do(e.Eq(start, i), func() {
			next := e.Add(group, e.Int(1))
			end := e.If(e.Lt(next, e.Dim(u.count)), func() []*kernel.Value { return []*kernel.Value{e.Scratch(u.starts).Get(next)} },
				func() []*kernel.Value { return []*kernel.Value{e.Dim(u.rows)} })[0]
			e.Write(first).Set(number, whole(top))
			e.Write(counts).Set(number, whole(e.Sub(end, start)))
		})
	})
}
