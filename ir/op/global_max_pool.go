package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importGlobalMaxPool reads GlobalMaxPool, the greatest element over the spatial
// axes, which stay with extent 1: a [Reduce].
func importGlobalMaxPool(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	if x.Type.Rank() < 2 {
		return nil, fmt.Errorf("%s has no batch and channels", x.Type)
	}
	op := Reduce{Kind: ReduceMax, Axes: spatialAxes(x.Type), KeepDims: true}
	return []*ir.Value{c.Builder().Node(op, x)}, nil
}
