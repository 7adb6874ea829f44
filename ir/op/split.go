package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importSplit(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	sizes, err := splitSizes(c, x.Type.Shape[axis])
	if err != nil {
		return nil, err
	}
	return splitAxis(b, x, axis, sizes)
}

// splitAxis appends consecutive slices of x along an axis. sizes are the extents of the slices. splitAxis returns
// an error if sizes do not add up to the extent of the axis. If their sum is known only at run time, it appends a
// check instead.
func splitAxis(b *ir.Builder, x *ir.Value, axis int, sizes []dim.Dim) ([]*ir.Value, error) {
	var start dim.Dim
	parts := make([]*ir.Value, len(sizes))
	for i, size := range sizes {
		parts[i] = sliceAxis(b, x, axis, start, size)
		start = start.Add(size)
	}
	if extent := x.Type.Shape[axis]; !extent.Equal(start) {
		if _, known := extent.Sub(start).Int(); known {
			return nil, fmt.Errorf("sizes %s for axis %d of extent %s", ShapeText(sizes), axis, extent)
		}
		b.Nodes(ir.CheckDim{A: extent, B: start, What: fmt.Sprintf("axis %d of split", axis)})
	}
	return parts, nil
}

// splitSizes returns the extents of the parts of an axis of extent d. They are the attribute or operand `split`. If
// it is absent, the parts have equal extents. splitSizes returns an error if split does not have one extent for
// each result.
func splitSizes(c ir.Importer, d dim.Dim) ([]dim.Dim, error) {
	var sizes []dim.Dim
	if c.Opset() < 13 {
		sizes = dim.Consts(c.Ints("split", nil)...)
	}
	if c.Arg(1) != nil {
		var err error
		if sizes, err = boundDims(c, 1, "split"); err != nil {
			return nil, err
		}
	}
	if len(sizes) > 0 {
		if len(sizes) != c.NumResults() {
			return nil, fmt.Errorf("%d sizes for %d results", len(sizes), c.NumResults())
		}
		return sizes, nil
	}
	parts := c.NumResults()
	if c.Opset() >= 18 {
		if parts = c.Int("num_outputs", parts); parts != c.NumResults() {
			return nil, fmt.Errorf("num_outputs is %d for %d results", parts, c.NumResults())
		}
	}
	return equalSizes(d, parts, c.Opset() >= 18), nil
}

// equalSizes divides the extent d into `parts` parts, each of extent d/parts. If uneven is set, the quotient is
// rounded up, and the parts at the end are smaller.
func equalSizes(d dim.Dim, parts int, uneven bool) []dim.Dim {
	n := dim.Const(parts)
	sizes := make([]dim.Dim, parts)
	if _, exact := d.DivExact(n); exact || !uneven {
		for i := range sizes {
			sizes[i] = divide(d, n)
		}
		return sizes
	}
	each, left := d.CeilDiv(n), d
	for i := range sizes {
		sizes[i] = each.Min(left)
		left = left.Sub(sizes[i])
	}
	return sizes
}
