package onnx

import (
	"runtime/debug"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/internal/heap"
	"github.com/burngen/burngen/ir"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// Pieces of models, written as they are told and not checked.

// model returns a model of a graph in opset 21, changed by edits.
func model(g *pb.GraphProto, edits ...func(*pb.ModelProto)) *pb.ModelProto {
	m := &pb.ModelProto{IrVersion: proto.Int64(10), Graph: g, OpsetImport: []*pb.OperatorSetIdProto{opset("", 21)}}
	for _, edit := range edits {
		edit(m)
	}
	return m
}

// chainOf returns the graph from input x, f32[2,3], to output y through nodes.
func chainOf(nodes ...*pb.NodeProto) *pb.GraphProto {
	return &pb.GraphProto{Input: values(value("x", f32(2, 3))), Output: values(value("y", f32(2, 3))), Node: nodes}
}

func opset(domain string, version int64) *pb.OperatorSetIdProto {
	return &pb.OperatorSetIdProto{Domain: &domain, Version: &version}
}

func node(op string, inputs, outputs []string, attrs ...*pb.AttributeProto) *pb.NodeProto {
	return &pb.NodeProto{OpType: &op, Input: inputs, Output: outputs, Attribute: attrs}
}

// in returns n as a node of a domain, called name.
func in(domain, name string, n *pb.NodeProto) *pb.NodeProto {
	n.Domain, n.Name = &domain, &name
	return n
}

func names(list ...string) []string { return list }

func value(name string, t *pb.TypeProto) *pb.ValueInfoProto {
	return &pb.ValueInfoProto{Name: &name, Type: t}
}

func values(list ...*pb.ValueInfoProto) []*pb.ValueInfoProto { return list }

// f32 returns a type of f32 elements; each extent is a number or the name of
// a symbol.
func f32(dims ...any) *pb.TypeProto { return tensorOfType(pb.TensorProto_FLOAT, dims...) }

func tensorOfType(d pb.TensorProto_DataType, dims ...any) *pb.TypeProto {
	shape := &pb.TensorShapeProto{}
	for _, dim := range dims {
		p := &pb.TensorShapeProto_Dimension{}
		switch dim := dim.(type) {
		case int:
			p.Value = &pb.TensorShapeProto_Dimension_DimValue{DimValue: int64(dim)}
		case int64:
			p.Value = &pb.TensorShapeProto_Dimension_DimValue{DimValue: dim}
		case string:
			p.Value = &pb.TensorShapeProto_Dimension_DimParam{DimParam: dim}
		}
		shape.Dim = append(shape.Dim, p)
	}
	return &pb.TypeProto{Value: &pb.TypeProto_TensorType{TensorType: &pb.TypeProto_Tensor{ElemType: proto.Int32(int32(d)), Shape: shape}}}
}

// initializer returns a tensor of raw data.
func initializer(name string, d pb.TensorProto_DataType, raw []byte, dims ...int64) *pb.TensorProto {
	return &pb.TensorProto{Name: &name, DataType: proto.Int32(int32(d)), Dims: dims, RawData: raw}
}

func ints(name string, v ...int64) *pb.TensorProto {
	t := ir.IntTensor(ir.I64, v...)
	return initializer(name, pb.TensorProto_INT64, t.Bytes(), int64(len(v)))
}

func attrInt(name string, v int64) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_INT.Enum(), I: &v}
}

func attrInts(name string, v ...int64) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_INTS.Enum(), Ints: v}
}

func attrText(name, v string) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_STRING.Enum(), S: []byte(v)}
}

func attrFloat(name string, v float32) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_FLOAT.Enum(), F: &v}
}

func attrTensor(name string, v *pb.TensorProto) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_TENSOR.Enum(), T: v}
}

func attrGraph(name string, g *pb.GraphProto) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_GRAPH.Enum(), G: g}
}

// attrRef returns an attribute that stands for the one of the function around it.
func attrRef(name, ref string, kind pb.AttributeProto_AttributeType) *pb.AttributeProto {
	return &pb.AttributeProto{Name: &name, RefAttrName: &ref, Type: &kind}
}

// function returns a function of domain "local" in opset 21.
func localFunction(name string, inputs, outputs []string, nodes ...*pb.NodeProto) *pb.FunctionProto {
	return &pb.FunctionProto{
		Name: &name, Domain: proto.String("local"), Input: inputs, Output: outputs, Node: nodes,
		OpsetImport: []*pb.OperatorSetIdProto{opset("", 21), opset("local", 1)},
	}
}

// withFunctions adds functions to a model.
func withFunctions(f ...*pb.FunctionProto) func(*pb.ModelProto) {
	return func(m *pb.ModelProto) {
		m.Functions = append(m.Functions, f...)
		m.OpsetImport = append(m.OpsetImport, opset("local", 1))
	}
}

func encode(t testing.TB, m proto.Message) []byte {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// custom returns operators for tests. test.Block imports the graph "body", which has no inputs, and
// returns one of its results. test.Twice imports it twice.
func custom(domain, name string) (CustomOp, bool) {
	imports, ok := map[string]int{"Block": 1, "Twice": 2}[name]
	return func(c ir.Importer) ([]*ir.Value, error) {
		var results []*ir.Value
		for range imports {
			results = c.Builder().Inline(c.Graph("body", nil), nil, "")
		}
		return results, nil
	}, ok && domain == "test"
}

// bounded runs f and fails when that takes more than 512 MiB of memory.
func bounded(t *testing.T, f func()) {
	t.Helper()
	const limit = 512 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	bytes, panicked := heap.Growth(f)
	if panicked != nil {
		t.Errorf("panic: %v", panicked)
	}
	if bytes > limit {
		t.Errorf("%d MiB of memory, at most %d expected", bytes>>20, limit>>20)
	}
}
