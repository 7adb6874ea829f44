package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importLpNormalization imports LpNormalization, which divides floats by their p-norm along an axis. p is 1 or 2.
// Zeros stay zeros if their norm is 0.
func importLpNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axis, err := fromFront(c.Int("axis", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	p := c.Int("p", 2)
	kind, ok := map[int]Reduction{1: ReduceL1, 2: ReduceL2}[p]
	if !ok {
		return nil, fmt.Errorf("p is %d, 1 or 2 expected", p)
	}
	zero := b.Scalar(x.Type.DType, 0)
	norm := b.Node(Reduce{Kind: kind, Axes: []int{axis}, KeepDims: true}, x)
	return []*ir.Value{b.Node(Where{}, b.Node(Equal{}, norm, zero), zero, b.Node(Div{}, x, norm))}, nil
}
