// Package model describes the convolutional network that the example trains.
package model

import "github.com/burngen/burngen/ir/nn"

// Config configures a Net.
//
//burngen:config
type Config struct {
	Classes  int
	Channels []int // of each block
}

// Net classifies pictures of 32 × 32 pixels in colours.
type Net struct {
	Blocks  []Block
	Output  nn.Linear
	classes int
}

// Block is a convolution with batch normalisation.
type Block struct {
	Conv nn.Conv2d
	Norm nn.BatchNorm
}

// New returns a network with a block for each number of Channels.
func New(c Config) *Net {
	m := &Net{classes: c.Classes}
	in := 3
	for _, n := range c.Channels {
		m.Blocks = append(m.Blocks, Block{nn.NewConv2d(in, n, 3, nn.Padding(1), nn.NoBias), nn.NewBatchNorm(n)})
		in = n
	}
	m.Output = nn.NewLinear(in, c.Classes)
	return m
}

// Forward maps pictures, normalised with ImageNet's means and standard deviations, to logits.
//
//burngen:func (f32[N,3,32,32]) -> f32[N,{m.classes}]
func (m *Net) Forward(photo nn.Value) (logits nn.Value) {
	x := photo
	for i, b := range m.Blocks {
		x = nn.ReLU(b.Norm.Forward(b.Conv.Forward(x)))
		if i < len(m.Blocks)-1 {
			x = nn.MaxPool2d(x, 2)
		}
	}
	return m.Output.Forward(nn.AdaptiveAvgPool2d(x, 1, 1).Flatten(1, -1))
}

// Loss returns the cross entropy and the logits. The program counts the correct ones.
//
//burngen:loss (f32[N,3,32,32], i64[N]) -> (f32[], f32[N,{m.classes}])
func (m *Net) Loss(photo, target nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(photo)
	return nn.CrossEntropy(logits, target), logits
}
