package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// ThresholdedRelu computes x where x > Alpha, else 0, for floats.
type ThresholdedRelu struct {
	unary[floats]
	Alpha float64
}

// Shrink computes, for numbers, x + Bias where x < −Lambda, and x − Bias where x > Lambda. Elsewhere, and where x
// is NaN, it is 0.
type Shrink struct {
	unary[numbers]
	Bias, Lambda float64
}

// Eval returns x for each element x > Alpha, and 0 for the others.
func (op ThresholdedRelu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 {
		if x > op.Alpha {
			return x
		}
		return 0
	})
}

// Scalar returns x if x > Alpha, and 0 otherwise, for one element x.
func (op ThresholdedRelu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Select(b.Gt(x[0], number(b, x[0], op.Alpha)), x[0], number(b, x[0], 0))
}

// Eval returns x + Bias, x − Bias or 0 for each element x, as [Shrink] says.
func (op Shrink) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shrink := func(x float64) float64 {
		switch {
		case x < -op.Lambda:
			return x + op.Bias
		case x > op.Lambda:
			return x - op.Bias
		}
		return 0
	}
	return evalMapping(in, mapping{
		float:  shrink,
		signed: func(x int64) int64 { return int64(shrink(float64(x))) },
		unsigned: func(x uint64) uint64 {
			if y := shrink(float64(x)); y < 1<<64 {
				return uint64(y)
			}
			return 0
		},
	})
}

// Scalar returns x + Bias, x − Bias or 0 for an element x, as [Shrink] says. It returns nil for
// integers.
func (op Shrink) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	if !x[0].Type.DType.IsFloat() {
		return nil
	}
	bias := number(b, x[0], op.Bias)
	y := b.Select(b.Gt(x[0], number(b, x[0], op.Lambda)), b.Sub(x[0], bias), number(b, x[0], 0))
	return b.Select(b.Lt(x[0], number(b, x[0], -op.Lambda)), b.Add(x[0], bias), y)
}

// Lower computes floats of at most 16 bits in f32, and integers in f64, because Bias and Lambda are floats. It
// converts the result back.
func (op Shrink) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	if x.Type.DType.IsFloat() {
		return lowerNarrow(b, n)
	}
	y := b.Node(op, ConvertTo(b, x, ir.F64))
	return []*ir.Value{ConvertTo(b, y, x.Type.DType)}
}

// Grad returns dy where x > Alpha, else 0.
func (op ThresholdedRelu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.where(c.Node(Greater{}, x, c.num(x, op.Alpha)), c.num(x, 1))
	})
}

// Grad returns dy where |x| > Lambda, else 0.
func (op Shrink) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.where(c.Node(Greater{}, c.Node(Abs{}, x), c.num(x, op.Lambda)), c.num(x, 1))
	})
}

func importThresholdedRelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(ThresholdedRelu{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}

func importShrink(c ir.Importer) ([]*ir.Value, error) {
	op := Shrink{Bias: c.Float("bias", 0), Lambda: c.Float("lambd", 0.5)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
