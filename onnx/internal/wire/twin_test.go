package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// The twin of a struct is what package protobuf reads from the same bytes, converted field by field.

func all[P, S any](in []P, convert func(P) S) []S {
	out := make([]S, len(in))
	for i, p := range in {
		out[i] = convert(p)
	}
	return out
}

// some converts a message that may be absent.
func some[P comparable, S any](p P, convert func(P) S) *S {
	if p == *new(P) {
		return nil
	}
	s := convert(p)
	return &s
}

func texts(in [][]byte) []string { return all(in, func(b []byte) string { return string(b) }) }

func modelTwin(m *pb.ModelProto) Model {
	return Model{
		IRVersion: m.GetIrVersion(), Producer: m.GetProducerName(), ProducerVersion: m.GetProducerVersion(),
		Domain: m.GetDomain(), Version: m.GetModelVersion(), Doc: m.GetDocString(), Opsets: all(m.OpsetImport, opsetTwin),
		Graph: some(m.Graph, graphTwin), Functions: all(m.Functions, functionTwin), Metadata: all(m.MetadataProps, entryTwin),
		Training: all(m.TrainingInfo, func(t *pb.TrainingInfoProto) Training {
			return Training{
				Init: some(t.Initialization, graphTwin), Step: some(t.Algorithm, graphTwin),
				InitBindings: all(t.InitializationBinding, entryTwin), StepBindings: all(t.UpdateBinding, entryTwin),
			}
		}),
	}
}

func opsetTwin(o *pb.OperatorSetIdProto) Opset {
	return Opset{Domain: o.GetDomain(), Version: o.GetVersion()}
}

func entryTwin(e *pb.StringStringEntryProto) Entry {
	return Entry{Key: e.GetKey(), Value: e.GetValue()}
}

func functionTwin(f *pb.FunctionProto) Function {
	return Function{
		Name: f.GetName(), Domain: f.GetDomain(), Overload: f.GetOverload(), Doc: f.GetDocString(), Inputs: f.Input,
		Outputs: f.Output, Required: f.Attribute, Defaults: all(f.AttributeProto, attrTwin), Nodes: all(f.Node, nodeTwin),
		Values: all(f.ValueInfo, valueInfoTwin), Opsets: all(f.OpsetImport, opsetTwin), Metadata: all(f.MetadataProps, entryTwin),
	}
}

func graphTwin(g *pb.GraphProto) Graph {
	return Graph{
		Name: g.GetName(), Doc: g.GetDocString(), Nodes: all(g.Node, nodeTwin), Inputs: all(g.Input, valueInfoTwin),
		Outputs: all(g.Output, valueInfoTwin), Values: all(g.ValueInfo, valueInfoTwin),
		Initializers: all(g.Initializer, tensorTwin), SparseInitializers: all(g.SparseInitializer, sparseTwin),
		Quantization: all(g.QuantizationAnnotation, func(a *pb.TensorAnnotation) Annotation {
			return Annotation{Tensor: a.GetTensorName(), Parameters: all(a.QuantParameterTensorNames, entryTwin)}
		}),
		Metadata: all(g.MetadataProps, entryTwin),
	}
}

func nodeTwin(n *pb.NodeProto) Node {
	return Node{
		Name: n.GetName(), OpType: n.GetOpType(), Domain: n.GetDomain(), Overload: n.GetOverload(), Doc: n.GetDocString(),
		Inputs: n.Input, Outputs: n.Output, Attrs: all(n.Attribute, attrTwin), Metadata: all(n.MetadataProps, entryTwin),
	}
}

func attrTwin(a *pb.AttributeProto) Attr {
	return Attr{
		Name: a.GetName(), Type: AttrType(a.GetType()), Ref: a.GetRefAttrName(), Doc: a.GetDocString(), F: a.GetF(), I: a.GetI(),
		S: string(a.GetS()), T: some(a.T, tensorTwin), G: some(a.G, graphTwin), Sparse: some(a.SparseTensor, sparseTwin),
		TP: some(a.Tp, typeTwin), Floats: a.Floats, Ints: a.Ints, Strings: texts(a.Strings), Tensors: all(a.Tensors, tensorTwin),
		Graphs: all(a.Graphs, graphTwin), Sparses: all(a.SparseTensors, sparseTwin), Types: all(a.TypeProtos, typeTwin),
	}
}

