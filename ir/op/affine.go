package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importAffine reads Affine, alpha·x + beta, and Scale, scale·x: experimental
// operators of ONNX that old exporters write.
func importAffine(scale, shift string) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		beta := 0.0
		if shift != "" {
			beta = c.Float(shift, 0)
		}
		return []*ir.Value{affine(c.Builder(), c.Arg(0), c.Float(scale, 1), beta)}, nil
	}
}

// affine appends scale·v + shift.
func affine(b *ir.Builder, v *ir.Value, scale, shift float64) *ir.Value {
	v = times(b, v, scale)
	if shift == 0 {
		return v
	}
	return b.Node(Add{}, v, b.Scalar(v.Type.DType, shift))
}

// importImageScaler reads ImageScaler: scale·x plus a bias for each channel of x,
// [N,C,H,W].
func importImageScaler(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	bias := c.Floats("bias", nil)
	if x.Type.Rank() < 2 || !x.Type.DType.IsFloat() {
		return nil, fmt.Errorf("%s, floats with channels expected", x.Type)
	}
	y := times(b, x, c.Float("scale", 1))
	if bias == nil {
		return []*ir.Value{y}, nil
	}
	if err := same(x.Type.Shape[1], ir.Const(len(bias)), "channels and bias"); err != nil {
		return nil, err
	}
	v := b.Const(ir.FloatTensor(x.Type.DType, bias...))
	return []*ir.Value{b.Node(Add{}, y, reshape(b, v, perChannel(ir.Const(len(bias)), x.Type.Rank()-2)...))}, nil
}

// importParametricSoftplus reads ParametricSoftplus: alpha·log(1 + e^(beta·x)).
func importParametricSoftplus(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	b := c.Builder()
	y := b.Node(Softplus{}, times(b, c.Arg(0), c.Float("beta", 1)))
	return []*ir.Value{times(b, y, c.Float("alpha", 1))}, nil
}

// importScaledTanh reads ScaledTanh: alpha·tanh(beta·x).
func importScaledTanh(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	b := c.Builder()
	y := b.Node(Tanh{}, times(b, c.Arg(0), c.Float("beta", 1)))
	return []*ir.Value{times(b, y, c.Float("alpha", 1))}, nil
}

// importCrop reads Crop, an experimental operator of ONNX: x, [N,C,H,W], without
// what border, [left,top,right,bottom], cuts off; the part's height and width are
// those of scale where it is given.
func importCrop(c ir.Importer) ([]*ir.Value, error) {
	x, border, scale := c.Arg(0), c.Ints("border", nil), c.Ints("scale", nil)
	if x.Type.Rank() != 4 || len(border) != 4 || scale != nil && len(scale) != 2 {
		return nil, fmt.Errorf("border %v and scale %v of %s", border, scale, x.Type)
	}
	s := wholeSlice(x.Type)
	for i, axis := range []int{2, 3} {
		first, last := border[1-i], border[3-i]
		left := x.Type.Shape[axis].Sub(ir.Const(first))
		count := left.Sub(ir.Const(last))
		if scale != nil {
			count = ir.Const(scale[i])
		}
		over, known := count.Sub(left).Max(count.Neg()).Int()
		if min(first, last) < 0 || known && over > 0 {
			return nil, fmt.Errorf("border %v and scale %v of %s", border, scale, x.Type)
		}
		s.Starts[axis], s.Shape[axis] = ir.Const(first), count.Min(left).Max(ir.Const(0))
	}
	return []*ir.Value{applySlice(c.Builder(), x, s)}, nil
}
