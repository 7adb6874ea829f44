package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

type floatTest struct{ elementwise }

func (floatTest) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	return []ir.Type{in[0].With(ir.Bool)}, checkDomain(in, floats{})
}

func (floatTest) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// IsNaN reports for each float whether it is NaN.
type IsNaN struct{ floatTest }

// IsInf returns whether each float is infinite. It returns true for +∞ only if Positive is set, and for −∞ only if
// Negative is set.
type IsInf struct {
	floatTest
	Negative, Positive bool
}

// Eval returns, for each element, whether it is NaN.
func (IsNaN) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalTest(in, math.IsNaN) }

// Scalar returns whether an element is NaN.
func (IsNaN) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Ne(x[0], x[0])
}

// Eval returns true for +∞ if Positive is set, true for −∞ if Negative is set, and false for other elements.
func (op IsInf) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalTest(in, func(x float64) bool {
		return op.Negative && math.IsInf(x, -1) || op.Positive && math.IsInf(x, 1)
	})
}

// Scalar returns true if an element is +∞ and Positive is set, or if it is −∞ and Negative is set.
func (op IsInf) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	y := b.Bool(false)
	if op.Negative {
		y = b.Or(y, b.Eq(x[0], number(b, x[0], math.Inf(-1))))
	}
	if op.Positive {
		y = b.Or(y, b.Eq(x[0], number(b, x[0], math.Inf(1))))
	}
	return y
}

func evalTest(in []*ir.Tensor, f func(float64) bool) ([]*ir.Tensor, error) {
	y := ir.NewTensor(ir.Bool, in[0].Shape...)
	for i := range y.Len() {
		y.SetBool(i, f(in[0].Float(i)))
	}
	return []*ir.Tensor{y}, nil
}

func importIsInf(c ir.Importer) ([]*ir.Value, error) {
	op := IsInf{Negative: c.Int("detect_negative", 1) != 0, Positive: c.Int("detect_positive", 1) != 0}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
