package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

func importGlobalMaxPool(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	if x.Type.Rank() < 2 {
		return nil, fmt.Errorf("%s has no batch and channels", x.Type)
	}
	op := Reduce{Kind: ReduceMax, Axes: SpatialAxes(x.Type), KeepDims: true}
	return []*ir.Value{c.Builder().Node(op, x)}, nil
}