func valueInfoTwin(v *pb.ValueInfoProto) ValueInfo {
	return ValueInfo{Name: v.GetName(), Type: some(v.Type, typeTwin), Doc: v.GetDocString(), Metadata: all(v.MetadataProps, entryTwin)}
}

func typeTwin(t *pb.TypeProto) Type {
	out := Type{Denotation: t.GetDenotation()}
	tensor := func(elem int32, shape *pb.TensorShapeProto) {
		out.Elem, out.Ranked = DataType(elem), shape != nil
		for _, d := range shape.GetDim() {
			dim := Dim{Value: d.GetDimValue(), Param: d.GetDimParam(), Denotation: d.GetDenotation()}
			switch d.Value.(type) {
			case *pb.TensorShapeProto_Dimension_DimValue:
				dim.Kind = DimValue
			case *pb.TensorShapeProto_Dimension_DimParam:
				dim.Kind = DimParam
			}
			out.Shape = append(out.Shape, dim)
		}
	}
	switch v := t.Value.(type) {
	case *pb.TypeProto_TensorType:
		out.Kind = TensorType
		tensor(v.TensorType.GetElemType(), v.TensorType.GetShape())
	case *pb.TypeProto_SparseTensorType:
		out.Kind = SparseTensorType
		tensor(v.SparseTensorType.GetElemType(), v.SparseTensorType.GetShape())
	case *pb.TypeProto_SequenceType:
		out.Kind, out.Of = SequenceType, some(v.SequenceType.GetElemType(), typeTwin)
	case *pb.TypeProto_OptionalType:
		out.Kind, out.Of = OptionalType, some(v.OptionalType.GetElemType(), typeTwin)
	case *pb.TypeProto_MapType:
		out.Kind, out.Key, out.Of = MapType, DataType(v.MapType.GetKeyType()), some(v.MapType.GetValueType(), typeTwin)
	case *pb.TypeProto_OpaqueType:
		out.Kind, out.Domain, out.Name = OpaqueType, v.OpaqueType.GetDomain(), v.OpaqueType.GetName()
	}
	return out
}

// tensorTwin returns a tensor whose values are a message with no other fields. A Tensor expects its
// values in such a message.
func tensorTwin(t *pb.TensorProto) Tensor {
	out := Tensor{
		Name: t.GetName(), Doc: t.GetDocString(), Type: DataType(t.GetDataType()), Dims: t.Dims, Raw: t.RawData,
		Outside: t.GetDataLocation() == pb.TensorProto_EXTERNAL, External: all(t.ExternalData, entryTwin),
		Metadata: all(t.MetadataProps, entryTwin), segment: t.Segment != nil,
		counts: [len(columns)]int{len(t.FloatData), len(t.Int32Data), len(t.StringData), len(t.Int64Data), len(t.DoubleData), len(t.Uint64Data)},
	}
	body, err := proto.Marshal(&pb.TensorProto{
		FloatData: t.FloatData, Int32Data: t.Int32Data, StringData: t.StringData, Int64Data: t.Int64Data,
		DoubleData: t.DoubleData, Uint64Data: t.Uint64Data,
	})
	if err != nil {
		panic(err)
	}
	out.bodies = [][]byte{body}
	return out
}

func sparseTwin(s *pb.SparseTensorProto) SparseTensor {
	return SparseTensor{Values: some(s.Values, tensorTwin), Indices: some(s.Indices, tensorTwin), Dims: s.Dims}
}

