package model

import "github.com/burngen/burngen/ir/nn"

type Net struct{ Conv1, Conv2 nn.Conv2d }

func New() *Net { return &Net{nn.NewConv2d(2, 2, 2), nn.NewConv2d(2, 2, 2, nn.NoBias)} }

//burngen:func (f32[N,2,5,5]) -> f32[N,2,3,3]
func (m *Net) Forward(x nn.Value) nn.Value { return m.Conv2.Forward(m.Conv1.Forward(x)) }
