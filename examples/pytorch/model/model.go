// Package model describes the network of examples/digits/train/train.py. The fields of Digits have the names of the
// PyTorch modules.
package model

import "github.com/burngen/burngen/ir/nn"

// Digits has four convolutions, each normalised, and a dense layer.
type Digits struct {
	Conv1, Conv2, Conv3, Conv4 nn.Conv2d
	Norm1, Norm2, Norm3, Norm4 nn.BatchNorm
	Dense                      nn.Linear
}

// New returns a network.
func New() *Digits {
	conv := func(in, out int) nn.Conv2d { return nn.NewConv2d(in, out, 3, nn.Padding(1), nn.NoBias) }
	return &Digits{
		Conv1: conv(1, 16), Conv2: conv(16, 16), Conv3: conv(16, 32), Conv4: conv(32, 32),
		Norm1: nn.NewBatchNorm(16), Norm2: nn.NewBatchNorm(16), Norm3: nn.NewBatchNorm(32), Norm4: nn.NewBatchNorm(32),
		Dense: nn.NewLinear(32*7*7, 10),
	}
}

// Forward maps images to the logits of ten digits.
//
//burngen:func (f32[N,1,28,28]) -> f32[N,10]
func (m *Digits) Forward(image nn.Value) (logits nn.Value) {
	x := nn.ReLU(m.Norm1.Forward(m.Conv1.Forward(image)))
	x = nn.MaxPool2d(nn.ReLU(m.Norm2.Forward(m.Conv2.Forward(x))), 2)
	x = nn.ReLU(m.Norm3.Forward(m.Conv3.Forward(x)))
	x = nn.MaxPool2d(nn.ReLU(m.Norm4.Forward(m.Conv4.Forward(x))), 2)
	return m.Dense.Forward(x.Flatten(1, -1))
}
