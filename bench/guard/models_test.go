//go:build amd64

package guard

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// model is a model of the table: a chain of nodes from "x" to "y", with the shapes of their
// operands. The weights are called "w0", "w1" and so on.
type model struct {
	name    string
	input   []int
	output  []int
	weights []*ir.Tensor
	nodes   []node
}

type node struct {
	op      string
	inputs  []string
	outputs []string
	attrs   []onnxtest.Attr
}

// one returns a model of a single node.
func one(name, op string, input, output []int, weights []*ir.Tensor, attrs ...onnxtest.Attr) model {
	inputs := []string{"x"}
	for i := range weights {
		inputs = append(inputs, weightName(i))
	}
	return model{name, input, output, weights, []node{{op, inputs, []string{"y"}, attrs}}}
}

func weightName(i int) string { return string([]byte{'w', byte('0' + i)}) }

// square returns a convolution with a bias, from n channels to m, over a square image. Padding
// keeps the size of the image before the stride.
func square(name string, n, m, side, kernel, stride, group int) model {
	pad := kernel / 2
	out := (side + stride - 1) / stride
	return one(name, "Conv", []int{1, n, side, side}, []int{1, m, out, out}, []*ir.Tensor{weight(m, n/group, kernel, kernel), weight(m)},
		ints("kernel_shape", kernel, kernel), ints("pads", pad, pad, pad, pad), ints("strides", stride, stride), number("group", group))
}

func number(name string, v int) onnxtest.Attr  { return onnxtest.Attr{Name: name, Value: v} }
func ints(name string, v ...int) onnxtest.Attr { return onnxtest.Attr{Name: name, Value: v} }

// weight returns pseudo-random numbers between -½ and ½.
func weight(shape ...int) *ir.Tensor {
	t := ir.NewTensor(ir.F32, shape...)
	for i := range t.Len() {
		t.SetFloat(i, float64(i*7919%1009)/1009-.5)
	}
	return t
}

// bytes returns pseudo-random integers between 0 and 255, or between -128 and 127.
func bytes(d ir.DType, shape ...int) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i := range t.Len() {
		t.SetInt(i, int64(i*7919%251))
	}
	return t
}

