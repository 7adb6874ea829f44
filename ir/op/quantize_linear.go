package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// QuantizeLinear is round(x/scale) + zero, saturated to the integer type To (ONNX QuantizeLinear). It rounds to
// nearest, ties to even. NaN becomes the smallest integer. If To is a float type, the quotient is not rounded, and
// the sum is converted to To as by [Cast]. x and scale are floats or i32. They are converted to Precision before
// the division. The optional zero point has type To.
type QuantizeLinear struct {
	Granularity
	To          ir.DType
	Precision   ir.DType
	Unsaturated bool // as in [Cast]
}

// Infer returns x's shape with the element type To.
func (op QuantizeLinear) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	x, scale, zero := in[0], in[1], Operand(in, 2)
	if !quotientType(op.Precision) {
		return nil, fmt.Errorf("a quotient of type %s", op.Precision)
	}
	if !x.DType.IsFloat() && x.DType != ir.I32 || !scale.DType.IsFloat() && scale.DType != ir.I32 {
		return nil, fmt.Errorf("%s with scale %s", x, scale)
	}
	if !quantizedType(op.To) {
		return nil, fmt.Errorf("not defined for %s", op.To)
	}
	if !zero.IsZero() && zero.DType != op.To {
		return nil, fmt.Errorf("zero point %s for %s", zero, op.To)
	}
	return []ir.Type{x.With(op.To)}, op.check(x, scale, zero)
}

func quotientType(d ir.DType) bool { return d.IsFloat() && d.Bits() >= 16 }

// quantizedType reports whether values may be quantised to type d. d must be an integer type of at most 32 bits and
// not u32, or a float type of at most 8 bits and not f8e8m0.
func quantizedType(d ir.DType) bool {
	return d.IsInt() && d.Bits() <= 32 && d != ir.U32 || d.IsFloat() && d.Bits() <= 8 && d != ir.F8E8M0
}

// Operand returns the type of operand i. It returns the zero Type if the operand is absent.
func Operand(in []ir.Type, i int) ir.Type {
	if i < len(in) {
		return in[i]
	}
	return ir.Type{}
}

// Eval returns the quantised elements in x's shape. It rounds x and scale to Precision, divides in
// float64, and rounds the quotient to Precision.
func (op QuantizeLinear) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, scale := in[0], in[1]
	sum := ir.NewTensor(ir.F64, x.Shape...)
	y := ir.NewTensor(op.To, x.Shape...)
	for i := range x.Len() {
		k := op.index(i, x, scale)
		v := ir.RoundFloat(op.Precision, ir.RoundFloat(op.Precision, x.Number(i))/ir.RoundFloat(op.Precision, scale.Number(k)))
		zero := 0.0
		if len(in) > 2 && in[2] != nil {
			zero = in[2].Number(k)
		}
		if op.To.IsInt() {
			y.SetInt(i, saturated(op.To, math.RoundToEven(v)+zero))
		} else {
			sum.SetFloat(i, v+zero)
		}
	}
	if op.To.IsInt() {
		return []*ir.Tensor{y}, nil
	}
	return Cast{To: op.To, Unsaturated: op.Unsaturated}.Eval([]*ir.Tensor{sum})
}

// saturated returns the integer v, clamped to the range of the integer type d. NaN becomes the smallest integer.
func saturated(d ir.DType, v float64) int64 {
	lo, hi := QuantRange(d)
	switch {
	case !(v > float64(lo)):
		return lo
	case v > float64(hi):
		return hi
	}
	return int64(v)
}

