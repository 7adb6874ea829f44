package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// DequantizeLinear is (x − zero)·scale in the float type To (ONNX DequantizeLinear). x is an integer of at most 32
// bits, but not a u32, or a float of at most 8 bits, but not f8e8m0. The optional zero point has x's type. The
// product is rounded to f32 and then to To.
type DequantizeLinear struct {
	Granularity
	To ir.DType
}

// Infer returns x's shape with the element type To.
func (op DequantizeLinear) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	x, scale, zero := in[0], in[1], Operand(in, 2)
	if !quotientType(op.To) || op.To == ir.F64 {
		return nil, fmt.Errorf("a product of type %s", op.To)
	}
	if !quantizedType(x.DType) || !scale.DType.IsFloat() || scale.DType == ir.F64 {
		return nil, fmt.Errorf("%s with scale %s", x, scale)
	}
	if !zero.IsZero() && zero.DType != x.DType {
		return nil, fmt.Errorf("zero point %s for %s", zero, x)
	}
	return []ir.Type{x.With(op.To)}, op.check(x, scale, zero)
}

// Eval returns (x − zero)·scale in x's shape, multiplied in f32.
func (op DequantizeLinear) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, scale := in[0], in[1]
	y := ir.NewTensor(op.To, x.Shape...)
	for i := range x.Len() {
		k := op.index(i, x, scale)
		v := x.Number(i)
		if len(in) > 2 && in[2] != nil {
			v -= in[2].Number(k)
		}
		y.SetFloat(i, float64(float32(v)*float32(scale.Float(k))))
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts two operations for each element.
func (DequantizeLinear) Flops(_, out []ir.Type) dim.Dim { return out[0].Elems().Mul(dim.Const(2)) }

// Lower computes in f32 and converts the result to To. Integers with one constant scale become a [Dequantize].
// Integers with other scales stay as they are, and Lower returns nil for them. Floats become a subtraction and a
// product.
func (op DequantizeLinear) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, scale, zero := n.Arg(0), n.Arg(1), n.Arg(2)
	if op.To != ir.F32 || scale.Type.DType != ir.F32 {
		wide := DequantizeLinear{Granularity: op.Granularity, To: ir.F32}
		return []*ir.Value{ConvertTo(b, b.Node(wide, x, ConvertTo(b, scale, ir.F32), zero), op.To)}
	}
	if x.Type.DType.IsInt() {
		if s, z, ok := oneScale(scale, zero); ok {
			return []*ir.Value{b.Node(Dequantize{Scale: s, Zero: z}, x)}
		}
		return nil
	}
	return op.Compose(b, n)
}

// Compose replaces the node by a subtraction and a product. They compute in the type of the result, or in f32 if
// this type is narrower.
func (op DequantizeLinear) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, scale, zero, in := n.Arg(0), n.Arg(1), n.Arg(2), wide(op.To)
	y := ConvertTo(b, x, in)
	if zero != nil {
		y = b.Node(Sub{}, y, op.spread(b, ConvertTo(b, zero, in), x.Type))
	}
	return []*ir.Value{ConvertTo(b, b.Node(Mul{}, y, op.spread(b, ConvertTo(b, scale, in), x.Type)), op.To)}
}

func importDequantizeLinear(c ir.Importer) ([]*ir.Value, error) {
	x, scale := c.Arg(0), c.Arg(1)
	op := DequantizeLinear{To: scale.Type.DType}
	var err error
	if op.Granularity, err = importGranularity(c, x.Type, scale.Type); err != nil {
		return nil, err
	}
	if c.Opset() >= 23 {
		if to := c.DType("output_dtype", ir.Invalid); to != ir.Invalid {
			op.To = to
		}
	}
	return []*ir.Value{c.Builder().Node(op, x, scale, c.Arg(2))}, nil
}
