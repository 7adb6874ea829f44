package model

import "github.com/burngen/burngen/ir/nn"

type CNN struct {
	Conv1, Conv2 nn.Conv2d
	Linear       nn.Linear
}

func New() *CNN {
	return &CNN{nn.NewConv2d(1, 16, 3, nn.Padding(1)), nn.NewConv2d(16, 32, 3, nn.Padding(1)), nn.NewLinear(32, 10)}
}

//burngen:func (f32[N,1,28,28]) -> f32[N,10]
func (m *CNN) Forward(image nn.Value) nn.Value {
	x := nn.MaxPool2d(nn.ReLU(m.Conv1.Forward(image)), 2)
	x = nn.AdaptiveAvgPool2d(nn.ReLU(m.Conv2.Forward(x)), 1, 1)
	return m.Linear.Forward(x.Flatten(1, -1))
}
