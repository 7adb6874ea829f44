package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importCompress reads Compress, which keeps the slices of an axis, or without one
// the elements, whose place in a list of truth values is true: a Gather of what
// [NonZero] finds. What lies beyond the end of the list goes.
func importCompress(c ir.Importer) ([]*ir.Value, error) {
	b, x, keep := c.Builder(), c.Arg(0), c.Arg(1)
	if keep == nil || keep.Type.DType != ir.Bool || keep.Type.Rank() != 1 {
		return nil, fmt.Errorf("condition is no list of bool")
	}
	axis := 0
	if !c.Has("axis") {
		x = reshape(b, x, x.Type.Elems())
	} else {
		var err error
		if axis, err = fromFront(c.Int("axis", 0), x.Type.Rank()); err != nil {
			return nil, err
		}
	}
	keep = sliceAxis(b, keep, 0, ir.Const(0), keep.Type.Shape[0].Min(x.Type.Shape[axis]))
	places := b.Node(NonZero{Count: b.Symbol("kept")}, keep)
	return []*ir.Value{b.Node(Gather{Axis: axis}, x, reshape(b, places, places.Type.Shape[1]))}, nil
}
