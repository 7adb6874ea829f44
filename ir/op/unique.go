package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// SortRows is the i64 list of the numbers of a matrix's rows in ascending order of
// the rows, which compare by their first element that differs; of equal ones the one
// before comes first. NaN is greater than everything.
type SortRows struct{}

// Unique keeps one of equal rows of a matrix: it gives those that stay, where each of
// them is first, which of them each row is equal to, and how many rows are equal to
// each (ONNX Unique). They are in ascending order when Sorted, else in the order of
// their first places. It binds Count to how many stay. The second operand is the
// order of the rows, as [SortRows] gives it.
type Unique struct {
	Sorted bool
	Count  string
}

// Infer gives the order a number for each row.
func (SortRows) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if d := in[0].DType; in[0].Rank() != 2 || wide(d) != d || d == ir.Bool {
		return nil, fmt.Errorf("%s where a matrix is expected", in[0])
	}
	return []ir.Type{ir.TensorOf(ir.I64, in[0].Shape[0])}, nil
}

// Infer gives the results Count rows.
func (op Unique) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	order, err := SortRows{}.Infer(in[:1])
	if err != nil {
		return nil, err
	}
	if !in[1].Equal(order[0]) {
		return nil, fmt.Errorf("the order is %s, %s expected", in[1], order[0])
	}
	count := ir.Sym(op.Count)
	list := ir.TensorOf(ir.I64, count)
	return []ir.Type{ir.TensorOf(in[0].DType, count, in[0].Shape[1]), list, order[0], list}, nil
}

// compareRows compares rows i and j of x.
func compareRows(x *ir.Tensor, i, j int) int {
	width := x.Shape[1]
	for k := range width {
		if order := totalOrder(x, i*width+k, j*width+k); order != 0 {
			return order
		}
	}
	return 0
}

// Eval sorts.
func (SortRows) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	order := allAxes(in[0].Shape[0])
	slices.SortStableFunc(order, func(i, j int) int { return compareRows(in[0], i, j) })
	y := ir.NewTensor(ir.I64, len(order))
	for i, row := range order {
		y.SetInt(i, int64(row))
	}
	return []*ir.Tensor{y}, nil
}

// Eval compares each row with those found before it.
func (op Unique) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	rows, width := x.Shape[0], x.Shape[1]
	var first []int
	for i := range rows {
		if !slices.ContainsFunc(first, func(j int) bool { return compareRows(x, i, j) == 0 }) {
			first = append(first, i)
		}
	}
	if op.Sorted {
		slices.SortFunc(first, func(i, j int) int { return compareRows(x, i, j) })
	}
	y, places := ir.NewTensor(x.DType, len(first), width), ir.NewTensor(ir.I64, len(first))
	inverse, counts := ir.NewTensor(ir.I64, rows), ir.NewTensor(ir.I64, len(first))
	for k, i := range first {
		places.SetInt(k, int64(i))
		for j := range width {
			y.Copy(k*width+j, x, i*width+j)
		}
	}
	for i := range rows {
		k := slices.IndexFunc(first, func(j int) bool { return compareRows(x, i, j) == 0 })
		inverse.SetInt(i, int64(k))
		counts.SetInt(k, counts.Int(k)+1)
	}
	return []*ir.Tensor{y, places, inverse, counts}, nil
}

// Binds returns Count.
func (op Unique) Binds() []string { return []string{op.Count} }

// BindValues returns the number of rows that stay.
func (op Unique) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[0])}, nil
}

// Measure is cpu.CountUnique.
func (op Unique) Measure(n *ir.Node) ([]ir.Call, error) {
	return []ir.Call{{Kernel: "CountUnique", Args: []any{ir.In(0), ir.In(1), n.Arg(0).Type.Shape[1]}}}, nil
}

// Call is cpu.SortRows.
func (SortRows) Call(n *ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "SortRows", Args: []any{ir.Out(0), ir.In(0), n.Arg(0).Type.Shape[1]}}, nil
}

// Call is cpu.Unique.
func (op Unique) Call(n *ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "Unique", Args: []any{
		ir.Out(0), ir.Out(1), ir.Out(2), ir.Out(3), ir.In(0), ir.In(1), n.Arg(0).Type.Shape[1], op.Sorted,
	}}, nil
}

// importUnique reads Unique, of the slices of an axis or, without one, of the
// elements. Elements that kernels only store are compared in a wider type.
func importUnique(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	dtype, sorted := x.Type.DType, c.Int("sorted", 1) != 0
	perm, rest := []int(nil), []ir.Dim(nil)
	if c.Has("axis") {
		axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
		if err != nil {
			return nil, err
		}
		perm = allAxes(x.Type.Rank())
		perm[0], perm[axis] = axis, 0
		x = transpose(b, x, perm...)
		rest = x.Type.Shape[1:]
		x = reshape(b, x, x.Type.Shape[0], ir.Product(rest...))
	} else {
		x = reshape(b, x, x.Type.Elems(), ir.Const(1))
	}
	if x = convert(b, x, wide(dtype)); dtype == ir.Bool {
		x = convert(b, x, ir.U8)
	}
	count := b.Symbol("unique")
	out := b.Nodes(Unique{Sorted: sorted, Count: count}, x, b.Node(SortRows{}, x))
	y := convert(b, out[0], dtype)
	if perm != nil {
		y = reshape(b, y, append([]ir.Dim{ir.Sym(count)}, rest...)...)
		y = transpose(b, y, perm...)
	} else {
		y = reshape(b, y, ir.Sym(count))
	}
	return []*ir.Value{y, out[1], out[2], out[3]}[:max(1, min(c.NumResults(), 4))], nil
}
