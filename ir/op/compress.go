package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importCompress(c ir.Importer) ([]*ir.Value, error) {
	b, x, keep := c.Builder(), c.Arg(0), c.Arg(1)
	if keep == nil || keep.Type.DType != ir.Bool || keep.Type.Rank() != 1 {
		return nil, fmt.Errorf("condition is not a list of bool")
	}
	axis := 0
	if !c.Has("axis") {
		x = ReshapeTo(b, x, x.Type.Elems())
	} else {
		var err error
		if axis, err = fromFront(c.Int("axis", 0), x.Type.Rank()); err != nil {
			return nil, err
		}
	}
	keep = sliceAxis(b, keep, 0, dim.Const(0), keep.Type.Shape[0].Min(x.Type.Shape[axis]))
	places := b.Node(NonZero{Count: b.Symbol("kept")}, keep)
	return []*ir.Value{b.Node(Gather{Axis: axis}, x, ReshapeTo(b, places, places.Type.Shape[1]))}, nil
}
