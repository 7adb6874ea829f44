package launch

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var sort = []entry{
	computes(sortRows),
}

// Rows of up to shortRow elements are sorted in tiles of shortTile rows, and longer rows in tiles of
// longTile rows. Rows of more than longRow elements are left to the host. A kernel would compare them
// in a loop with so many iterations that some devices abort the kernel.
const (
	shortRow, shortTile = 64, 256
	longRow, longTile   = 2048, 16
)

// sortRows stores the indices of the rows in ascending order of the rows.
func sortRows(_ op.SortRows, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	width, err := widthOf(x)
	if err != nil {
		return nil, err
	}
	tile := shortTile
	if width > shortRow {
		tile = longTile
	}
	return kernels.Sort("sort_rows", kernels.Order{
		Length: x.Type.Shape[0], Tile: tile,
		Less: func(e *kernels.Emitter, i, j *kernel.Value) *kernel.Value {
			return e.Lt(compareRows(e, x, e.Int(width), i, j), e.Int(0))
		},
		Store: func(e *kernels.Emitter, place, i *kernel.Value) { e.Write(y).Set(place, e.Convert(ir.I64, i)) },
	})
}

// widthOf returns the number of elements of a matrix row. It returns an error if kernels cannot
// compare such rows.
func widthOf(x *ir.Value) (int, error) {
	if x.Type.DType == ir.String {
		return 0, errText
	}
	width, ok := x.Type.Shape[1].Int()
	if !ok || width > longRow {
		return 0, fmt.Errorf("rows of %s elements", x.Type.Shape[1])
	}
	return width, nil
}

// compareRows compares rows i and j of a matrix in lexicographic order. The result is below 0 if row i is before row
// j, 0 if the rows are equal, and above 0 if row i is after row j. width is the number of elements of a row. NaN
// equals itself and is larger than every number.
func compareRows(e *kernels.Emitter, x *ir.Value, width, i, j *kernel.Value) *kernel.Value {
	in := e.Read(x)
	row := func(i *kernel.Value) *kernel.Value { return e.Mul(i, width) }
	equal := e.Int(0)
	return e.While([]*kernel.Value{e.Int(0), equal}, func(s []*kernel.Value) *kernel.Value {
		return e.And(e.Lt(s[0], width), e.Eq(s[1], equal))
	}, func(s []*kernel.Value) []*kernel.Value {
		a, b := in.Get(e.Add(row(i), s[0])), in.Get(e.Add(row(j), s[0]))
		less, greater := e.Lt(a, b), e.Lt(b, a)
		if a.Type.DType.IsFloat() {
			isNaN, otherNaN := e.Ne(a, a), e.Ne(b, b)
			less = e.Or(less, e.And(otherNaN, e.Not(isNaN)))
			greater = e.Or(greater, e.And(isNaN, e.Not(otherNaN)))
		}
		return []*kernel.Value{e.Add(s[0], e.Int(1)), e.Sub(e.Convert(ir.I32, greater), e.Convert(ir.I32, less))}
	})[1]
}
