package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Gelu computes x·(1 + erf(x/√2))/2 for floats (ONNX Gelu, from opset 20). With Tanh it computes
// the approximation x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2.
type Gelu struct {
	unary[floats]
	Tanh bool
}

// Eval returns Gelu(x) for each element x, computed in float64.
func (op Gelu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if op.Tanh {
		return evalUnary(in, geluTanh)
	}
	return evalUnary(in, gelu)
}

// Scalar returns Gelu(x) for an element x.
func (op Gelu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	if !op.Tanh {
		return b.Mul(x[0], elementary.Normal(b, x[0]))
	}
	k := 2 * math.Sqrt(2/math.Pi)
	slope := b.Fma(b.Mul(x[0], x[0]), number(b, x[0], k*0.044715), number(b, x[0], k))
	return b.Mul(x[0], elementary.Sigmoid(b, b.Mul(x[0], slope)))
}

// Narrow returns Gelu(x) for an element x, or nil with Tanh.
func (op Gelu) Narrow(b *kernel.Builder, x []*kernel.Value) *kernel.Value {
	if op.Tanh {
		return nil
	}
	return elementary.NarrowGelu(b, x[0])
}

func gelu(x float64) float64 { return x * (0.5 * portable.Erfc(-x/math.Sqrt2)) }

// geluTanh returns the approximate Gelu of x. It uses (1 + tanh u)/2 = 1/(1 + e^(−2u)).
func geluTanh(x float64) float64 {
	cube := 0.044715 * float64(x*float64(x*x))
	return x * logistic(2*math.Sqrt(2/math.Pi)*(x+float64(cube)))
}

// Grad multiplies dy by the derivative Φ(x) + x·φ(x). Φ is the distribution function of the standard normal
// distribution, and φ its density. With Tanh, Grad uses the derivative of the tanh approximation.
func (op Gelu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		if !op.Tanh {
			half := c.times(c.plus(c.Node(Erf{}, c.times(x, 1/math.Sqrt2)), 1), 0.5)
			density := c.times(c.Node(Exp{}, c.times(c.square(x), -0.5)), 1/math.Sqrt(2*math.Pi))
			return c.add(half, c.mul(x, density))
		}
		k := 2 * math.Sqrt(2/math.Pi)
		s := c.Node(Sigmoid{}, c.mul(x, c.plus(c.times(c.square(x), k*0.044715), k)))
		inner := c.plus(c.times(c.square(x), 3*k*0.044715), k)
		return c.add(s, c.mul(c.mul(x, inner), c.mul(s, c.from(1, s))))
	})
}

func importGelu(c ir.Importer) ([]*ir.Value, error) {
	approximate := c.Text("approximate", "none")
	if approximate != "none" && approximate != "tanh" {
		return nil, fmt.Errorf("approximate %q is neither none nor tanh", approximate)
	}
	return []*ir.Value{c.Builder().Node(Gelu{Tanh: approximate == "tanh"}, c.Arg(0))}, nil
}
