package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importTensorScatter imports TensorScatter (from opset 24). The rows of an update, [B,…,S,…], replace consecutive
// rows of a cache, [B,…,M,…]. Operand 2 holds the index of the first replaced row of each batch element. In mode
// circular, row 0 follows the last row. TensorScatter becomes a [ScatterND] of rows.
func importTensorScatter(c ir.Importer) ([]*ir.Value, error) {
	b, cache, update, first := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	rank := cache.Type.Rank()
	axis, err := fromFront(c.Int("axis", -2), rank)
	if err != nil {
		return nil, err
	}
	if axis == 0 || update.Type.Rank() != rank {
		return nil, fmt.Errorf("%s into %s along axis %d", update.Type, cache.Type, axis)
	}
	mode := c.Text("mode", "linear")
	if mode != "linear" && mode != "circular" {
		return nil, fmt.Errorf("mode %q is neither linear nor circular", mode)
	}
	if first != nil && first.Type.Rank() != 1 {
		return nil, fmt.Errorf("write indices %s, rank 1 expected", first.Type)
	}
	return []*ir.Value{scatterRows(b, cache, update, axis, first, mode == "circular")}, nil
}

// scatterRows appends a copy of cache, in which the rows of update replace consecutive rows. cache is [B,…,M,…],
// where M rows lie along `axis`. first, [B], holds the index of the first replaced row of each batch element; nil
// means 0. If circular is true, row 0 follows the last row.
func scatterRows(b *ir.Builder, cache, update *ir.Value, axis int, first *ir.Value, circular bool) *ir.Value {
	both := []*ir.Value{cache, update}
	for i := range cache.Type.Shape {
		if i != axis {
			agree(b, both[0].Type.Shape[i], both[1].Type.Shape[i], fmt.Sprintf("axis %d of cache and update", i), both)
		}
	}
	cache, update = both[0], both[1]
	shape, count, one := cache.Type.Shape, update.Type.Shape[axis], dim.Const(1)
	batch, inner, extent := shape[0], dim.Product(shape[1:axis]...), shape[axis]
	row := ReshapeTo(b, positions(b, count), one, one, count)
	if first != nil {
		row = b.Node(Add{}, row, ReshapeTo(b, ConvertTo(b, first, ir.I64), batch, one, one))
	}
	if circular {
		row = b.Node(Mod{}, row, b.Dims(extent))
	}
	grid := []dim.Dim{batch, inner, count}
	place := func(v *ir.Value) *ir.Value { return ReshapeTo(b, ExpandTo(b, v, grid...), batch, inner, count, one) }
	indices := b.Node(Concat{Axis: 3},
		place(ReshapeTo(b, positions(b, batch), batch, one, one)),
		place(ReshapeTo(b, positions(b, inner), one, inner, one)),
		place(row))
	rest := dim.Product(shape[axis+1:]...)
	y := b.Node(ScatterND{}, ReshapeTo(b, cache, batch, inner, extent, rest), indices, ReshapeTo(b, update, batch, inner, count, rest))
	return ReshapeTo(b, y, shape...)
}
