package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importNormalizer imports Normalizer, which divides each row by its maximum, its L1 norm or its L2 norm, in f32. A
// row whose divisor is 0 stays unchanged. A vector is treated as one row. If the operand has more than two axes,
// its rows are the lines along the second axis.
func importNormalizer(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x := ConvertTo(b, c.Arg(0), ir.F32)
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
