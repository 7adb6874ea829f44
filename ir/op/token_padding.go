package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importRemovePadding reads RemovePadding of com.microsoft: the rows of x, [B,S,H],
// that are tokens, of which each sequence has a count at its beginning. Further
// results are the numbers of these rows and then those of the others, [B,S]; the sums
// of the counts before each sequence, and of all, [B+1]; and the greatest count, [1].
func importRemovePadding(c ir.Importer) ([]*ir.Value, error) {
	b, x, counts := c.Builder(), c.Arg(0), c.Arg(1)
	if x.Type.Rank() != 3 || counts.Type.Rank() != 1 || !counts.Type.DType.IsInt() {
		return nil, fmt.Errorf("tokens %s in sequences of %s", x.Type, counts.Type)
	}
	batch, length, one := x.Type.Shape[0], x.Type.Shape[1], ir.Const(1)
	if err := same(counts.Type.Shape[0], batch, "counts and sequences"); err != nil {
		return nil, err
	}
	d := counts.Type.DType
	place := b.Node(Range{Count: length}, b.Scalar(d, 0), b.Scalar(d, 1))
	isToken := b.Node(Less{}, place, reshape(b, counts, batch, one))
	isToken = reshape(b, isToken, batch.Mul(length))
	rowsOf := func(v *ir.Value) *ir.Value { // the places that are true
		n := ir.Sym(b.Symbol("tokens"))
		return reshape(b, b.Node(NonZero{Count: n.String()}, v), n)
	}
	tokens := rowsOf(isToken)
	y := b.Node(Gather{}, reshape(b, x, batch.Mul(length), x.Type.Shape[2]), tokens)
	order := b.Node(Concat{}, tokens, rowsOf(b.Node(Not{}, isToken)))
	order = reshape(b, convert(b, order, d), batch, length)
	zero := reshape(b, b.Scalar(d, 0), one)
	sums := b.Node(Concat{}, zero, b.Node(CumSum{}, counts))
	most := b.Node(Reduce{Kind: ReduceMax, Axes: []int{0}, KeepDims: true}, counts)
	return []*ir.Value{y, order, sums, most}, nil
}

// importRestorePadding reads RestorePadding of com.microsoft, which puts the rows that
// RemovePadding kept back between zeros.
func importRestorePadding(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{restorePadding(c.Builder(), c.Arg(0), c.Arg(1))}, nil
}

// restorePadding appends rows [T,H] in their places of [B,S,H]: the first T numbers
// of places, [B,S]. The other rows are zero.
func restorePadding(b *ir.Builder, rows, places *ir.Value) *ir.Value {
	if rows.Type.Rank() != 2 || places.Type.Rank() != 2 {
		ir.Fail("tokens %s at places %s", rows.Type, places.Type)
	}
	all, count, width := places.Type.Elems(), rows.Type.Shape[0], rows.Type.Shape[1]
	used := sliceAxis(b, reshape(b, places, all), 0, ir.Const(0), count)
	y := fill(b, ir.NewTensor(rows.Type.DType), all, width)
	y = b.Node(ScatterND{}, y, reshape(b, used, count, ir.Const(1)), rows)
	return reshape(b, y, places.Type.Shape[0], places.Type.Shape[1], width)
}
