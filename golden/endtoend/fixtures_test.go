package endtoend

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// A fixture is a model that the tests make, so that they need no corpus.
type fixture struct {
	name  string
	model func() *onnxtest.Model
}

var (
	// staticNet takes one image.
	staticNet = fixture{"static", func() *onnxtest.Model { return convNet(1) }}
	// batchedNet takes any number of images.
	batchedNet = fixture{"batched", func() *onnxtest.Model { return convNet("N") }}
	// dynamicNet takes sentences of any number and length.
	dynamicNet = fixture{"dynamic", wordNet}
	// tinyNet has two small matrices.
	tinyNet = fixture{"tiny", onnxtest.MLP}
	// sequenceNet is the network of pytorch/testdata/make.py, with other weights.
	sequenceNet = fixture{"sequence", layerNet}
)

// write writes the model's file and returns its path.
func (f fixture) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), f.name+".onnx")
	writeFile(t, path, string(f.model().Bytes()))
	return path
}

// wave returns a tensor of numbers between -size and size.
func wave(seed int, size float64, shape ...int) *ir.Tensor {
	t := ir.NewTensor(ir.F32, shape...)
	for i := range t.Len() {
		t.SetFloat(i, size*math.Sin(float64(seed+i*i%1009)))
	}
	return t
}

// ramp returns n numbers from low to high.
func ramp(low, high float64, n int) *ir.Tensor {
	t := ir.NewTensor(ir.F32, n)
	for i := range n {
		t.SetFloat(i, low+(high-low)*float64(i)/float64(n-1))
	}
	return t
}

// convNet returns a classifier for batches of images, with the usual operators of convolutional
// networks. Its input "image" is 3×20×20, and its output "logits" has 10 elements. Its values have
// names that generated code uses for shapes and functions.
func convNet(batch any) *onnxtest.Model {
	pads := onnxtest.Attr{Name: "pads", Value: []int{1, 1, 1, 1}}
	two := onnxtest.Attr{Name: "strides", Value: []int{2, 2}}
	return onnxtest.New(17).
		Input("image", ir.F32, batch, 3, 20, 20).
		Output("logits", ir.F32, batch, 10).
		Initializer("conv1.weight", wave(1, .4, 16, 3, 3, 3)).
		Initializer("conv1.bias", ramp(-.1, .1, 16)).
		Initializer("bn1.weight", ramp(.5, 1.5, 16)).
		Initializer("bn1.bias", ramp(-.2, .3, 16)).
		Initializer("bn1.running_mean", ramp(-.3, .3, 16)).
		Initializer("bn1.running_var", ramp(.5, 2, 16)).
		Initializer("conv2.weight", wave(2, .2, 24, 16, 3, 3)).
		Initializer("conv2.bias", ramp(-.1, .1, 24)).
		Initializer("conv3.weight", wave(3, .3, 24, 24, 1, 1)).
		Initializer("fc.weight", wave(4, .5, 10, 24)).
		Initializer("fc.bias", ramp(-1, 1, 10)).
		Node("/conv1/Conv", "Conv", []string{"image", "conv1.weight", "conv1.bias"}, []string{"c1"}, pads).
		Node("/bn1/BatchNormalization", "BatchNormalization", []string{"c1", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"}, []string{"b1"}).
		Node("/Relu", "Relu", []string{"b1"}, []string{"conv1"}).
		Node("/MaxPool", "MaxPool", []string{"conv1"}, []string{"pool1"}, onnxtest.Attr{Name: "kernel_shape", Value: []int{2, 2}}, two).
		Node("/conv2/Conv", "Conv", []string{"pool1", "conv2.weight", "conv2.bias"}, []string{"c2"}, pads).
		Node("/Relu_1", "Relu", []string{"c2"}, []string{"conv2"}).
		Node("/conv3/Conv", "Conv", []string{"conv2", "conv3.weight"}, []string{"c3"}).
		Node("/Sigmoid", "Sigmoid", []string{"c3"}, []string{"s3"}).
		Node("/Mul", "Mul", []string{"conv2", "s3"}, []string{"sigmoidMul"}).
		Node("/GlobalAveragePool", "GlobalAveragePool", []string{"sigmoidMul"}, []string{"g"}).
		Node("/Flatten", "Flatten", []string{"g"}, []string{"f"}).
		Node("/fc/Gemm", "Gemm", []string{"f", "fc.weight", "fc.bias"}, []string{"logits"}, onnxtest.Attr{Name: "transB", Value: 1})
}

// wordNet returns a model that reads sentences, inputs "ids" and "mask" of [N,S]. Output "words"
// has 8 numbers for each word. Output "sentence" is the mean of these for each sentence.
func wordNet() *onnxtest.Model {
	return onnxtest.New(17).
		Input("ids", ir.I64, "N", "S").
		Input("mask", ir.F32, "N", "S").
		Output("words", ir.F32, "N", "S", 8).
		Output("sentence", ir.F32, "N", 8).
		Initializer("table", wave(5, 1, 30, 8)).
		Initializer("dense.weight", wave(6, .5, 8, 8)).
		Initializer("dense.bias", ramp(-.5, .5, 8)).
		Initializer("last", ir.IntTensor(ir.I64, 2)).
		Node("/Gather", "Gather", []string{"table", "ids"}, []string{"embedded"}).
		Node("/dense/MatMul", "MatMul", []string{"embedded", "dense.weight"}, []string{"product"}).
		Node("/dense/Add", "Add", []string{"product", "dense.bias"}, []string{"sum"}).
		Node("/Tanh", "Tanh", []string{"sum"}, []string{"tanh"}).
		Node("/Unsqueeze", "Unsqueeze", []string{"mask", "last"}, []string{"column"}).
		Node("/Mul", "Mul", []string{"tanh", "column"}, []string{"words"}).
		Node("/ReduceMean", "ReduceMean", []string{"words"}, []string{"sentence"},
			onnxtest.Attr{Name: "axes", Value: []int{1}}, onnxtest.Attr{Name: "keepdims", Value: 0})
}

// layerNet returns a model of a linear layer from 3 to 4 features, a normalisation, and a linear
// layer from 4 to 2. The layers are products of rows with matrices.
func layerNet() *onnxtest.Model {
	return onnxtest.New(17).
		Input("x", ir.F32, "N", 3).
		Output("y", ir.F32, "N", 2).
		Initializer("net.0.weight", wave(1, 1, 3, 4)).
		Initializer("net.0.bias", ramp(-1, 1, 4)).
		Initializer("net.1.weight", ramp(.5, 2, 4)).
		Initializer("net.1.bias", ramp(-1, 1, 4)).
		Initializer("net.1.running_mean", ramp(-1, 1, 4)).
		Initializer("net.1.running_var", ramp(.5, 2, 4)).
		Initializer("net.2.weight", wave(2, 1, 4, 2)).
		Initializer("net.2.bias", ramp(-1, 1, 2)).
		Node("/0/MatMul", "MatMul", []string{"x", "net.0.weight"}, []string{"p"}).
		Node("/0/Add", "Add", []string{"p", "net.0.bias"}, []string{"h"}).
		Node("/1/BatchNormalization", "BatchNormalization", []string{"h", "net.1.weight", "net.1.bias", "net.1.running_mean", "net.1.running_var"}, []string{"n"}).
		Node("/2/MatMul", "MatMul", []string{"n", "net.2.weight"}, []string{"q"}).
		Node("/2/Add", "Add", []string{"q", "net.2.bias"}, []string{"y"})
}
