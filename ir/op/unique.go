package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SortRows returns the order of a matrix's rows: their i64 indices, sorted so that the rows are in ascending
// lexicographic order, ties by index. NaN is larger than every number.
type SortRows struct{}

// Unique removes duplicate rows of a matrix (ONNX Unique). The second operand is the order of the rows, from
// [SortRows]. There are four results:
//   - the distinct rows, in ascending order if Sorted is set, and otherwise in the order of first occurrence
//   - for each distinct row, the index of its first occurrence
//   - for each row of the matrix, the index of the distinct row that equals it
//   - for each distinct row, its number of occurrences
//
// Unique binds the symbol Count to the number of distinct rows.
type Unique struct {
	Sorted bool
	Count  string
}

// Infer returns i64[N] for a matrix of N rows.
func (SortRows) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if d := in[0].DType; in[0].Rank() != 2 || wide(d) != d || d == ir.Bool {
		return nil, fmt.Errorf("%s where a matrix is expected", in[0])
	}
	return []ir.Type{ir.TensorOf(ir.I64, in[0].Shape[0])}, nil
}

// Infer returns the types of the four results: the matrix with Count rows, i64[Count], i64[N] and
// i64[Count], where N is the number of rows of the operand.
func (op Unique) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	order, err := SortRows{}.Infer(in[:1])
	if err != nil {
		return nil, err
	}
	if !in[1].Equal(order[0]) {
		return nil, fmt.Errorf("the order is %s, %s expected", in[1], order[0])
	}
	count := dim.Sym(op.Count)
	list := ir.TensorOf(ir.I64, count)
	return []ir.Type{ir.TensorOf(in[0].DType, count, in[0].Shape[1]), list, order[0], list}, nil
}

func compareRows(x *ir.Tensor, i, j int) int {
	width := x.Shape[1]
	for k := range width {
		if order := totalOrder(x, i*width+k, j*width+k); order != 0 {
			return order
		}
	}
	return 0
}

// Eval returns the indices of the rows in ascending order, i64[N].
func (SortRows) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	order := AllAxes(in[0].Shape[0])
	slices.SortStableFunc(order, func(i, j int) int { return compareRows(in[0], i, j) })
	y := ir.NewTensor(ir.I64, len(order))
	for i, row := range order {
		y.SetInt(i, int64(row))
	}
	return []*ir.Tensor{y}, nil
}

// Eval returns the four results. It compares each row with all distinct rows before it.
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

// Binds returns the symbol Count.
func (op Unique) Binds() []string { return []string{op.Count} }

// BindValues returns the number of distinct rows, which is Count.
func (op Unique) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[0])}, nil
}

func importUnique(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	dtype, sorted := x.Type.DType, c.Int("sorted", 1) != 0
	perm, rest := []int(nil), []dim.Dim(nil)
	if c.Has("axis") {
		axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
		if err != nil {
			return nil, err
		}
		perm = AllAxes(x.Type.Rank())
		perm[0], perm[axis] = axis, 0
		x = TransposeBy(b, x, perm...)
		rest = x.Type.Shape[1:]
		x = ReshapeTo(b, x, x.Type.Shape[0], dim.Product(rest...))
	} else {
		x = ReshapeTo(b, x, x.Type.Elems(), dim.Const(1))
	}
	if x = ConvertTo(b, x, wide(dtype)); dtype == ir.Bool {
		x = ConvertTo(b, x, ir.U8)
	}
	count := b.Symbol("unique")
	out := b.Nodes(Unique{Sorted: sorted, Count: count}, x, b.Node(SortRows{}, x))
	y := ConvertTo(b, out[0], dtype)
	if perm != nil {
		y = ReshapeTo(b, y, append([]dim.Dim{dim.Sym(count)}, rest...)...)
		y = TransposeBy(b, y, perm...)
	} else {
		y = ReshapeTo(b, y, dim.Sym(count))
	}
	return []*ir.Value{y, out[1], out[2], out[3]}[:max(1, min(c.NumResults(), 4))], nil
}
