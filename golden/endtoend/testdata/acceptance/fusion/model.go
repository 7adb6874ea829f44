package model

import "github.com/burngen/burngen/ir/nn"

type Net struct{}

func New() *Net { return &Net{} }

// Forward returns the gradient of the sum of exp((x + y)·x) for y.
//
//burngen:func (f32[32,32], f32[32,32]) -> f32[32,32]
func (*Net) Forward(x, y nn.Value) nn.Value {
	return nn.Grad(x.Add(y).MatMul(x).Exp().Sum(), y)[0]
}
