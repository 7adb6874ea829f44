package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Elementwise is an operator each element of whose result depends on the
// elements at the same place of its operands, broadcast. Such operators may
// stand in a [Pointwise] region, where its Call is that of a vector primitive
// over a run of elements.
type Elementwise interface {
	ir.Op
	ir.Caller
	IsElementwise()
}

// elementwise is embedded by the operators that are [Elementwise].
type elementwise struct{}

// IsElementwise marks the operator.
func (elementwise) IsElementwise() {}

// IsMemoryBound marks the operator.
func (elementwise) IsMemoryBound() {}

// Flops counts one operation for each element.
func (elementwise) Flops(_, out []ir.Type) ir.Dim { return out[0].Elems() }

// unary is embedded by elementwise operators of one operand and its type.
type unary[D domain] struct{ elementwise }

// Infer gives the result the operand's type.
func (unary[D]) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	var d D
	return in[:1], checkDomain(in, d)
}

// Overwrites lists the operand.
func (unary[D]) Overwrites() []int { return []int{0} }

// Lower computes in a wider type what kernels only store.
func (unary[D]) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// binary is embedded by elementwise operators of two operands of one element
// type, which is the result's.
type binary[D domain] struct{ elementwise }

// Infer broadcasts the operands.
func (binary[D]) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferBinary[D](in, ir.Invalid)
}

// Overwrites lists both operands.
func (binary[D]) Overwrites() []int { return []int{0, 1} }

// Lower computes in a wider type what kernels only store.
func (binary[D]) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// inferBinary gives two operands of one element type their common shape and the
// element type out, or the operands' when out is Invalid.
func inferBinary[D domain](in []ir.Type, out ir.DType) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	var d D
	if err := checkDomain(in, d); err != nil {
		return nil, err
	}
	shape, err := broadcastShape(in)
	if err != nil {
		return nil, err
	}
	if out == ir.Invalid {
		out = in[0].DType
	}
	return []ir.Type{ir.TensorOf(out, shape...)}, nil
}

// mapping is what an operator of one operand computes, by the operand's class.
// A nil mapping means that the operator is not defined for the class.
type mapping struct {
	float    func(float64) float64
	signed   func(int64) int64
	unsigned func(uint64) uint64
	logical  func(bool) bool
}

// evalUnary maps a float tensor through f.
func evalUnary(in []*ir.Tensor, f func(float64) float64) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{float: f})
}

// evalMapping maps a tensor through f.
func evalMapping(in []*ir.Tensor, f mapping) ([]*ir.Tensor, error) {
	x := in[0]
	y := ir.NewTensor(x.DType, x.Shape...)
	for i := range y.Len() {
		switch class := x.DType.Class(); {
		case class == ir.Float && f.float != nil:
			y.SetFloat(i, f.float(x.Float(i)))
		case class == ir.Signed && f.signed != nil:
			y.SetInt(i, f.signed(x.Int(i)))
		case class == ir.Unsigned && f.unsigned != nil:
			y.SetInt(i, int64(f.unsigned(uint64(x.Int(i)))))
		case class == ir.Logical && f.logical != nil:
			y.SetBool(i, f.logical(x.Bool(i)))
		default:
			return nil, fmt.Errorf("not defined for %s", x.DType)
		}
	}
	return []*ir.Tensor{y}, nil
}

// formula is what an arithmetic operator computes, by the class of its operands.
// A nil formula means that the operator is not defined for the class.
type formula struct {
	float    func(a, b float64) float64
	signed   func(a, b int64) (int64, error)
	unsigned func(a, b uint64) (uint64, error)
	logical  func(a, b bool) bool
}

// evalBinary computes a formula over two broadcast tensors.
func evalBinary(in []*ir.Tensor, f formula) ([]*ir.Tensor, error) {
	shape, walks, err := evalBroadcast(in)
	if err != nil {
		return nil, err
	}
	a, b := in[0], in[1]
	y := ir.NewTensor(a.DType, shape...)
	for i := range y.Len() {
		p, q := walks[0].Offset, walks[1].Offset
		var err error
		switch class := a.DType.Class(); {
		case class == ir.Float && f.float != nil:
			y.SetFloat(i, f.float(a.Float(p), b.Float(q)))
		case class == ir.Signed && f.signed != nil:
			var v int64
			v, err = f.signed(a.Int(p), b.Int(q))
			y.SetInt(i, v)
		case class == ir.Unsigned && f.unsigned != nil:
			var v uint64
			v, err = f.unsigned(uint64(a.Int(p)), uint64(b.Int(q)))
			y.SetInt(i, int64(v))
		case class == ir.Logical && f.logical != nil:
			y.SetBool(i, f.logical(a.Bool(p), b.Bool(q)))
		default:
			err = fmt.Errorf("not defined for %s", a.DType)
		}
		if err != nil {
			return nil, err
		}
		walks[0].Next()
		walks[1].Next()
	}
	return []*ir.Tensor{y}, nil
}

// callBinary is the call of a vector primitive of two operands, or of its form
// for a constant second or first operand: AddScalar, ScalarSub. A commutative
// one has the first form only.
func callBinary(n *ir.Node, kernel string, commutative bool) ir.Call {
	a, b := n.Arg(0), n.Arg(1)
	if s, ok := scalar(b); ok {
		return ir.Call{Kernel: kernel + "Scalar", Args: []any{ir.Out(0), ir.In(0), s}}
	}
	if s, ok := scalar(a); ok {
		if commutative {
			return ir.Call{Kernel: kernel + "Scalar", Args: []any{ir.Out(0), ir.In(1), s}}
		}
		return ir.Call{Kernel: "Scalar" + kernel, Args: []any{ir.Out(0), s, ir.In(1)}}
	}
	return ir.Call{Kernel: kernel, Args: []any{ir.Out(0), ir.In(0), ir.In(1)}}
}

// callUnary is the call of a vector primitive of one operand and constants.
func callUnary(kernel string, constants ...any) ir.Call {
	return ir.Call{Kernel: kernel, Args: append([]any{ir.Out(0), ir.In(0)}, constants...)}
}

// scalar returns the element of a constant whose elements are all equal.
func scalar(v *ir.Value) (ir.Number, bool) {
	t, ok := v.ConstValue()
	if !ok || t.Stored() != 1 || t.DType == ir.String {
		return ir.Number{}, false
	}
	if t.DType.IsFloat() {
		return ir.Number{DType: t.DType, Float: t.Float(0)}, true
	}
	return ir.Number{DType: t.DType, Int: t.Int(0)}, true
}

// number is a constant of the element type of n's first operand, a float.
func number(n *ir.Node, x float64) ir.Number {
	d := n.Arg(0).Type.DType
	return ir.Number{DType: d, Float: ir.RoundFloat(d, x)}
}

// importUnary returns the import of an operator without attributes.
func importUnary(op ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		consumed(c)
		return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
	}
}

// consumed asks for an attribute that operators had before opset 6, which
// means nothing.
func consumed(c ir.Importer) {
	if c.Opset() < 6 {
		c.Ints("consumed_inputs", nil)
	}
}
