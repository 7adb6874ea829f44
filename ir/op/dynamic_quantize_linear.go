package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importDynamicQuantizeLinear imports DynamicQuantizeLinear, which quantises x to u8. It extends the range of x to
// include 0, and divides it into 255 steps. If the range is empty, the scale is 1.
func importDynamicQuantizeLinear(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	if x.Type.DType != ir.F32 {
		return nil, fmt.Errorf("not defined for %s", x.Type.DType)
	}
	y, scale, zero := quantizeByRange(c.Builder(), x)
	return []*ir.Value{y, scale, zero}, nil
}

// quantizeByRange quantises x, an f32, to u8, with a scale that follows from the range of x. It returns the
// integers, their scale in f32, and their zero point.
func quantizeByRange(b *ir.Builder, x *ir.Value) (y, scale, zero *ir.Value) {
	none, axes := b.Scalar(ir.F32, 0), AllAxes(x.Type.Rank())
	least, most := x, x
	if len(axes) > 0 {
		least = b.Node(Reduce{Kind: ReduceMin, Axes: axes}, x)
		most = b.Node(Reduce{Kind: ReduceMax, Axes: axes}, x)
	}
	least, most = b.Node(Min{}, least, none), b.Node(Max{}, most, none)
	scale = b.Node(Div{}, b.Node(Sub{}, most, least), b.Scalar(ir.F32, 255))
	scale = b.Node(Where{}, b.Node(Equal{}, scale, none), b.Scalar(ir.F32, 1), scale)
	place := b.Node(Clip{Lo: 0, Hi: 255}, b.Node(Sub{}, none, b.Node(Div{}, least, scale)))
	zero = b.Node(Cast{To: ir.U8}, b.Node(Round{}, place))
	return b.Node(QuantizeLinear{To: ir.U8, Precision: ir.F32}, x, scale, zero), scale, zero
}
