package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ConvInteger is an integer convolution (ONNX ConvInteger, QLinearConv). x, [N,C,spatial…], and the weights w,
// [M,C/Group,kernel…], are i8 or u8. Their zero points are subtracted; an absent zero point is 0. The zero point of
// x has one element, and the zero point of w has one element or M. The padding has the value of x's zero point.
// Sums are i32, and [Requantize] converts them. The operands are x, w, their optional zero points, and the operands
// of [Requantize].
type ConvInteger struct {
	Window
	Group int // divides C and M
	Requantize
}

// Infer returns [N,M,spatial…]. Each spatial extent is the number of windows along the axis. The element type is
// i32 or To.
func (op ConvInteger) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, ProductOperands); err != nil {
		return nil, err
	}
	x, w, x0, w0 := in[0], in[1], Operand(in, 2), Operand(in, 3)
	if err := CheckFactor(x, x0); err != nil {
		return nil, err
	}
	if err := CheckFactor(w, w0); err != nil {
		return nil, err
	}
	if !x0.IsZero() && !HasOneElement(x0) {
		return nil, fmt.Errorf("zero point %s, one element expected", x0)
	}
	if w.Rank() < 3 {
		return nil, fmt.Errorf("weights %s have no spatial axes", w)
	}
	shape, err := Conv{Window: op.Window, Group: op.Group}.inferShape(x, w)
	if err != nil {
		return nil, err
	}
	if !w0.IsZero() && !HasOneElement(w0) {
		if w0.Rank() != 1 {
			return nil, fmt.Errorf("zero point %s of the weights", w0)
		}
		if err := Same(w0.Shape[0], w.Shape[0], "zero point and channels"); err != nil {
			return nil, err
		}
	}
	if op.To == ir.F32 {
		return nil, fmt.Errorf("sums of a convolution scaled to %s", op.To)
	}
	d, err := op.Requantize.check(in, w.Shape[0])
	return []ir.Type{ir.TensorOf(d, shape...)}, err
}

// Eval returns the requantised sums, [N,M,spatial…].
func (op ConvInteger) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	x, w := in[0], in[1]
	x0 := ZeroAt(OperandOf(in, 2), 0)
	m, width := shape[1], w.Shape[1]
	plane, outPlane, kernel := LenOf(x.Shape[2:]), LenOf(shape[2:]), LenOf(op.Kernel)
	err = op.Visit(x.Shape[2:], func(o int, c Cells) {
		for i := range shape[0] * m {
			first := i/m*x.Shape[1] + i%m/(m/op.Group)*width
			w0 := ZeroAt(OperandOf(in, 3), i%m)
			sum := int64(0)
			for k := range width {
				for t, at := range c.At {
					sum += (x.Int((first+k)*plane+at) - x0) * (w.Int((i%m*width+k)*kernel+c.Tap[t]) - w0)
				}
			}
			op.Store(y, i*outPlane+o, sum, in, i%m)
		}
	})
	return []*ir.Tensor{y}, err
}

// Flops counts a multiplication and an addition for each product of an element and a weight.
func (op ConvInteger) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:]...)).Mul(dim.Const(2))
}

// IsDepthwise reports whether each channel of the result depends on only one channel of the operand. It returns false
// for a window over more than [MaxSpatial] axes, and for a single group. w is the type of the weights.
func (op ConvInteger) IsDepthwise(w ir.Type) bool {
	return w.Shape[1].Equal(dim.Const(1)) && op.Group > 1 && len(op.Kernel) <= MaxSpatial
}

func importConvInteger(c ir.Importer) ([]*ir.Value, error) {
	x, w := c.Arg(0), c.Arg(1)
	op, err := importIntegerWindow(c, x.Type, w.Type)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(op, x, w, c.Arg(2), c.Arg(3))}, nil
}

func importIntegerWindow(c ir.Importer, x, w ir.Type) (op ConvInteger, err error) {
	if w.Rank() < 3 {
		return op, fmt.Errorf("weights %s have no spatial axes", w)
	}
	op.Window, err = importWindow(c, x, w.Shape[2:], true)
	op.Group = c.Int("group", 1)
	return op, err
}

func importQLinearConv(c ir.Importer) ([]*ir.Value, error) {
	b, x, w := c.Builder(), c.Arg(0), c.Arg(3)
	op, err := importIntegerWindow(c, x.Type, w.Type)
	if err != nil {
		return nil, err
	}
	zero := c.Arg(7)
	if zero == nil {
		return nil, fmt.Errorf("no zero point of the result")
	}
	op.To = zero.Type.DType
	scale := rescale(b, c.Arg(1), c.Arg(4), c.Arg(6))
	return []*ir.Value{b.Node(op, x, w, c.Arg(2), c.Arg(5), c.Arg(8), scale, zero)}, nil
}

// rescale appends x·w/y, the factor that converts integer sums to the scale of the result. x and w are the scales
// of the two operands, and y is the scale of the result.
func rescale(b *ir.Builder, x, w, y *ir.Value) *ir.Value {
	return b.Node(Div{}, b.Node(Mul{}, vectorOf(b, x), vectorOf(b, w)), vectorOf(b, y))
}

// vectorOf appends v as an f32. The result has rank 0 if v has one element, and otherwise rank 1.
func vectorOf(b *ir.Builder, v *ir.Value) *ir.Value {
	v = ConvertTo(b, v, ir.F32)
	if HasOneElement(v.Type) {
		return ReshapeTo(b, v)
	}
	return ReshapeTo(b, v, v.Type.Elems())
}
