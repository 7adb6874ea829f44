package op

import (
	"errors"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importArrayFeatureExtractor imports ArrayFeatureExtractor. It gathers elements of the first operand along the
// last axis. The second operand holds their indices. If the first operand is a vector, the result is a matrix of
// one row.
func importArrayFeatureExtractor(c ir.Importer) ([]*ir.Value, error) {
	b, x, places := c.Builder(), c.Arg(0), c.Arg(1)
	if x == nil || places == nil || x.Type.Rank() == 0 {
		return nil, errors.New("a tensor with a last axis and places on it expected")
	}
	if x.Type.Rank() == 1 {
		x = ReshapeTo(b, x, dim.Const(1), x.Type.Shape[0])
	}
	last := x.Type.Rank() - 1
	places = checked(b, ReshapeTo(b, places, places.Type.Elems()), x.Type.Shape[last], "index", "features")
	return []*ir.Value{b.Node(Gather{Axis: last}, x, places)}, nil
}