var models = []model{
	one("matmul", "MatMul", []int{64, 192}, []int{64, 256}, []*ir.Tensor{weight(192, 256)}),
	one("gemv", "MatMul", []int{1, 768}, []int{1, 768}, []*ir.Tensor{weight(768, 768)}),
	square("conv-3x3", 64, 64, 14, 3, 1, 1),
	square("conv-1x1", 128, 128, 14, 1, 1, 1),
	square("conv-7x7", 3, 64, 56, 7, 2, 1),
	square("conv-grouped", 64, 64, 14, 3, 1, 4),
	one("conv-dilated", "Conv", []int{1, 64, 14, 14}, []int{1, 64, 14, 14}, []*ir.Tensor{weight(64, 64, 3, 3), weight(64)},
		ints("kernel_shape", 3, 3), ints("pads", 12, 12, 12, 12), ints("dilations", 12, 12)),
	square("conv-depthwise", 128, 128, 28, 3, 1, 128),
	one("max-pool", "MaxPool", []int{1, 64, 28, 28}, []int{1, 64, 14, 14}, nil, ints("kernel_shape", 3, 3), ints("strides", 2, 2), ints("pads", 1, 1, 1, 1)),
	one("average-pool", "GlobalAveragePool", []int{1, 256, 14, 14}, []int{1, 256, 1, 1}, nil),
	one("lrn", "LRN", []int{1, 64, 14, 14}, []int{1, 64, 14, 14}, nil, number("size", 5)),
	one("layer-norm", "LayerNormalization", []int{32, 384}, []int{32, 384}, []*ir.Tensor{weight(384), weight(384)}),
	one("softmax", "Softmax", []int{128, 128}, []int{128, 128}, nil),
	one("sigmoid", "Sigmoid", []int{64, 256}, []int{64, 256}, nil),
	one("tanh", "Tanh", []int{64, 256}, []int{64, 256}, nil),
	one("erf", "Erf", []int{64, 256}, []int{64, 256}, nil),
	one("exp", "Exp", []int{64, 256}, []int{64, 256}, nil),
	one("add", "Add", []int{64, 1024}, []int{64, 1024}, []*ir.Tensor{weight(1024)}),
	one("reduce-mean", "ReduceMean", []int{64, 512}, []int{64, 1}, nil, ints("axes", 1)),
	one("transpose", "Transpose", []int{96, 160}, []int{160, 96}, nil, ints("perm", 1, 0)),
	one("resize", "Upsample", []int{1, 16, 14, 14}, []int{1, 16, 28, 28}, []*ir.Tensor{ir.FloatTensor(ir.F32, 1, 1, 2, 2)}, onnxtest.Attr{Name: "mode", Value: "linear"}),
	{"gelu", []int{64, 256}, []int{64, 256}, []*ir.Tensor{ir.FloatTensor(ir.F32, 1.4142135), ir.FloatTensor(ir.F32, 1), ir.FloatTensor(ir.F32, .5)}, []node{
		{"Div", []string{"x", "w0"}, []string{"a"}, nil},
		{"Erf", []string{"a"}, []string{"b"}, nil},
		{"Add", []string{"b", "w1"}, []string{"c"}, nil},
		{"Mul", []string{"x", "c"}, []string{"d"}, nil},
		{"Mul", []string{"d", "w2"}, []string{"y"}, nil},
	}},
	{"attention", []int{4, 64, 32}, []int{4, 64, 32}, nil, []node{
		{"Transpose", []string{"x"}, []string{"k"}, []onnxtest.Attr{ints("perm", 0, 2, 1)}},
		{"MatMul", []string{"x", "k"}, []string{"s"}, nil},
		{"Softmax", []string{"s"}, []string{"p"}, []onnxtest.Attr{number("axis", -1)}},
		{"MatMul", []string{"p", "x"}, []string{"y"}, nil},
	}},
	{"lstm", []int{16, 1, 64}, []int{16, 1, 1, 64}, []*ir.Tensor{weight(1, 256, 64), weight(1, 256, 64)}, []node{
		{"LSTM", []string{"x", "w0", "w1"}, []string{"y"}, []onnxtest.Attr{number("hidden_size", 64)}},
	}},
	{"gru", []int{16, 1, 64}, []int{16, 1, 1, 64}, []*ir.Tensor{weight(1, 192, 64), weight(1, 192, 64)}, []node{
		{"GRU", []string{"x", "w0", "w1"}, []string{"y"}, []onnxtest.Attr{number("hidden_size", 64)}},
	}},
	{"matmul-integer", []int{32, 256}, []int{32, 256}, []*ir.Tensor{ir.FloatTensor(ir.F32, .01).Reshape(), bytes(ir.U8).Reshape(), bytes(ir.I8, 256, 256), bytes(ir.I8).Reshape()}, []node{
		{"QuantizeLinear", []string{"x", "w0", "w1"}, []string{"q"}, nil},
		{"MatMulInteger", []string{"q", "w2", "w1", "w3"}, []string{"i"}, nil},
		{"Cast", []string{"i"}, []string{"y"}, []onnxtest.Attr{number("to", 1)}},
	}},
	{"conv-quantised", []int{1, 32, 14, 14}, []int{1, 32, 14, 14}, []*ir.Tensor{ir.FloatTensor(ir.F32, .01).Reshape(), bytes(ir.U8).Reshape(), bytes(ir.I8, 32, 32, 3, 3), bytes(ir.I8).Reshape()}, []node{
		{"QuantizeLinear", []string{"x", "w0", "w1"}, []string{"q"}, nil},
		{"DequantizeLinear", []string{"q", "w0", "w1"}, []string{"a"}, nil},
		{"DequantizeLinear", []string{"w2", "w0", "w3"}, []string{"b"}, nil},
		{"Conv", []string{"a", "b"}, []string{"c"}, []onnxtest.Attr{ints("pads", 1, 1, 1, 1)}},
		{"QuantizeLinear", []string{"c", "w0", "w1"}, []string{"d"}, nil},
		{"DequantizeLinear", []string{"d", "w0", "w1"}, []string{"y"}, nil},
	}},
}

// file encodes the model as an ONNX file.
func (m model) file() []byte {
	opset := int64(17)
	if m.nodes[0].op == "Upsample" {
		opset = 9
	}
	f := onnxtest.New(opset).Input("x", ir.F32, extents(m.input)...).Output("y", ir.F32, extents(m.output)...)
	for i, w := range m.weights {
		f.Initializer(weightName(i), w)
	}
	for _, n := range m.nodes {
		f.Node(n.outputs[0], n.op, n.inputs, n.outputs, n.attrs...)
	}
	return f.Bytes()
}

func extents(shape []int) (dims []any) {
	for _, d := range shape {
		dims = append(dims, d)
	}
	return dims
}
