// Package model describes a network that reads signs of arithmetic with the body of one
// that reads digits.
package model

import (
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/onnx"
)

// Net is the imported network up to its last layer, and another last layer.
type Net struct {
	Body *nn.Graph
	Head nn.Linear
}

// New returns the network. Its body has the weights of the file.
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

// Loss is what training minimises.
//
//burngen:loss (f32[N,1,28,28], i64[N]) -> (f32[], f32[N,5])
func (m *Net) Loss(image, sign nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(image)
	return nn.CrossEntropy(logits, sign), logits
}
