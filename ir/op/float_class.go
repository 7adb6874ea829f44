package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// floatTest is embedded by elementwise operators from floats to booleans.
type floatTest struct{ elementwise }

// Infer gives booleans in the operand's shape.
func (floatTest) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	return []ir.Type{in[0].With(ir.Bool)}, checkDomain(in, floats{})
}

// Lower tests in a wider type what kernels only store.
func (floatTest) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// IsNaN tells whether x is not a number, of floats.
type IsNaN struct{ floatTest }

// IsInf tells whether x is an infinity of a sign that is asked for, of floats.
type IsInf struct {
	floatTest
	Negative, Positive bool
}

// Eval tests.
func (IsNaN) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalTest(in, math.IsNaN) }

// Eval tests.
func (op IsInf) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalTest(in, func(x float64) bool {
		return op.Negative && math.IsInf(x, -1) || op.Positive && math.IsInf(x, 1)
	})
}

func evalTest(in []*ir.Tensor, f func(float64) bool) ([]*ir.Tensor, error) {
	y := ir.NewTensor(ir.Bool, in[0].Shape...)
	for i := range y.Len() {
		y.SetBool(i, f(in[0].Float(i)))
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.IsNaN.
func (IsNaN) Call(*ir.Node) (ir.Call, error) { return callUnary("IsNaN"), nil }

// Call is cpu.IsInf.
func (op IsInf) Call(*ir.Node) (ir.Call, error) {
	return callUnary("IsInf", op.Negative, op.Positive), nil
}

// importIsInf reads IsInf.
func importIsInf(c ir.Importer) ([]*ir.Value, error) {
	op := IsInf{Negative: c.Int("detect_negative", 1) != 0, Positive: c.Int("detect_positive", 1) != 0}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
