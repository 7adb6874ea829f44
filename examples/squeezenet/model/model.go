// Package model describes SqueezeNet 1.1, a network for pictures with few weights (F. N. Iandola and others,
// 2016). The names of its weights are those of torchvision's squeezenet1_1.
package model

import (
	"math"

	"github.com/burngen/burngen/ir/nn"
)

// Config configures a Net.
//
//burngen:config
type Config struct {
	Classes int `default:"1000"`
	Size    int `default:"224"` // width and height of a picture
}

// Net classifies pictures.
type Net struct {
	Conv       nn.Conv2d `nn:"features.0"`
	Fire2      Fire      `nn:"features.3"` // numbered as in the paper
	Fire3      Fire      `nn:"features.4"`
	Fire4      Fire      `nn:"features.6"`
	Fire5      Fire      `nn:"features.7"`
	Fire6      Fire      `nn:"features.9"`
	Fire7      Fire      `nn:"features.10"`
	Fire8      Fire      `nn:"features.11"`
	Fire9      Fire      `nn:"features.12"`
	Drop       nn.Dropout
	Classifier nn.Conv2d `nn:"classifier.1"`
	Config
}

// Fire squeezes its input into few channels, and expands these by two convolutions.
type Fire struct {
	Squeeze   nn.Conv2d
	Expand1x1 nn.Conv2d `nn:"expand1x1"`
	Expand3x3 nn.Conv2d `nn:"expand3x3"`
}

// newFire returns a fire module with 2·expand output channels.
func newFire(in, squeeze, expand int) Fire {
	return Fire{conv(in, squeeze, 1, he), conv(squeeze, expand, 1, he), conv(squeeze, expand, 3, he, nn.Padding(1))}
}

// he initialises the weights of a convolution before a ReLU.
var he = nn.KaimingUniform(math.Sqrt2)

// conv returns a convolution with a bias of zeros.
func conv(in, out, kernel int, init nn.Init, options ...nn.ConvOption) nn.Conv2d {
	c := nn.NewConv2d(in, out, kernel, append(options, nn.WeightInit(init))...)
	c.Bias = nn.NewParam(nn.Constant(0), out)
	return c
}

func (f Fire) forward(x nn.Value) nn.Value {
	x = nn.ReLU(f.Squeeze.Forward(x))
	return nn.Concat(1, nn.ReLU(f.Expand1x1.Forward(x)), nn.ReLU(f.Expand3x3.Forward(x)))
}

// New returns a network.
func New(c Config) *Net {
	return &Net{
		Conv:  conv(3, 64, 3, he, nn.Stride(2)),
		Fire2: newFire(64, 16, 64), Fire3: newFire(128, 16, 64),
		Fire4: newFire(128, 32, 128), Fire5: newFire(256, 32, 128),
		Fire6: newFire(256, 48, 192), Fire7: newFire(384, 48, 192), Fire8: newFire(384, 64, 256), Fire9: newFire(512, 64, 256),
		Drop:       nn.NewDropout(0.5),
		Classifier: conv(512, c.Classes, 1, nn.NormalInit(0, 0.01)),
		Config:     c,
	}
}

// Forward maps pictures, normalised with ImageNet's means and standard deviations, to logits.
//
//burngen:func (f32[N,3,{m.Size},{m.Size}]) -> f32[N,{m.Classes}]
func (m *Net) Forward(photo nn.Value) (logits nn.Value) {
	x := nn.ReLU(m.Conv.Forward(photo))
	for _, group := range [][]Fire{{m.Fire2, m.Fire3}, {m.Fire4, m.Fire5}, {m.Fire6, m.Fire7, m.Fire8, m.Fire9}} {
		x = nn.MaxPool2d(x, 3, nn.Stride(2), nn.CeilMode)
		for _, f := range group {
			x = f.forward(x)
		}
	}
	x = nn.ReLU(m.Classifier.Forward(m.Drop.Forward(x)))
	return nn.AdaptiveAvgPool2d(x, 1, 1).Flatten(1, -1)
}

// Loss returns the cross entropy and the logits. Metrics measure the logits.
//
//burngen:loss (f32[N,3,{m.Size},{m.Size}], i64[N]) -> (f32[], f32[N,{m.Classes}])
func (m *Net) Loss(photo, target nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(photo)
	return nn.CrossEntropy(logits, target), logits
}
