package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importRemovePadding imports RemovePadding of com.microsoft. x is [B,S,H], and each sequence starts with a given
// number of tokens; the rest is padding. The first result is the rows of x that are tokens. The second result,
// [B,S], holds the indices of these rows, followed by the indices of the other rows. The third, [B+1], holds the
// number of tokens before each sequence and then the number of all tokens. The fourth, [1], is the largest number
// of tokens in a sequence.
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

// restorePadding appends a tensor [B,S,H], whose B·S rows are token rows or zero. Row i of rows, [T,H], becomes row
// places[i]. The other rows are zero. places is [B,S], and only its first T elements are used.
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
