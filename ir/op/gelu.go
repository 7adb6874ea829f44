package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Gelu is x·(1 + erf(x/√2))/2, of floats; with Tanh it is the approximation
// x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2.
type Gelu struct {
	unary[floats]
	Tanh bool
}

// Eval computes in float64.
func (op Gelu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if op.Tanh {
		return evalUnary(in, geluTanh)
	}
	return evalUnary(in, gelu)
}

func gelu(x float64) float64 { return x * (0.5 * portable.Erfc(-x/math.Sqrt2)) }

// geluTanh uses (1 + tanh u)/2 = 1/(1 + e^(−2u)).
func geluTanh(x float64) float64 {
	cube := 0.044715 * float64(x*float64(x*x))
	return x * logistic(2*math.Sqrt(2/math.Pi)*(x+float64(cube)))
}

// Call is cpu.Gelu or cpu.GeluTanh.
func (op Gelu) Call(*ir.Node) (ir.Call, error) {
	if op.Tanh {
		return callUnary("GeluTanh"), nil
	}
	return callUnary("Gelu"), nil
}

// importGelu reads Gelu.
func importGelu(c ir.Importer) ([]*ir.Value, error) {
	approximate := c.Text("approximate", "none")
	if approximate != "none" && approximate != "tanh" {
		return nil, fmt.Errorf("approximate %q is neither none nor tanh", approximate)
	}
	return []*ir.Value{c.Builder().Node(Gelu{Tanh: approximate == "tanh"}, c.Arg(0))}, nil
}
