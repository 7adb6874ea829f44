package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importNormalizer reads Normalizer: each row divided by its greatest element, by
// the sum of its magnitudes or by the root of the sum of its squares, in f32. A
// row whose divisor is 0 stays as it is. A vector is one row; of more than two axes
// the second is divided along.
func importNormalizer(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x := convert(b, c.Arg(0), ir.F32)
	norm := c.Text("norm", "MAX")
	kind, ok := map[string]Reduction{"MAX": ReduceMax, "L1": ReduceL1, "L2": ReduceL2}[norm]
	if !ok {
		return nil, fmt.Errorf("unknown norm %q", norm)
	}
	if x.Type.Rank() == 0 {
		return nil, fmt.Errorf("operand is %s, rows expected", x.Type)
	}
	divisor := b.Node(Reduce{Kind: kind, Axes: []int{min(1, x.Type.Rank()-1)}, KeepDims: true}, x)
	none := b.Node(Equal{}, divisor, b.Scalar(ir.F32, 0))
	return []*ir.Value{b.Node(Div{}, x, b.Node(Where{}, none, b.Scalar(ir.F32, 1), divisor))}, nil
}
