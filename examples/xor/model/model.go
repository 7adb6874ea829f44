// Package model describes a perceptron that learns exclusive or.
package model

import "github.com/burngen/burngen/ir/nn"

// Config configures a Net.
//
//burngen:config
type Config struct {
	Input  int `default:"2"`
	Hidden int `default:"16"`
	Output int `default:"2"`
}

// Net is a perceptron with two hidden layers.
type Net struct {
	FC1, FC2, FC3 nn.Linear
	input, output int
}

// New returns a net.
func New(c Config) *Net {
	return &Net{
		FC1:   nn.NewLinear(c.Input, c.Hidden),
		FC2:   nn.NewLinear(c.Hidden, c.Hidden),
		FC3:   nn.NewLinear(c.Hidden, c.Output),
		input: c.Input, output: c.Output,
	}
}

// Forward maps pairs of bits to the logits of their classes.
//
//burngen:func (f32[N,{m.input}]) -> f32[N,{m.output}]
func (m *Net) Forward(bits nn.Value) (logits nn.Value) {
	x := nn.ReLU(m.FC1.Forward(bits))
	x = nn.ReLU(m.FC2.Forward(x))
	return m.FC3.Forward(x)
}

// Loss returns the cross entropy.
//
//burngen:loss (f32[N,{m.input}], i64[N]) -> f32[]
func (m *Net) Loss(bits, class nn.Value) nn.Value {
	return nn.CrossEntropy(m.Forward(bits), class)
}
