// Package model describes the convolutional network that the example trains.
package model

import "github.com/burngen/burngen/ir/nn"

// Config configures a Net.
//
//burngen:config
type Config struct {
	Classes int
	Hidden  int     `default:"512"`
	Dropout float64 `default:"0.5"`
}

// Net classifies small grey images.
type Net struct {
	Conv1, Conv2     nn.Conv2d
	Linear1, Linear2 nn.Linear
	Dropout          nn.Dropout
	classes          int
}

// New returns a network.
func New(c Config) *Net {
	return &Net{
		Conv1:   nn.NewConv2d(1, 8, 3),
		Conv2:   nn.NewConv2d(8, 16, 3),
		Linear1: nn.NewLinear(16*8*8, c.Hidden),
		Linear2: nn.NewLinear(c.Hidden, c.Classes),
		Dropout: nn.NewDropout(c.Dropout),
		classes: c.Classes,
	}
}

// Forward maps images to logits.
//
//burngen:func (f32[N,28,28]) -> f32[N,{m.classes}]
func (m *Net) Forward(image nn.Value) (logits nn.Value) {
	x := m.Dropout.Forward(m.Conv1.Forward(image.Unsqueeze(1)))
	x = nn.ReLU(m.Dropout.Forward(m.Conv2.Forward(x)))
	x = nn.AdaptiveAvgPool2d(x, 8, 8).Flatten(1, -1)
	x = nn.ReLU(m.Dropout.Forward(m.Linear1.Forward(x)))
	return m.Linear2.Forward(x)
}

// Loss returns the cross entropy and the logits. Metrics measure the logits.
//
//burngen:loss (f32[N,28,28], i64[N]) -> (f32[], f32[N,{m.classes}])
func (m *Net) Loss(image, target nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(image)
	return nn.CrossEntropy(logits, target), logits
}
