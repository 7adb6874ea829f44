package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// PRelu computes x where x ≥ 0, and slope·x elsewhere, for numbers of one type. slope, the second operand,
// broadcasts to the shape of x.
type PRelu struct{ binary[numbers] }

// Infer returns the type of x. It returns an error unless the slope broadcasts to x.
func (PRelu) Infer(in []ir.Type) ([]ir.Type, error) {
	out, err := inferBinary[numbers](in, ir.Invalid)
	if err != nil {
		return nil, err
	}
	x, slope := in[0], in[1]
	if len(out[0].Shape) != x.Rank() {
		return nil, fmt.Errorf("slope %s does not broadcast to %s", slope, x)
	}
	for i, d := range slope.Shape {
		j := i + x.Rank() - slope.Rank()
		if n, ok := d.Int(); ok && n == 1 {
			continue
		}
		if err := Same(x.Shape[j], d, fmt.Sprintf("dimension %d of the slope", i)); err != nil {
			return nil, err
		}
	}
	return in[:1], nil
}

// Overwrites allows the result to reuse the memory of x.
func (PRelu) Overwrites() []int { return []int{0} }

// Eval returns x where x ≥ 0, and slope·x elsewhere, in the shape of x.
func (PRelu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float: func(x, slope float64) float64 {
			if x < 0 {
				return x * slope
			}
			return x
		},
		signed: func(x, slope int64) (int64, error) {
			if x < 0 {
				return x * slope, nil
			}
			return x, nil
		},
		unsigned: func(x, _ uint64) (uint64, error) { return x, nil },
	})
}

// Scalar returns x if x ≥ 0, and slope·x otherwise, for one element of each operand.
func (PRelu) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	if d.Class() == ir.Unsigned {
		return x[0]
	}
	return b.Select(isNegative(b, x[0]), wrapped(b, d, b.Mul(x[0], x[1])), x[0])
}

// Grad returns, for x, slope·dy where x is negative, and dy elsewhere. For slope it returns dy·x where x is
// negative, and 0 elsewhere.
func (PRelu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, x, y := dy[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.Node(Where{}, c.negative(x), c.mul(g, y), g) },
		func(c calculus) *ir.Value { return c.where(c.negative(x), c.mul(g, x)) },
	)
}

// importPRelu imports PRelu. Before opset 7, a slope with several elements has one element for each channel (axis
// 1).
func importPRelu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	b, x, slope := c.Builder(), c.Arg(0), c.Arg(1)
	if n, ok := slope.Type.Elems().Int(); c.Opset() < 7 && x.Type.Rank() > 1 && !(ok && n == 1) {
		slope = trailingOnes(b, slope, x.Type.Rank()-1)
	}
	return []*ir.Value{b.Node(PRelu{}, x, slope)}, nil
}

// IsStatistic returns false: no operand is a running statistic.
func (PRelu) IsStatistic(int) bool { return false }
