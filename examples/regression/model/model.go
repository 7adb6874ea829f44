// Package model describes a regression: it predicts a number from the features of a row.
package model

import "github.com/burngen/burngen/ir/nn"

// Config configures a Net.
//
//burngen:config
type Config struct {
	Features int
	Hidden   []int
}

// Net is a perceptron.
type Net struct {
	Norm   nn.BatchNorm // so that features may have any scale
	Layers []nn.Linear
	Output nn.Linear
	width  int
}

// New returns a network with a layer for each extent of Hidden.
func New(c Config) *Net {
	m := &Net{Norm: nn.NewBatchNorm(c.Features), width: c.Features}
	in := c.Features
	for _, n := range c.Hidden {
		m.Layers = append(m.Layers, nn.NewLinear(in, n))
		in = n
	}
	m.Output = nn.NewLinear(in, 1)
	return m
}

// Forward maps rows of features to predictions.
//
//burngen:func (f32[N,{m.width}]) -> f32[N]
func (m *Net) Forward(features nn.Value) (worth nn.Value) {
	x := m.Norm.Forward(features)
	for _, l := range m.Layers {
		x = nn.SiLU(l.Forward(x))
	}
	return m.Output.Forward(x).Squeeze(1)
}

// Loss returns the mean squared error and the predictions. Metrics measure the predictions.
//
//burngen:loss (f32[N,{m.width}], f32[N]) -> (f32[], f32[N])
func (m *Net) Loss(features, worth nn.Value) (loss, predicted nn.Value) {
	predicted = m.Forward(features)
	return nn.MSE(predicted, worth), predicted
}
