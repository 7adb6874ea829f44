package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// fusedActivation is an activation that operators of com.microsoft can apply to their result.
type fusedActivation struct {
	params   []string                // ONNX's names of its parameters
	defaults []float64               // values of parameters that the node does not give
	op       func(p []float64) ir.Op // operator for parameters p
}

var fusedActivations = map[string]fusedActivation{
	"Clip":        {[]string{"min", "max"}, []float64{math.Inf(-1), math.Inf(1)}, func(p []float64) ir.Op { return Clip{Lo: p[0], Hi: p[1]} }},
	"Elu":         {[]string{"alpha"}, []float64{1}, func(p []float64) ir.Op { return Elu{Alpha: p[0]} }},
	"Gelu":        {op: func([]float64) ir.Op { return Gelu{} }},
	"HardSigmoid": {[]string{"alpha", "beta"}, []float64{0.2, 0.5}, func(p []float64) ir.Op { return HardSigmoid{Alpha: p[0], Beta: p[1]} }},
	"HardSwish":   {op: func([]float64) ir.Op { return HardSwish{} }},
	"LeakyRelu":   {[]string{"alpha"}, []float64{0.01}, func(p []float64) ir.Op { return LeakyRelu{Alpha: p[0]} }},
	"QuickGelu":   {[]string{"alpha"}, []float64{1.702}, func(p []float64) ir.Op { return Swish{Alpha: p[0]} }},
	"Relu":        {op: func([]float64) ir.Op { return Relu{} }},
	"Selu": {[]string{"alpha", "gamma"}, []float64{1.67326319217681884765625, 1.05070102214813232421875},
		func(p []float64) ir.Op { return Selu{Alpha: p[0], Gamma: p[1]} }},
	"Sigmoid":         {op: func([]float64) ir.Op { return Sigmoid{} }},
	"Softplus":        {op: func([]float64) ir.Op { return Softplus{} }},
	"Softsign":        {op: func([]float64) ir.Op { return Softsign{} }},
	"Tanh":            {op: func([]float64) ir.Op { return Tanh{} }},
	"ThresholdedRelu": {[]string{"alpha"}, []float64{1}, func(p []float64) ir.Op { return ThresholdedRelu{Alpha: p[0]} }},
}

// activated appends the activation that a node names, applied to v. It returns v if the node does not name an
// activation. read returns the parameters of the activation.
func activated(c ir.Importer, v *ir.Value, read func(fusedActivation) []float64) (*ir.Value, error) {
	name := c.Text("activation", "")
	if name == "" {
		read(fusedActivation{})
		return v, nil
	}
	a, ok := fusedActivations[name]
	if !ok {
		return nil, fmt.Errorf("unknown activation %q", name)
	}
	p := read(a)
	if len(p) != len(a.params) {
		return nil, fmt.Errorf("activation %s with %d parameters, %d expected", name, len(p), len(a.params))
	}
	return c.Builder().Node(a.op(p), v), nil
}

func activatedByList(c ir.Importer, v *ir.Value) (*ir.Value, error) {
	return activated(c, v, func(a fusedActivation) []float64 { return c.Floats("activation_params", a.defaults) })
}

// activatedByName is [activated] for a node with one attribute for each parameter of the activation, such as
// activation_alpha.
func activatedByName(c ir.Importer, v *ir.Value) (*ir.Value, error) {
	return activated(c, v, func(a fusedActivation) []float64 {
		p := slices.Clone(a.defaults)
		for _, name := range []string{"alpha", "beta", "gamma"} {
			given := c.Float("activation_"+name, math.NaN())
			if i := slices.Index(a.params, name); i >= 0 && c.Has("activation_"+name) {
				p[i] = given
			}
		}
		return p
	})
}
