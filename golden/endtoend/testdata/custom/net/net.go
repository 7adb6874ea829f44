// Package net describes a network with custom operators.
package net

import (
	"github.com/burngen/burngen/ir/nn"

	"program/ops"
)

// Net is a linear layer, and a layer that a custom operator computes.
type Net struct {
	Linear nn.Linear
	Scale  nn.Param
}

// New returns a network.
func New() *Net {
	return &Net{Linear: nn.NewLinear(2, 3), Scale: nn.NewParam(nn.Constant(0.5), 3)}
}

// warp applies ops.Warp with "by" 0.25.
func (m *Net) warp(x nn.Value, options ...nn.CustomOption) nn.Value {
	options = append(options, nn.Attr("by", 0.25))
	return nn.Custom(ops.Warp, "(f32[N,C], f32[C]) -> f32[N,C]", []nn.Value{m.Linear.Forward(x), m.Scale.Value()}, options...)[0]
}

// Forward computes the network.
//
//burngen:func (f32[N,2]) -> f32[N,3]
func (m *Net) Forward(x nn.Value) nn.Value { return m.warp(x) }

// Kept returns the rows of a table whose first element is positive, their indices and their sums.
//
//burngen:func (f32[N,3])
func (m *Net) Kept(table nn.Value) (at, rows, sums nn.Value) {
	kept := nn.Custom(ops.Keep, "(f32[N,C]) -> (i64[K], f32[K,C])", []nn.Value{table})
	return kept[0], kept[1], kept[1].SumSqueezed(1)
}

// Loss is trained with the function ops.WarpGrad.
//
//burngen:loss (f32[N,2], f32[N,3]) -> f32[]
func (m *Net) Loss(x, target nn.Value) nn.Value {
	return nn.MSE(m.warp(x), target)
}

// ComposedLoss is equal to Loss. Operators compute the gradients.
//
//burngen:loss (f32[N,2], f32[N,3]) -> f32[]
func (m *Net) ComposedLoss(x, target nn.Value) nn.Value {
	gradient := nn.Gradient(func(operands, results, gradients []nn.Value) []nn.Value {
		x, w, dy := operands[0], operands[1], gradients[0]
		return []nn.Value{x.Mul(w).Mul(dy).Mul(0.5), x.Mul(x).Mul(dy).Mul(0.25).SumSqueezed(0)}
	})
	return nn.MSE(m.warp(x, gradient), target)
}
