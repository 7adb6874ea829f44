package onnx

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestWarnings reads models with attributes that their operators do not have, and models that lack
// an import they need. Each must cause one warning.
func TestWarnings(t *testing.T) {
	axis := onnxtest.Attr{Name: "axis", Value: 1}
	one := func() *onnxtest.Model { return onnxtest.New(17).Input("x", ir.F32, 4).Output("y", ir.F32, 4) }
	for name, c := range map[string]struct {
		model *onnxtest.Model
		want  []string
	}{
		"none": {one().Node("/Relu", "Relu", []string{"x"}, []string{"y"}), nil},
		"an attribute, twice": {one().Node("/a", "Relu", []string{"x"}, []string{"h"}, axis).Node("/b", "Relu", []string{"h"}, []string{"y"}, axis),
			[]string{`model.onnx: warning: node 0 "/a" (Relu-14): it has no attribute "axis", which is ignored`}},
		"attributes": {one().Node("/a", "Relu", []string{"x"}, []string{"h"}, axis, onnxtest.Attr{Name: "alpha", Value: 0.5}).Node("/b", "Abs", []string{"h"}, []string{"y"}, axis),
			[]string{
				`model.onnx: warning: node 0 "/a" (Relu-14): it has no attribute "axis", which is ignored`,
				`model.onnx: warning: node 0 "/a" (Relu-14): it has no attribute "alpha", which is ignored`,
				`model.onnx: warning: node 1 "/b" (Abs-13): it has no attribute "axis", which is ignored`,
			}},
		"training mode": {
			onnxtest.New(17).Input("x", ir.F32, "N", 1).Output("y", ir.F32, "N", 1).Initializer("s", ir.FloatTensor(ir.F32, 1)).
				Initializer("ratio", ir.Scalar(ir.F32, 0.5)).Initializer("training", ir.Scalar(ir.Bool, 1)).
				Node("/bn", "BatchNormalization", []string{"x", "s", "s", "s", "s"}, []string{"h"}, onnxtest.Attr{Name: "training_mode", Value: 1}).
				Node("/bn2", "BatchNormalization", []string{"h", "s", "s", "s", "s"}, []string{"h2"}, onnxtest.Attr{Name: "training_mode", Value: 1}).
				Node("/drop", "Dropout", []string{"h2", "ratio", "training"}, []string{"y"}),
			[]string{
				`model.onnx: warning: node 0 "/bn" (BatchNormalization-15): it was exported in training mode and normalises by the statistics of the batch, in inference too; export the model in evaluation mode (model.eval() in PyTorch): -train trains such a file`,
				`model.onnx: warning: node 2 "/drop" (Dropout-13): it was exported in training mode and drops elements, in inference too; export the model in evaluation mode (model.eval() in PyTorch): -train trains such a file`,
			}},
		"evaluation mode": {
			onnxtest.New(17).Input("x", ir.F32, "N", 1).Output("y", ir.F32, "N", 1).Initializer("s", ir.FloatTensor(ir.F32, 1)).
				Node("/bn", "BatchNormalization", []string{"x", "s", "s", "s", "s"}, []string{"h"}).Node("/drop", "Dropout", []string{"h"}, []string{"y"}), nil},
		"an import, twice": {one().Node("/a", "com.microsoft:Gelu", []string{"x"}, []string{"h"}).Node("/b", "com.microsoft:QuickGelu", []string{"h"}, []string{"y"}),
			[]string{`model.onnx: warning: the model imports no opset of domain "com.microsoft": the newest is taken`}},
		"an import of the other domain": {one().Node("/a", "ai.onnx.ml:Scaler", []string{"x"}, []string{"y"}, onnxtest.Attr{Name: "scale", Value: []float64{2}}, onnxtest.Attr{Name: "offset", Value: []float64{1}}),
			[]string{`model.onnx: warning: the model imports no opset of domain "ai.onnx.ml": the newest is taken`}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Read("model.onnx", c.model.Bytes(), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(m.Warnings, c.want) {
				t.Errorf("%q, want %q", m.Warnings, c.want)
			}
		})
	}
}
