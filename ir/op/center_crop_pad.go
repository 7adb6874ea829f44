package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importCenterCropPad imports CenterCropPad (from opset 18), which crops or pads axes around their middle, rounded
// down. An axis that is too long becomes a [Slice]. An axis that is too short becomes a [Pad] with zeros or empty
// strings.
func importCenterCropPad(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	rank := x.Type.Rank()
	axes, err := axesFromFront(c.Ints("axes", AllAxes(rank)), rank)
	if err != nil {
		return nil, err
	}
	want, err := boundDims(c, 1, "shape")
	if err != nil {
		return nil, err
	}
	if len(want) != len(axes) {
		return nil, fmt.Errorf("%d extents for %d axes", len(want), len(axes))
	}
	kept, two := wholeSlice(x.Type), dim.Const(2)
	more := Pad{Mode: "constant", Before: make([]dim.Dim, rank), After: make([]dim.Dim, rank)}
	for i, a := range axes {
		d := x.Type.Shape[a]
		kept.Shape[a] = d.Min(want[i])
		kept.Starts[a] = d.Sub(kept.Shape[a]).FloorDiv(two)
		missing := want[i].Sub(kept.Shape[a])
		more.Before[a] = missing.FloorDiv(two)
		more.After[a] = missing.Sub(more.Before[a])
	}
	y := ApplySlice(b, x, kept)
	if ir.Equal(more, Pad{Mode: "constant", Before: make([]dim.Dim, rank), After: make([]dim.Dim, rank)}) {
		return []*ir.Value{y}, nil
	}
	return []*ir.Value{b.Node(more, y)}, nil
}
