// Package model describes a network for shapes. Its body was trained on other shapes.
package model

import (
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/onnx"
)

// Net is the imported network without its last layer, and a new last layer.
type Net struct {
	Body *nn.Graph
	Head nn.Linear
}

// New returns the network. Its body has the weights of the ONNX file.
func New() *Net {
	return &Net{Body: nn.FromIR(onnx.Load("../shapes.onnx", onnx.Outputs("features"))), Head: nn.NewLinear(64, 4)}
}

// Forward maps pictures, normalised with ImageNet's means and standard deviations, to logits.
//
//burngen:func (f32[N,3,32,32]) -> f32[N,4]
func (m *Net) Forward(photo nn.Value) (logits nn.Value) {
	return m.Head.Forward(m.Body.Forward(photo)[0])
}

// Loss returns the cross entropy and the logits. Metrics measure the logits.
//
//burngen:loss (f32[N,3,32,32], i64[N]) -> (f32[], f32[N,4])
func (m *Net) Loss(photo, target nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(photo)
	return nn.CrossEntropy(logits, target), logits
}
