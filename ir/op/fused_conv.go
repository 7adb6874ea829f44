package op

import "github.com/burngen/burngen/ir"

// importFusedConv imports FusedConv of com.microsoft: a [Conv] followed by an activation. An optional fourth
// operand, of the result's shape, is added before the activation.
func importFusedConv(c ir.Importer) ([]*ir.Value, error) {
	out, err := importConv(c)
	if err != nil {
		return nil, err
	}
	if z := c.Arg(3); z != nil {
		y := out[0]
		out[0] = c.Builder().Node(Add{}, y, z)
		for i, d := range y.Type.Shape {
			if z.Type.Rank() != y.Type.Rank() {
				ir.Fail("operand 3 is %s, the result %s", z.Type, y.Type)
			}
			if err := Same(z.Type.Shape[i], d, "operand 3 and the result"); err != nil {
				return nil, err
			}
		}
	}
	out[0], err = activatedByList(c, out[0])
	return out, err
}
