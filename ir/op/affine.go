package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importAffine imports two experimental ONNX operators that old exporters write: Affine, alpha·x + beta, and Scale,
// scale·x. scale and shift are the names of the attributes. If shift is "", the operator does not add a number.
func importAffine(scale, shift string) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		beta := 0.0
		if shift != "" {
			beta = c.Float(shift, 0)
		}
		return []*ir.Value{affine(c.Builder(), c.Arg(0), c.Float(scale, 1), beta)}, nil
	}
}

func affine(b *ir.Builder, v *ir.Value, scale, shift float64) *ir.Value {
	v = times(b, v, scale)
	if shift == 0 {
		return v
	}
	return b.Node(Add{}, v, b.Scalar(v.Type.DType, shift))
}

// importImageScaler imports ImageScaler: scale·x + bias for x [N,C,H,W]. bias has one number for each channel.
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
	if err := Same(x.Type.Shape[1], dim.Const(len(bias)), "channels and bias"); err != nil {
		return nil, err
	}
	v := b.Const(ir.FloatTensor(x.Type.DType, bias...))
	return []*ir.Value{b.Node(Add{}, y, ReshapeTo(b, v, perChannel(dim.Const(len(bias)), x.Type.Rank()-2)...))}, nil
}

func importParametricSoftplus(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	b := c.Builder()
	y := b.Node(Softplus{}, times(b, c.Arg(0), c.Float("beta", 1)))
	return []*ir.Value{times(b, y, c.Float("alpha", 1))}, nil
}

func importScaledTanh(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	b := c.Builder()
	y := b.Node(Tanh{}, times(b, c.Arg(0), c.Float("beta", 1)))
	return []*ir.Value{times(b, y, c.Float("alpha", 1))}, nil
}

// importCrop imports the experimental ONNX operator Crop. It removes a border, [left,top,right,bottom], from x,
// [N,C,H,W]. If the optional attribute scale is given, it is the height and width of the result.
func importCrop(c ir.Importer) ([]*ir.Value, error) {
	x, border, scale := c.Arg(0), c.Ints("border", nil), c.Ints("scale", nil)
	if x.Type.Rank() != 4 || len(border) != 4 || scale != nil && len(scale) != 2 {
		return nil, fmt.Errorf("border %v and scale %v of %s", border, scale, x.Type)
	}
	s := wholeSlice(x.Type)
	for i, axis := range []int{2, 3} {
		first, last := border[1-i], border[3-i]
		left := x.Type.Shape[axis].Sub(dim.Const(first))
		count := left.Sub(dim.Const(last))
		if scale != nil {
			count = dim.Const(scale[i])
		}
		over, known := count.Sub(left).Max(count.Neg()).Int()
		if min(first, last) < 0 || known && over > 0 {
			return nil, fmt.Errorf("border %v and scale %v of %s", border, scale, x.Type)
		}
		s.Starts[axis], s.Shape[axis] = dim.Const(first), count.Min(left).Max(dim.Const(0))
	}
	return []*ir.Value{ApplySlice(c.Builder(), x, s)}, nil
}
