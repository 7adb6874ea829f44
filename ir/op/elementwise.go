package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Elementwise is an operator whose operands broadcast to its result. Each element of the result depends only on the
// elements of the operands at the same position. Such an operator may be part of a [Pointwise] region. There a
// vector primitive computes it for many adjacent elements at once.
type Elementwise interface {
	ir.Op
	IsElementwise()
}

type elementwise struct{}

func (elementwise) IsElementwise() {}

func (elementwise) IsMemoryBound() {}

func (elementwise) Flops(_, out []ir.Type) dim.Dim { return out[0].Elems() }

// unary is embedded by elementwise operators with one operand. The operand has an element type in D, and the result
// has the type of the operand.
type unary[D domain] struct{ elementwise }

func (unary[D]) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	var d D
	return in[:1], checkDomain(in, d)
}

func (unary[D]) Overwrites() []int { return []int{0} }

func (unary[D]) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// binary is embedded by elementwise operators with two operands. The operands and the result have one element type,
// which is in D.
type binary[D domain] struct{ elementwise }

func (binary[D]) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferBinary[D](in, ir.Invalid)
}

func (binary[D]) Overwrites() []int { return []int{0, 1} }

func (binary[D]) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// inferBinary returns the type of the result. Its shape is the common shape of the two operands, which must have
// one element type of the domain D. Its element type is `out`, or the operands' element type if `out` is Invalid.
func inferBinary[D domain](in []ir.Type, out ir.DType) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
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

// mapping is the function of an operator with one operand. It holds one Go function for each kind of elements:
// floats, signed integers, unsigned integers and bools. A nil function means that the operator is not defined for
// this kind.
type mapping struct {
	float    func(float64) float64
	signed   func(int64) int64
	unsigned func(uint64) uint64
	logical  func(bool) bool
}

// evalUnary returns f(x) for each element x of the only operand. It returns an error if the elements are not
// floats.
func evalUnary(in []*ir.Tensor, f func(float64) float64) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{float: f})
}

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

// formula is the function of an operator with two operands. It holds one Go function for each kind of elements:
// floats, signed integers, unsigned integers and bools. A nil function means that the operator is not defined for
// this kind.
type formula struct {
	float    func(a, b float64) float64
	signed   func(a, b int64) (int64, error)
	unsigned func(a, b uint64) (uint64, error)
	logical  func(a, b bool) bool
}

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

func importUnary(op ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		consumed(c)
		return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
	}
}

// consumed reads the attribute consumed_inputs. Operators had it before opset 6, and it has no effect.
func consumed(c ir.Importer) {
	if c.Opset() < 6 {
		c.Ints("consumed_inputs", nil)
	}
}
