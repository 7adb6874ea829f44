package model

import "github.com/burngen/burngen/ir/nn"

type MLP struct{ Linear1, Linear2, Linear3 nn.Linear }

func New() *MLP {
	return &MLP{nn.NewLinear(10, 64), nn.NewLinear(64, 32), nn.NewLinear(32, 3)}
}

//burngen:func (f32[N,10]) -> f32[N,3]
func (m *MLP) Forward(x nn.Value) nn.Value {
	x = nn.ReLU(m.Linear1.Forward(x))
	return m.Linear3.Forward(nn.ReLU(m.Linear2.Forward(x)))
}
