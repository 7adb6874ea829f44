package op

import "github.com/burngen/burngen/ir"

func importBinarizer(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	v := x
	if !x.Type.DType.IsFloat() {
		v = ConvertTo(b, x, ir.F32)
	}
	above := b.Node(Greater{}, v, b.Scalar(v.Type.DType, c.Float("threshold", 0)))
	return []*ir.Value{b.Node(Cast{To: x.Type.DType}, above)}, nil
}
