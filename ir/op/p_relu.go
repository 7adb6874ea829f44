package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PRelu is x, times slope where x is negative, of numbers of one type. The slope
// is broadcast to x, whose shape the result has.
type PRelu struct{ binary[numbers] }

// Infer checks that the slope does not extend x.
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
		if err := same(x.Shape[j], d, fmt.Sprintf("dimension %d of the slope", i)); err != nil {
			return nil, err
		}
	}
	return in[:1], nil
}

// Overwrites lists x.
func (PRelu) Overwrites() []int { return []int{0} }

// Eval scales what is negative.
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

// Call is cpu.PRelu, or cpu.PReluScalar for one constant slope.
func (PRelu) Call(n *ir.Node) (ir.Call, error) {
	if s, ok := scalar(n.Arg(1)); ok {
		return callUnary("PReluScalar", s), nil
	}
	return ir.Call{Kernel: "PRelu", Args: []any{ir.Out(0), ir.In(0), ir.In(1)}}, nil
}

// Grad is the result's, of x times slope where x is negative, and of the slope times x there.
func (PRelu) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, x, y := of[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.Node(Where{}, c.negative(x), c.mul(g, y), g) },
		func(c calculus) *ir.Value { return c.where(c.negative(x), c.mul(g, x)) },
	)
}

// importPRelu reads PRelu. Before opset 7 a slope of several elements had one
// for each channel, which is dimension 1.
func importPRelu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	b, x, slope := c.Builder(), c.Arg(0), c.Arg(1)
	if n, ok := slope.Type.Elems().Int(); c.Opset() < 7 && x.Type.Rank() > 1 && !(ok && n == 1) {
		slope = trailingOnes(b, slope, x.Type.Rank()-1)
	}
	return []*ir.Value{b.Node(PRelu{}, x, slope)}, nil
}

// IsStatistic reports false: there are no statistics.
func (PRelu) IsStatistic(int) bool { return false }
