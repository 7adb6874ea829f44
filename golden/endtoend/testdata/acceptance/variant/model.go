package model

import "github.com/burngen/burngen/ir/nn"

//burngen:config
type Config struct{ Separable bool }

// Layer is one of the variants.
type Layer interface{ Forward(x nn.Value) nn.Value }

type DwsConv struct{ Dconv, Pconv nn.Conv2d }

func (d DwsConv) Forward(x nn.Value) nn.Value { return d.Pconv.Forward(d.Dconv.Forward(x)) }

type Net struct{ Conv Layer }

func New(c Config) *Net {
	if c.Separable {
		return &Net{DwsConv{nn.NewConv2d(2, 2, 3, nn.Groups(2)), nn.NewConv2d(2, 2, 1)}}
	}
	return &Net{nn.NewConv2d(2, 2, 3)}
}

//burngen:func (f32[N,2,5,5]) -> f32[N,2,3,3]
func (m *Net) Forward(x nn.Value) nn.Value { return m.Conv.Forward(x) }
