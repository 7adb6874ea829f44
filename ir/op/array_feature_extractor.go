package op

import (
	"errors"

	"github.com/burngen/burngen/ir"
)

// importArrayFeatureExtractor reads ArrayFeatureExtractor: the elements of the last
// axis at the places that the second operand lists. A vector gives a row.
func importArrayFeatureExtractor(c ir.Importer) ([]*ir.Value, error) {
	b, x, places := c.Builder(), c.Arg(0), c.Arg(1)
	if x == nil || places == nil || x.Type.Rank() == 0 {
		return nil, errors.New("a tensor with a last axis and places on it expected")
	}
	if x.Type.Rank() == 1 {
		x = reshape(b, x, ir.Const(1), x.Type.Shape[0])
	}
	last := x.Type.Rank() - 1
	places = checked(b, reshape(b, places, places.Type.Elems()), x.Type.Shape[last], "index", "features")
	return []*ir.Value{b.Node(Gather{Axis: last}, x, places)}, nil
}
