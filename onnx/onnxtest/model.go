// Package onnxtest writes small ONNX models and test data for the tests of other packages. It does
// not validate them.
package onnxtest

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/onnxpb"
)

// Model is a model being built.
type Model struct{ proto *onnxpb.ModelProto }

// New returns a model without nodes. The model imports version opset of the ai.onnx operators.
func New(opset int64) *Model {
	return &Model{&onnxpb.ModelProto{
		IrVersion:   proto.Int64(8),
		Graph:       &onnxpb.GraphProto{Name: proto.String("graph")},
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Domain: proto.String(""), Version: proto.Int64(opset)}},
	}}
}

// Import declares that the model uses this version of a domain's operator set. It returns m.
func (m *Model) Import(domain string, version int64) *Model {
	m.proto.OpsetImport = append(m.proto.OpsetImport, &onnxpb.OperatorSetIdProto{Domain: &domain, Version: &version})
	return m
}

// Metadata adds an entry of metadata.
func (m *Model) Metadata(key, value string) *Model {
	m.proto.MetadataProps = append(m.proto.MetadataProps, &onnxpb.StringStringEntryProto{Key: &key, Value: &value})
	return m
}

// Doc sets the model's documentation and producer.
func (m *Model) Doc(text, producer string) *Model {
	m.proto.DocString, m.proto.ProducerName = &text, &producer
	return m
}

// Input declares an input. Each extent is an int or the name of a symbol.
func (m *Model) Input(name string, d ir.DType, dims ...any) *Model {
	m.proto.Graph.Input = append(m.proto.Graph.Input, valueInfo(name, d, dims))
	return m
}

// Output declares an output. Each extent is an int or the name of a symbol.
func (m *Model) Output(name string, d ir.DType, dims ...any) *Model {
	m.proto.Graph.Output = append(m.proto.Graph.Output, valueInfo(name, d, dims))
	return m
}

// Initializer adds a constant tensor.
func (m *Model) Initializer(name string, t *ir.Tensor) *Model {
	m.proto.Graph.Initializer = append(m.proto.Graph.Initializer, tensor(name, t))
	return m
}

// Attr is an attribute of a node. Its value is an int, float64, string, []int, []float64, []string
// or *ir.Tensor, or a *Model for a graph.
type Attr struct {
	Name  string
	Value any
}

// Node adds a node with a name. op is the operator, or "domain:Op" for an operator of another
// domain. Node returns m.
func (m *Model) Node(name, op string, inputs, outputs []string, attrs ...Attr) *Model {
	n := &onnxpb.NodeProto{Name: &name, OpType: &op, Input: inputs, Output: outputs}
	for i := range op {
		if op[i] == ':' {
			n.Domain, n.OpType = proto.String(op[:i]), proto.String(op[i+1:])
		}
	}
	for _, a := range attrs {
		n.Attribute = append(n.Attribute, attribute(a))
	}
	m.proto.Graph.Node = append(m.proto.Graph.Node, n)
	return m
}

// Function adds a model-local function called `name` to a domain. `body` has the nodes of the
// function. inputs and outputs are the names of its parameters and results. Function returns m.
func (m *Model) Function(domain, name string, inputs, outputs []string, body *Model) *Model {
	m.proto.Functions = append(m.proto.Functions, &onnxpb.FunctionProto{
		Name: &name, Domain: &domain, Input: inputs, Output: outputs, Node: body.proto.Graph.Node,
		OpsetImport: m.proto.OpsetImport,
	})
	return m
}

// Bytes returns the model as a file.
func (m *Model) Bytes() []byte { return encode(m.proto) }

// Tensor returns a tensor as a file of test data.
func Tensor(name string, t *ir.Tensor) []byte { return encode(tensor(name, t)) }

// Sequence returns a sequence of tensors as a file of test data.
func Sequence(name string, tensors ...*ir.Tensor) []byte {
	s := &onnxpb.SequenceProto{Name: &name, ElemType: proto.Int32(1)}
	for _, t := range tensors {
		s.TensorValues = append(s.TensorValues, tensor("", t))
	}
	return encode(s)
}

