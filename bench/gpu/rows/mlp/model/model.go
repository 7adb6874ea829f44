// Package model describes the small perceptron that Command mlp measures.
package model

import "github.com/burngen/burngen/ir/nn"

// Net is a perceptron of three layers.
type Net struct{ FC1, FC2, FC3 nn.Linear }

// New returns a network with 784 inputs and 10 classes.
func New() *Net {
	return &Net{nn.NewLinear(784, 256), nn.NewLinear(256, 128), nn.NewLinear(128, 10)}
}

// Forward returns the logits [N,10] of x [N,784].
//
//burngen:func (f32[N,784]) -> f32[N,10]
func (m *Net) Forward(x nn.Value) (logits nn.Value) {
	return m.FC3.Forward(nn.ReLU(m.FC2.Forward(nn.ReLU(m.FC1.Forward(x)))))
}
