// Package model describes a network that classifies arithmetic signs. It has the body of a network
// that reads digits.
package model

import (
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/onnx"
)

// Net is the imported network without its last layer, followed by a new last layer.
type Net struct {
	Body *nn.Graph
	Head nn.Linear
}

// New returns the network. Its body has the weights of the ONNX file.
func New() *Net {
	return &Net{
		Body: nn.FromIR(onnx.Load("../../digits/digits.onnx", onnx.Outputs("/Flatten_output_0"))),
		Head: nn.NewLinear(1568, 5),
	}
}

// Forward maps images to logits of + − × ÷ =.
//
//burngen:func (f32[N,1,28,28]) -> f32[N,5]
func (m *Net) Forward(image nn.Value) (logits nn.Value) {
	return m.Head.Forward(m.Body.Forward(image)[0])
}

// Loss returns the cross entropy, and the logits.
//
//burngen:loss (f32[N,1,28,28], i64[N]) -> (f32[], f32[N,5])
func (m *Net) Loss(image, sign nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(image)
	return nn.CrossEntropy(logits, sign), logits
}