func sequenceTwin(s *pb.SequenceProto) Sequence {
	return Sequence{
		Name: s.GetName(), Kind: ValueKind(s.GetElemType()), Tensors: all(s.TensorValues, tensorTwin),
		Sparses: all(s.SparseTensorValues, sparseTwin), Sequences: all(s.SequenceValues, sequenceTwin),
		Maps: all(s.MapValues, mapTwin), Optionals: all(s.OptionalValues, optionalTwin),
	}
}

func mapTwin(m *pb.MapProto) Map {
	return Map{
		Name: m.GetName(), Key: DataType(m.GetKeyType()), Keys: m.Keys, StringKeys: texts(m.StringKeys),
		Values: some(m.Values, sequenceTwin),
	}
}

func optionalTwin(o *pb.OptionalProto) Optional {
	return Optional{
		Name: o.GetName(), Kind: ValueKind(o.GetElemType()), Tensor: some(o.TensorValue, tensorTwin),
		Sparse: some(o.SparseTensorValue, sparseTwin), Sequence: some(o.SequenceValue, sequenceTwin),
		Map: some(o.MapValue, mapTwin), Optional: some(o.OptionalValue, optionalTwin),
	}
}

// A contents is all there is to a tensor, its values written out, for comparison.
type contents struct {
	Name, Doc          string
	Type               DataType
	Dims               []int64
	Outside, Segment   bool
	External, Metadata []Entry
	Strings            []string
	Data               [len(columns) + 1]string // 8 bytes a number, and the raw data
}

func contentsOf(t Tensor) contents {
	out := contents{
		Name: t.Name, Doc: t.Doc, Type: t.Type, Dims: t.Dims, Outside: t.Outside, Segment: t.segment,
		External: t.External, Metadata: t.Metadata,
	}
	out.Data[len(columns)] = string(t.Raw)
	for c := range columns {
		count := 0
		var numbers []byte
		err := t.fields(column(c), func(f field) error {
			if column(c) == stringData {
				out.Strings = append(out.Strings, string(f.data))
				count++
				return nil
			}
			return each(columns[c].typ, f, func(v uint64) {
				if column(c) == int32Data {
					v = uint64(uint32(v))
				}
				numbers = binary.LittleEndian.AppendUint64(numbers, v)
				count++
			})
		})
		if err != nil {
			panic(err)
		}
		if count != t.counts[c] {
			panic(fmt.Sprintf("%d values of %s, counted as %d", count, columns[c].name, t.counts[c]))
		}
		out.Data[c] = string(numbers)
	}
	return out
}

// same compares values, and reads the numbers of tensors to do so.
var same = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.EquateNaNs(),
	cmpopts.IgnoreUnexported(Attr{}),
	cmp.Transformer("contents", contentsOf),
}

// check is what tests, fuzz targets and properties report to.
type check interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// checkTwin compares a reading with protobuf's.
func checkTwin[S any, P proto.Message](t check, b []byte, got *S, p P, twin func(P) S) {
	t.Helper()
	if err := proto.Unmarshal(b, p); err != nil {
		t.Fatalf("protobuf refuses what was read: %v", err)
	}
	if diff := cmp.Diff(twin(p), *got, same); diff != "" {
		t.Errorf("reading differs from protobuf's (-protobuf +ours):\n%.4000s", diff)
	}
}

// withoutDevices is the schema of models as this package knows it: without the fields for placement on devices.
var withoutDevices = func() protoreflect.MessageDescriptor {
	file := protodesc.ToFileDescriptorProto(pb.File_onnx_internal_onnxpb_onnx_proto)
	for _, m := range file.MessageType {
		var keep []*descriptorpb.FieldDescriptorProto
		for _, f := range m.Field {
			if f.GetName() != "configuration" && f.GetName() != "device_configurations" {
				keep = append(keep, f)
			}
		}
		m.Field = keep
	}
	d, err := protodesc.NewFile(file, nil)
	if err != nil {
		panic(err)
	}
	return d.Messages().ByName("ModelProto")
}()

// withoutUnknown reads b as a model with protobuf, and writes it again with only the fields that
// this package knows.
func withoutUnknown(b []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(withoutDevices)
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}