func encode(m proto.Message) []byte {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

var dtypes = map[ir.DType]onnxpb.TensorProto_DataType{
	ir.F32:    onnxpb.TensorProto_FLOAT,
	ir.F64:    onnxpb.TensorProto_DOUBLE,
	ir.F16:    onnxpb.TensorProto_FLOAT16,
	ir.BF16:   onnxpb.TensorProto_BFLOAT16,
	ir.I64:    onnxpb.TensorProto_INT64,
	ir.I32:    onnxpb.TensorProto_INT32,
	ir.I8:     onnxpb.TensorProto_INT8,
	ir.U8:     onnxpb.TensorProto_UINT8,
	ir.Bool:   onnxpb.TensorProto_BOOL,
	ir.String: onnxpb.TensorProto_STRING,
}

func dtype(d ir.DType) *int32 {
	n, ok := dtypes[d]
	if !ok {
		panic(fmt.Sprintf("onnxtest: element type %s", d))
	}
	return proto.Int32(int32(n))
}

func valueInfo(name string, d ir.DType, dims []any) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, dim := range dims {
		p := &onnxpb.TensorShapeProto_Dimension{}
		switch dim := dim.(type) {
		case int:
			p.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(dim)}
		case string:
			p.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: dim}
		default:
			panic(fmt.Sprintf("onnxtest: extent %v", dim))
		}
		shape.Dim = append(shape.Dim, p)
	}
	return &onnxpb.ValueInfoProto{Name: &name, Type: &onnxpb.TypeProto{
		Value: &onnxpb.TypeProto_TensorType{TensorType: &onnxpb.TypeProto_Tensor{ElemType: dtype(d), Shape: shape}},
	}}
}

func tensor(name string, t *ir.Tensor) *onnxpb.TensorProto {
	p := &onnxpb.TensorProto{DataType: dtype(t.DType)}
	if name != "" {
		p.Name = &name
	}
	for _, n := range t.Shape {
		p.Dims = append(p.Dims, int64(n))
	}
	if t.DType != ir.String {
		p.RawData = t.Bytes()
		return p
	}
	for i := range t.Len() {
		p.StringData = append(p.StringData, []byte(t.Text(i)))
	}
	return p
}

func attribute(a Attr) *onnxpb.AttributeProto {
	p := &onnxpb.AttributeProto{Name: &a.Name}
	kind := func(k onnxpb.AttributeProto_AttributeType) { p.Type = &k }
	switch v := a.Value.(type) {
	case int:
		p.I = proto.Int64(int64(v))
		kind(onnxpb.AttributeProto_INT)
	case float64:
		p.F = proto.Float32(float32(v))
		kind(onnxpb.AttributeProto_FLOAT)
	case string:
		p.S = []byte(v)
		kind(onnxpb.AttributeProto_STRING)
	case []int:
		for _, n := range v {
			p.Ints = append(p.Ints, int64(n))
		}
		kind(onnxpb.AttributeProto_INTS)
	case []float64:
		for _, f := range v {
			p.Floats = append(p.Floats, float32(f))
		}
		kind(onnxpb.AttributeProto_FLOATS)
	case []string:
		for _, s := range v {
			p.Strings = append(p.Strings, []byte(s))
		}
		kind(onnxpb.AttributeProto_STRINGS)
	case *ir.Tensor:
		p.T = tensor("", v)
		kind(onnxpb.AttributeProto_TENSOR)
	case *Model:
		p.G = v.proto.Graph
		kind(onnxpb.AttributeProto_GRAPH)
	default:
		panic(fmt.Sprintf("onnxtest: attribute %s is a %T", a.Name, v))
	}
	return p
}

// MLP returns a model of two linear layers, from 4 to 8 to 3 elements, with batch size N. Its input
// is "image" f32[N,4], and its output is "logits" f32[N,3].
func MLP() *Model {
	draw := func(seed, rows, cols int) *ir.Tensor {
		t := ir.NewTensor(ir.F32, rows, cols)
		for i := range t.Len() {
			t.SetFloat(i, math.Sin(float64(seed+i)))
		}
		return t
	}
	return New(17).
		Input("image", ir.F32, "N", 4).
		Output("logits", ir.F32, "N", 3).
		Initializer("fc1.weight", draw(1, 4, 8)).
		Initializer("fc2.weight", draw(2, 8, 3)).
		Node("/fc1/MatMul", "MatMul", []string{"image", "fc1.weight"}, []string{"h"}).
		Node("/Relu", "Relu", []string{"h"}, []string{"a"}).
		Node("/fc2/MatMul", "MatMul", []string{"a", "fc2.weight"}, []string{"logits"})
}
