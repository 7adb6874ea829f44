package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importRemovePadding imports RemovePadding of com.microsoft: the rows of x, [B,S,H], that are
// tokens. Each sequence starts with a given number of tokens. Further results are the indices of
// these rows and then of the others, [B,S]; the number of tokens before each sequence and in total,
// [B+1]; and the largest number of tokens in a sequence, [1].
func importRemovePadding(c ir.Importer) ([]*ir.Value, error) {
	b, x, counts := c.Builder(), c.Arg(0), c.Arg(1)
	if x.Type.Rank() != 3 || counts.Type.Rank() != 1 || !counts.Type.DType.IsInt() {
		return nil, fmt.Errorf("tokens %s in sequences of %s", x.Type, counts.Type)
	}
	batch, length, one := x.Type.Shape[0], x.Type.Shape[1], dim.Const(1)
	if err := Same(counts.Type.Shape[0], batch, "counts and sequences"); err != nil {
		return nil, err
	}
	d := counts.Type.DType
	place := b.Node(Range{Count: length}, b.Scalar(d, 0), b.Scalar(d, 1))
	isToken := b.Node(Less{}, place, ReshapeTo(b, counts, batch, one))
	isToken = ReshapeTo(b, isToken, batch.Mul(length))
	rowsOf := func(v *ir.Value) *ir.Value { // the indices of true elements
		n := dim.Sym(b.Symbol("tokens"))
		return ReshapeTo(b, b.Node(NonZero{Count: n.String()}, v), n)
	}
	tokens := rowsOf(isToken)
	y := b.Node(Gather{}, ReshapeTo(b, x, batch.Mul(length), x.Type.Shape[2]), tokens)
	order := b.Node(Concat{}, tokens, rowsOf(b.Node(Not{}, isToken)))
	order = ReshapeTo(b, ConvertTo(b, order, d), batch, length)
	zero := ReshapeTo(b, b.Scalar(d, 0), one)
	sums := b.Node(Concat{}, zero, b.Node(CumSum{}, counts))
	most := b.Node(Reduce{Kind: ReduceMax, Axes: []int{0}, KeepDims: true}, counts)
	return []*ir.Value{y, order, sums, most}, nil
}

func importRestorePadding(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{restorePadding(c.Builder(), c.Arg(0), c.Arg(1))}, nil
}

// restorePadding appends a tensor [B,S,H], seen as B·S rows. Row places[i] of it is row i of rows,
// [T,H]. places is [B,S], of which the first T elements are used. Other rows are zero.
func restorePadding(b *ir.Builder, rows, places *ir.Value) *ir.Value {
	if rows.Type.Rank() != 2 || places.Type.Rank() != 2 {
		ir.Fail("tokens %s at places %s", rows.Type, places.Type)
	}
	all, count, width := places.Type.Elems(), rows.Type.Shape[0], rows.Type.Shape[1]
	used := sliceAxis(b, ReshapeTo(b, places, all), 0, dim.Const(0), count)
	y := fill(b, ir.NewTensor(rows.Type.DType), all, width)
	y = b.Node(ScatterND{}, y, ReshapeTo(b, used, count, dim.Const(1)), rows)
	return ReshapeTo(b, y, places.Type.Shape[0], places.Type.Shape[1], width)
}