// Lower rewrites the node for the kernel, which divides in f32. If Precision is another type, Lower appends a
// division in that type before the kernel. If To is a float type, it replaces the node by simpler operators. If To
// is an integer type, Precision is f32, and scale and zero point are constants of one element, it replaces the node
// by a [Quantize].
func (op QuantizeLinear) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, scale, zero := n.Arg(0), n.Arg(1), n.Arg(2)
	if op.To.IsInt() && op.Precision == ir.F32 {
		if s, z, ok := oneScale(scale, zero); ok {
			return []*ir.Value{b.Node(Quantize{Scale: s, Zero: z, To: op.To}, ConvertTo(b, x, ir.F32))}
		}
		if x.Type.DType == ir.F32 && scale.Type.DType == ir.F32 {
			return nil
		}
		return []*ir.Value{b.Node(op, ConvertTo(b, x, ir.F32), ConvertTo(b, scale, ir.F32), zero)}
	}
	p := op.Precision
	q := b.Node(Div{}, ConvertTo(b, x, p), op.spread(b, ConvertTo(b, scale, p), x.Type))
	if op.To.IsInt() {
		if p == ir.F64 { // ties are exact only in f64
			q = b.Node(Round{}, q)
		}
		op.Precision = ir.F32
		return []*ir.Value{b.Node(op, ConvertTo(b, q, ir.F32), ones(b, scale.Type), zero)}
	}
	if zero != nil {
		q = b.Node(Add{}, ConvertTo(b, q, ir.F32), op.spread(b, ConvertTo(b, zero, ir.F32), x.Type))
	}
	return []*ir.Value{b.Node(Cast{To: op.To, Unsaturated: op.Unsaturated}, q)}
}

func ones(b *ir.Builder, t ir.Type) *ir.Value {
	return ExpandTo(b, b.Scalar(ir.F32, 1), t.Shape...)
}

// oneScale returns the values of a scale and of a zero point. A nil zero point is 0. ok is false unless the scale is
// a constant of one element that f32 represents exactly. It is also false unless the zero point is nil or a constant
// integer of one element.
func oneScale(scale, zero *ir.Value) (s float64, z int, ok bool) {
	t, ok := scale.ConstValue()
	if !ok || t.Len() != 1 || !t.DType.IsFloat() || ir.RoundFloat(ir.F32, t.Float(0)) != t.Float(0) {
		return 0, 0, false
	}
	if zero == nil {
		return t.Float(0), 0, true
	}
	o, ok := zero.ConstValue()
	if !ok || o.Len() != 1 || !o.DType.IsInt() {
		return 0, 0, false
	}
	return t.Float(0), int(o.Int(0)), true
}

// Grad returns zero, because the result is rounded.
func (QuantizeLinear) Grad(_ *ir.Builder, n *ir.Node, _ []*ir.Value, _ []bool) []*ir.Value {
	return make([]*ir.Value, len(n.Args))
}

func importQuantizeLinear(c ir.Importer) ([]*ir.Value, error) {
	x, scale, zero := c.Arg(0), c.Arg(1), c.Arg(2)
	op := QuantizeLinear{To: ir.U8, Precision: scale.Type.DType}
	var err error
	if op.Granularity, err = importGranularity(c, x.Type, scale.Type); err != nil {
		return nil, err
	}
	if c.Opset() >= 19 {
		op.Unsaturated = c.Int("saturate", 1) == 0
	}
	declared := ir.Invalid
	if c.Opset() >= 21 {
		declared = c.DType("output_dtype", ir.Invalid)
	}
	switch {
	case zero != nil && declared != ir.Invalid && zero.Type.DType != declared:
		return nil, fmt.Errorf("output_dtype %s for zero point %s", declared, zero.Type)
	case zero != nil:
		op.To = zero.Type.DType
	case declared != ir.Invalid:
		op.To = declared
	}
	op.Unsaturated = op.Unsaturated && op.To.IsFloat() && op.To.Bits() == 8
	if c.Opset() >= 23 {
		op.Precision = c.DType("precision", op.Precision)
	}
	if op.Precision == ir.Invalid {
		op.Precision = scale.Type.DType
	}
	switch {
	case op.Precision == ir.I32:
		op.Precision = ir.F64
	case op.Precision.IsFloat() && op.Precision.Bits() < 16:
		op.Precision = ir.F32
	}
	return []*ir.Value{c.Builder().Node(op, x, scale, zero)}, nil
}
