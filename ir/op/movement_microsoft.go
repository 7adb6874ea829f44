package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importExpandDims(c ir.Importer) ([]*ir.Value, error) {
	axis, err := knownInt(c, 1, "axis")
	if err != nil {
		return nil, err
	}
	shape := c.Arg(0).Type.Shape
	if axis, err = fromFront(axis, len(shape)+1); err != nil {
		return nil, err
	}
	wider := append(append(append([]dim.Dim{}, shape[:axis]...), dim.Const(1)), shape[axis:]...)
	return []*ir.Value{ReshapeTo(c.Builder(), c.Arg(0), wider...)}, nil
}

func importTorchEmbedding(c ir.Importer) ([]*ir.Value, error) {
	b, table := c.Builder(), c.Arg(0)
	if table.Type.Rank() == 0 {
		return nil, fmt.Errorf("%s has no rows", table.Type)
	}
	return []*ir.Value{b.Node(Gather{}, table, checked(b, c.Arg(1), table.Type.Shape[0], "token", "rows"))}, nil
}

// importUnfoldTensor imports UnfoldTensor of com.microsoft. It takes runs of `size` adjacent elements along an
// axis. Each run starts `step` elements after the previous run. In the result, the axis has an index for each run,
// and a new last axis holds the elements of a run.
func importUnfoldTensor(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("dim", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	size, step := c.Int("size", 0), c.Int("step", 1)
	d := x.Type.Shape[axis]
	if n, ok := d.Int(); size < 1 || step < 1 || ok && size > n {
		return nil, fmt.Errorf("runs of %d elements, every %d, of an extent of %s", size, step, d)
	}
	from := RowMajor(x.Type.Shape)
	runs := StridedCopy{
		Shape:   append(append([]dim.Dim{}, x.Type.Shape...), dim.Const(size)),
		Strides: append(append([]dim.Dim{}, from...), from[axis]),
	}
	runs.Shape[axis] = d.Sub(dim.Const(size)).FloorDiv(dim.Const(step)).Add(dim.Const(1))
	runs.Strides[axis] = from[axis].Mul(dim.Const(step))
	return []*ir.Value{c.Builder().Node(runs, x)}, nil
}

func importRangeFromTo(c ir.Importer) ([]*ir.Value, error) {
	b, args := c.Builder(), make([]*ir.Value, 3)
	copy(args, argsOf(c))
	for i := range args {
		if t := c.Constant(i); t != nil && t.Len() == 1 {
			args[i] = b.Const(t.Reshape())
		}
	}
	if args[2] == nil && args[0] != nil {
		args[2] = b.Scalar(args[0].Type.DType, 1)
	}
	return importRange(withArgs(c, args...))
}

func importReduceSumInteger(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	wider, ok := map[ir.DType]ir.DType{ir.I8: ir.I32, ir.U8: ir.U32}[x.Type.DType]
	if !ok {
		return nil, fmt.Errorf("not defined for %s", x.Type.DType)
	}
	return importReduce(ReduceSum, 13)(withArgs(c, ConvertTo(b, x, wider)))
}

// importUniqueInOrder imports Unique of com.microsoft. The first result holds the distinct elements of a list, in
// the order of first occurrence. The second holds, for each element of the list, its index in the first result. The
// third counts each distinct element.
func importUniqueInOrder(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	rows := ConvertTo(b, ReshapeTo(b, x, x.Type.Elems(), dim.Const(1)), wide(x.Type.DType))
	count := b.Symbol("unique")
	out := b.Nodes(Unique{Count: count}, rows, b.Node(SortRows{}, rows))
	y := ReshapeTo(b, ConvertTo(b, out[0], x.Type.DType), dim.Sym(count))
	return []*ir.Value{y, out[2], out[3]}, nil
}
