package wire

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// Builders of records, one for each wire type; inner records are joined.

func varint(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func fixed32(num protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, num, protowire.Fixed32Type), v)
}

func fixed64(num protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, num, protowire.Fixed64Type), v)
}

func bytesOf(num protowire.Number, inner ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), bytes.Join(inner, nil))
}

func text(num protowire.Number, s string) []byte { return bytesOf(num, []byte(s)) }

func group(num protowire.Number, inner ...[]byte) []byte {
	b := append(protowire.AppendTag(nil, num, protowire.StartGroupType), bytes.Join(inner, nil)...)
	return protowire.AppendTag(b, num, protowire.EndGroupType)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// Field numbers that many tests use.
const (
	modelGraph = 7
	graphNode  = 1
	nodeAttr   = 5
	attrT      = 5
	attrG      = 6
)

// sample returns a small model with a little of everything.
func sample(t testing.TB) []byte {
	constant := &pb.TensorProto{
		Name: proto.String("w"), DataType: proto.Int32(int32(Float)), Dims: []int64{2, 2}, FloatData: []float32{1, 2, 3, 4},
	}
	inner := &pb.GraphProto{
		Name: proto.String("then"), Node: []*pb.NodeProto{{OpType: proto.String("Identity"), Input: []string{"w"}, Output: []string{"z"}}},
		Output: []*pb.ValueInfoProto{{Name: proto.String("z")}},
	}
	float := func(dims ...*pb.TensorShapeProto_Dimension) *pb.TypeProto {
		return &pb.TypeProto{Value: &pb.TypeProto_TensorType{TensorType: &pb.TypeProto_Tensor{
			ElemType: proto.Int32(int32(Float)), Shape: &pb.TensorShapeProto{Dim: dims},
		}}}
	}
	batch := &pb.TensorShapeProto_Dimension{Value: &pb.TensorShapeProto_Dimension_DimParam{DimParam: "N"}}
	two := &pb.TensorShapeProto_Dimension{Value: &pb.TensorShapeProto_Dimension_DimValue{DimValue: 2}}
	m := &pb.ModelProto{
		IrVersion: proto.Int64(10), ProducerName: proto.String("burngen"),
		OpsetImport: []*pb.OperatorSetIdProto{{Version: proto.Int64(21)}},
		Graph: &pb.GraphProto{
			Name: proto.String("g"),
			Node: []*pb.NodeProto{
				{
					Name: proto.String("mul"), OpType: proto.String("Gemm"), Input: []string{"x", "w"}, Output: []string{"y"},
					Attribute: []*pb.AttributeProto{
						{Name: proto.String("alpha"), Type: pb.AttributeProto_FLOAT.Enum(), F: proto.Float32(0.5)},
						{Name: proto.String("transB"), Type: pb.AttributeProto_INT.Enum(), I: proto.Int64(1)},
					},
				},
				{
					OpType: proto.String("If"), Input: []string{"c"}, Output: []string{"z"},
					Attribute: []*pb.AttributeProto{
						{Name: proto.String("then_branch"), Type: pb.AttributeProto_GRAPH.Enum(), G: inner},
						{Name: proto.String("else_branch"), Type: pb.AttributeProto_GRAPH.Enum(), G: inner},
						{Name: proto.String("list"), Type: pb.AttributeProto_INTS.Enum(), Ints: []int64{1, -1, 1 << 40}},
					},
				},
			},
			Initializer: []*pb.TensorProto{constant},
			Input:       []*pb.ValueInfoProto{{Name: proto.String("x"), Type: float(batch, two)}},
			Output:      []*pb.ValueInfoProto{{Name: proto.String("y"), Type: float(batch, two)}},
		},
		MetadataProps: []*pb.StringStringEntryProto{{Key: proto.String("k"), Value: proto.String("v")}},
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func hostileNotONNX(t *testing.T) {
	model := sample(t)
	var zipped, tarred, gzipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, _ := z.Create("model.onnx")
	w.Write(model)
	z.Close()
	a := tar.NewWriter(&tarred)
	a.WriteHeader(&tar.Header{Name: "model.onnx", Size: int64(len(model)), Mode: 0o644})
	a.Write(model)
	a.Close()
	g := gzip.NewWriter(&gzipped)
	g.Write(model)
	g.Close()
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "not an ONNX model: an empty file"},
		{"one zero", []byte{0}, "not an ONNX model: zeros"},
		{"one byte", []byte{8}, "value cut short in ir_version"},
		{"zeros", make([]byte, 4096), "not an ONNX model: zeros"},
		{"text", []byte("a model\nis not text\n"), "not an ONNX model: text"},
		{"long text cut within a character", []byte(strings.Repeat("é", 400))[:511], "not an ONNX model: text"},
		{"a page", []byte("<!DOCTYPE html>\n<html>"), "not an ONNX model: an HTML page"},
		{"a picture", []byte("\x89PNG\r\n\x1a\n\x00\x00"), "not an ONNX model: a PNG image"},
		{"a pickle", []byte("\x80\x04}."), "not an ONNX model: a Python pickle; torch.onnx.export writes models"},
		{"gzip", gzipped.Bytes(), "not an ONNX model: gzip data"},
		{"zip", zipped.Bytes(), "not an ONNX model: a zip archive"},
		{"tar", tarred.Bytes(), "not an ONNX model: a tar archive"},
		{"Git LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "not an ONNX model: a Git LFS pointer; fetch the file it stands for"},
		{"no graph", varint(1, 8), "no graph"},
		{"only unknown fields", varint(99, 8), "no graph"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadModel(test.file, Limits{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

func hostileTruncated(t *testing.T) {
	b := sample(t)
	for i := range len(b) {
		m, err := ReadModel(b[:i], Limits{})
		if _, protoErr := withoutUnknown(b[:i]); err == nil && protoErr != nil {
			t.Errorf("the first %d of %d bytes are read as %+v", i, len(b), m)
		}
	}
}

func hostileMalformed(t *testing.T) {
	in := func(parts ...[]byte) []byte { return bytesOf(modelGraph, parts...) }
	node := func(parts ...[]byte) []byte { return bytesOf(graphNode, parts...) }
	long := bytes.Repeat([]byte{0xff}, 10)
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"length beyond the end", in(protowire.AppendVarint(protowire.AppendTag(nil, graphNode, protowire.BytesType), 300)), "graph: length 300 with 0 bytes left in node"},
		{"length of 2^63", in(protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.BytesType), 1<<63)), "graph: length 9223372036854775808 with 0 bytes left in name"},
		{"varint of 11 bytes", append([]byte{8}, append(long, 1)...), "value of more than 64 bits in ir_version"},
		{"tag of 11 bytes", append(long, 1), "field tag of more than 64 bits"},
		{"length of 11 bytes", in([]byte{0x12}, long, []byte{1}), "graph: length of more than 64 bits in name"},
		{"cut in a varint", []byte{8, 0x80}, "value cut short in ir_version"},
		{"cut in a fixed value", in(node(bytesOf(nodeAttr, fixed32(2, 1)[:3]))), "graph.node[0].attribute[0]: value cut short in f"},
		{"field number 0", in([]byte{0, 1}), "graph: field number 0"},
		{"field number 2^29", protowire.AppendVarint(nil, 1<<32), "field number 536870912"},
		{"wire type 6", in(node([]byte{1<<3 | 6})), "graph.node[0]: wire type 6 of field 1"},
		{"wire type 7", in(node([]byte{1<<3 | 7})), "graph.node[0]: wire type 7 of field 1"},
		{"end of no group", in([]byte{99<<3&0x7f | 4 | 0x80, 99 >> 4}), "graph: end of a group that did not begin in field 99"},
		{"group that does not end", in(protowire.AppendTag(nil, 99, protowire.StartGroupType)), "graph: field tag cut short in field 99"},
		{"group with another's end", in(protowire.AppendTag(protowire.AppendTag(nil, 99, protowire.StartGroupType), 98, protowire.EndGroupType)), "graph: end of group 98 inside group 99 in field 99"},
		{"group for a message", in(group(graphNode)), "graph: wire type 3 for node"},
		{"number for a name", in(node(varint(4, 1))), "graph.node[0]: wire type 0 for op_type"},
		{"third attribute's tensor", in(bytes.Repeat(node(), 17), node(bytesOf(nodeAttr), bytesOf(nodeAttr), bytesOf(nodeAttr, bytesOf(attrT, fixed32(1, 1))))), "graph.node[17].attribute[2].t: wire type 5 for dims"},
		{"packed dims cut short", in(bytesOf(5, bytesOf(1, []byte{1, 2, 0x80}))), "graph.initializer[0]: value cut short in dims[2]"},
		{"packed floats of 6 bytes", in(bytesOf(5, bytesOf(4, make([]byte, 6)))), "graph.initializer[0]: value cut short in float_data[1]"},
		{"packed integers of more than 64 bits", in(bytesOf(5, bytesOf(7, long, []byte{1}))), "graph.initializer[0]: value of more than 64 bits in int64_data[0]"},
		{"name not UTF-8", in(node(text(3, "a\xff"))), "graph.node[0]: invalid UTF-8 in name"},
		{"input not UTF-8", in(node(text(1, "a"), text(1, "\xc0\x80"))), "graph.node[0]: invalid UTF-8 in input[1]"},
		{"dimension not UTF-8", in(bytesOf(11, bytesOf(2, bytesOf(1, bytesOf(2, bytesOf(1, text(2, "\xed\xa0\x80"))))))), "graph.input[0].type.tensor_type.shape.dim[0]: invalid UTF-8 in dim_param"},
		{"in a function", join(in(), bytesOf(25), bytesOf(25, bytesOf(7, varint(1, 1)))), "functions[1].node[0]: wire type 0 for input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadModel(test.file, Limits{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v\nwant      %s", err, test.want)
			}
		})
	}
}

// eachField calls yield with every field of a table.
func eachField[M any](t table[M], yield func(num protowire.Number, s spec[M])) {
	for num, s := range t {
		if s.put != nil {
			yield(protowire.Number(num), s)
		}
	}
}

// TestTables reads every field of every message with every wire type. Wrong wire types must be
// refused, and a group must not cause a panic. It also compares names and numbers with the schema.
func TestTables(t *testing.T) {
	testTable(t, modelFields, new(pb.ModelProto))
	testTable(t, opsetFields, new(pb.OperatorSetIdProto))
	testTable(t, entryFields, new(pb.StringStringEntryProto))
	testTable(t, functionFields, new(pb.FunctionProto))
	testTable(t, trainingFields, new(pb.TrainingInfoProto))
	testTable(t, graphFields, new(pb.GraphProto))
	testTable(t, nodeFields, new(pb.NodeProto))
	testTable(t, attrFields, new(pb.AttributeProto))
	testTable(t, annotationFields, new(pb.TensorAnnotation))
	testTable(t, tensorFields, new(pb.TensorProto))
	testTable(t, segmentFields, new(pb.TensorProto_Segment))
	testTable(t, sparseTensorFields, new(pb.SparseTensorProto))
	testTable(t, valueInfoFields, new(pb.ValueInfoProto))
	testTable(t, typeFields, new(pb.TypeProto))
	testTable(t, tensorTypeFields, new(pb.TypeProto_Tensor))
	testTable(t, tensorTypeFields, new(pb.TypeProto_SparseTensor))
	testTable(t, elemTypeFields, new(pb.TypeProto_Sequence))
	testTable(t, elemTypeFields, new(pb.TypeProto_Optional))
	testTable(t, mapTypeFields, new(pb.TypeProto_Map))
	testTable(t, opaqueTypeFields, new(pb.TypeProto_Opaque))
	testTable(t, shapeFields, new(pb.TensorShapeProto))
	testTable(t, dimFields, new(pb.TensorShapeProto_Dimension))
	testTable(t, sequenceFields, new(pb.SequenceProto))
	testTable(t, mapFields, new(pb.MapProto))
	testTable(t, optionalFields, new(pb.OptionalProto))
}

func testTable[M any](t *testing.T, fields table[M], schema proto.Message) {
	d := schema.ProtoReflect().Descriptor()
	if len(fields) > maxField {
		t.Fatalf("%s: field number %d is above maxField", d.Name(), len(fields)-1)
	}
	known := 0
	eachField(fields, func(num protowire.Number, s spec[M]) {
		known++
		f := d.Fields().ByNumber(num)
		if f == nil || f.TextName() != s.name {
			t.Errorf("%s: field %d is %s, in the schema %v", d.Name(), num, s.name, f)
			return
		}
		if f.IsList() != (s.grow != nil || reflect.TypeFor[M]() == reflect.TypeFor[Tensor]() && strings.HasSuffix(s.name, "_data") && s.name != "raw_data") {
			t.Errorf("%s.%s: repeated in one of table and schema", d.Name(), s.name)
		}
		for typ, record := range [][]byte{varint(num, 0), fixed64(num, 0), bytesOf(num), group(num), nil, fixed32(num, 0)} {
			if record == nil {
				continue
			}
			err := merge(newReader(Limits{}), fields, new(M), record)
			if right := protowire.Type(typ) == s.typ || f.IsList() && f.Message() == nil && s.typ != protowire.BytesType && protowire.Type(typ) == protowire.BytesType; right != (err == nil) {
				t.Errorf("%s.%s: wire type %d: %v", d.Name(), s.name, typ, err)
			}
		}
	})
	skipped := map[string]int{"ModelProto": 1, "NodeProto": 1}[string(d.Name())] // devices
	if known != d.Fields().Len()-skipped {
		t.Errorf("%s: %d fields, in the schema %d", d.Name(), known, d.Fields().Len())
	}
}

func hostileUnknownFieldsAreSkipped(t *testing.T) {
	unknown := join(
		varint(99, 1<<63), fixed64(99, 1), fixed32(99, 1), text(99, "\xff"), group(99, varint(1, 1), group(1, text(2, "x"))),
		varint(3, 1), // a field number the graph once had
	)
	m, err := ReadModel(bytesOf(modelGraph, unknown, text(2, "g"), unknown), Limits{})
	if err != nil || m.Graph.Name != "g" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// inside is depth times the messages nums within one another, the first outermost.
func inside(depth int, nums ...protowire.Number) []byte {
	var heads [][]byte // innermost first
	size := 0
	for range depth {
		for _, num := range slices.Backward(nums) {
			head := protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.BytesType), uint64(size))
			heads = append(heads, head)
			size += len(head)
		}
	}
	slices.Reverse(heads)
	return bytes.Join(heads, nil)
}

func hostileNesting(t *testing.T) {
	graphs := func(n int) []byte { return bytesOf(modelGraph, inside(n-1, graphNode, nodeAttr, attrG)) }
	types := func(n int) []byte { return bytesOf(modelGraph, bytesOf(11, bytesOf(2, inside(n-1, 4, 1)))) }
	groups := func(n int) []byte {
		begin := protowire.AppendTag(nil, 99, protowire.StartGroupType)
		end := protowire.AppendTag(nil, 99, protowire.EndGroupType)
		return bytesOf(modelGraph, bytes.Repeat(begin, n), bytes.Repeat(end, n))
	}
	for _, test := range []struct {
		name string
		file func(n int) []byte
		most int
		want string
	}{
		{"graphs", graphs, 64, "nested more than 64 deep"},
		{"types", types, 63, "nested more than 64 deep"}, // in a graph
		{"groups", groups, 64, "groups nested more than 64 deep"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, n := range []int{1, 10, test.most} {
				if _, err := ReadModel(test.file(n), Limits{}); err != nil {
					t.Errorf("%d: %.200v", n, err)
				}
			}
			for _, n := range []int{test.most + 1, 10_000} {
				if _, err := ReadModel(test.file(n), Limits{}); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%d: %.200v", n, err)
				}
			}
		})
	}
}

// allocated returns the memory that f asks for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hostileFloodOfEmptyMessages repeats each repeated field of graphs, nodes and other messages two
// million times. Two bytes of the file would become a struct each. The limits must refuse this
// before memory is allocated.
func hostileFloodOfEmptyMessages(t *testing.T) {
	const times = 2 << 20
	limits := Limits{Memory: 16 << 20}
	flood := func(t *testing.T, name string, num protowire.Number, wrap func([]byte) []byte) {
		file := wrap(bytes.Repeat(bytesOf(num), times))
		var err error
		got := allocated(func() { _, err = ReadModel(file, limits) })
		if err == nil || !strings.Contains(err.Error(), "more than ") {
			t.Errorf("%s: %v", name, err)
		}
		if got > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
	inModel := func(b []byte) []byte { return join(bytesOf(modelGraph), b) }
	inGraph := func(b []byte) []byte { return bytesOf(modelGraph, b) }
	inNode := func(b []byte) []byte { return inGraph(bytesOf(graphNode, b)) }
	inAttr := func(b []byte) []byte { return inNode(bytesOf(nodeAttr, b)) }
	eachField(modelFields, func(num protowire.Number, s spec[Model]) {
		if s.grow != nil {
			flood(t, s.name, num, inModel)
		}
	})
	eachField(graphFields, func(num protowire.Number, s spec[Graph]) {
		if s.grow != nil {
			flood(t, s.name, num, inGraph)
		}
	})
	eachField(nodeFields, func(num protowire.Number, s spec[Node]) {
		if s.grow != nil {
			flood(t, s.name, num, inNode)
		}
	})
	eachField(attrFields, func(num protowire.Number, s spec[Attr]) {
		if s.grow != nil && !s.list {
			flood(t, s.name, num, inAttr)
		}
	})
}

// hostileFloodOfNumbers packs a million numbers of one byte each, which take eight in memory.
func hostileFloodOfNumbers(t *testing.T) {
	file := bytesOf(modelGraph, bytesOf(graphNode, bytesOf(nodeAttr, bytesOf(8, make([]byte, 1<<20)))))
	if _, err := ReadModel(file, Limits{Memory: 9 << 20}); err != nil {
		t.Error(err)
	}
	var err error
	got := allocated(func() { _, err = ReadModel(file, Limits{Memory: 8 << 20}) })
	if want := "graph.node[0].attribute[0]: more than 8 MiB of structs"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if got > 1<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}

// hostileFloodInPieces spreads the flood over many merged graphs, so that no single count is large.
func hostileFloodInPieces(t *testing.T) {
	file := bytes.Repeat(bytesOf(modelGraph, bytesOf(graphNode), bytesOf(12)), 1<<20)
	var err error
	got := allocated(func() { _, err = ReadModel(file, Limits{Memory: 8 << 20}) })
	if err == nil || !strings.Contains(err.Error(), "more than 8 MiB of structs") {
		t.Error(err)
	}
	if got > 64<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}

func TestLimits(t *testing.T) {
	function := bytesOf(25, bytesOf(7))
	attr := bytesOf(graphNode, bytesOf(nodeAttr))
	for _, test := range []struct {
		name   string
		limits Limits
		file   func(n int) []byte
		want   string
	}{
		{"nodes", Limits{Nodes: 3}, func(n int) []byte { return bytesOf(modelGraph, bytes.Repeat(bytesOf(graphNode), n)) }, "graph: more than 3 nodes"},
		{"nodes in functions", Limits{Nodes: 3}, func(n int) []byte { return join(bytesOf(modelGraph), bytes.Repeat(function, n)) }, "functions[3]: more than 3 nodes"},
		{"functions", Limits{Functions: 3}, func(n int) []byte { return join(bytesOf(modelGraph), bytes.Repeat(function, n)) }, "more than 3 functions"},
		{"attributes", Limits{Attributes: 3}, func(n int) []byte { return bytesOf(modelGraph, bytes.Repeat(attr, n)) }, "graph.node[3]: more than 3 attributes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := ReadModel(test.file(3), test.limits); err != nil {
				t.Error(err)
			}
			if _, err := ReadModel(test.file(4), test.limits); err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
	t.Run("a million nodes are within the defaults", func(t *testing.T) {
		m, err := ReadModel(bytesOf(modelGraph, bytes.Repeat(bytesOf(graphNode, text(1, "x"), text(2, "y"), text(4, "Identity")), 1_000_000)), Limits{})
		if err != nil || len(m.Graph.Nodes) != 1_000_000 {
			t.Error(err)
		}
	})
}

// hostileRepeatedFields pins the rules of protocol buffers for fields that occur twice, in cases
// where parsers have differed.
func hostileRepeatedFields(t *testing.T) {
	for _, test := range []struct {
		name  string
		graph []byte
		check func(g *Graph) string
		want  string
	}{
		{"the last scalar stands", join(text(2, "a"), text(2, "b")), func(g *Graph) string { return g.Name }, "b"},
		{"lists packed, not packed and cut are one list", bytesOf(graphNode, bytesOf(nodeAttr, varint(8, 1), bytesOf(8, []byte{2, 3}), bytesOf(8), varint(8, 4))),
			func(g *Graph) string { return fmt.Sprint(g.Nodes[0].Attrs[0].Ints) }, "[1 2 3 4]"},
		{"a message is merged", bytesOf(graphNode, bytesOf(nodeAttr, bytesOf(attrT, text(8, "a"), varint(1, 2)), bytesOf(attrT, varint(1, 3), varint(2, 1)))),
			func(g *Graph) string {
				x := g.Nodes[0].Attrs[0].T
				return fmt.Sprintf("%v %v %v", x.Name, x.Dims, x.Type)
			}, "a [2 3] FLOAT"},
		{"the last form of a type stands", bytesOf(11, bytesOf(2, bytesOf(1, varint(1, 1)), bytesOf(4))),
			func(g *Graph) string { return fmt.Sprint(g.Inputs[0].Type.Kind == SequenceType, g.Inputs[0].Type.Elem) }, "true UNDEFINED"},
		{"one form of a type is merged", bytesOf(11, bytesOf(2, bytesOf(1, varint(1, 1)), bytesOf(1, bytesOf(2, bytesOf(1, varint(1, 5)))), bytesOf(1, bytesOf(2, bytesOf(1, text(2, "N")))))),
			func(g *Graph) string {
				x := g.Inputs[0].Type
				return fmt.Sprintf("%v %v %v", x.Elem, x.Shape[0].Value, x.Shape[1].Param)
			}, "FLOAT 5 N"},
		{"the last of a dimension's value and symbol stands", bytesOf(11, bytesOf(2, bytesOf(1, bytesOf(2, bytesOf(1, text(2, "N"), varint(1, 7)))))),
			func(g *Graph) string {
				d := g.Inputs[0].Type.Shape[0]
				return fmt.Sprintf("%v %v %q", d.Kind == DimValue, d.Value, d.Param)
			}, `true 7 ""`},
		{"also a symbol after a value", bytesOf(11, bytesOf(2, bytesOf(1, bytesOf(2, bytesOf(1, varint(1, 7), text(2, "N")))))),
			func(g *Graph) string {
				d := g.Inputs[0].Type.Shape[0]
				return fmt.Sprintf("%v %v %q", d.Kind == DimParam, d.Value, d.Param)
			}, `true 0 "N"`},
		{"a scalar's shape is a shape", bytesOf(11, bytesOf(2, bytesOf(1, bytesOf(2)))),
			func(g *Graph) string { return fmt.Sprint(g.Inputs[0].Type.Ranked, len(g.Inputs[0].Type.Shape)) }, "true 0"},
		{"tensor data of two messages is one list", join(bytesOf(graphNode, bytesOf(nodeAttr,
			bytesOf(attrT, varint(2, 7), varint(1, 3), bytesOf(7, []byte{1, 2})), bytesOf(attrT, varint(7, 3))))),
			func(g *Graph) string { b, err := g.Nodes[0].Attrs[0].T.Bytes(); return fmt.Sprint(b, err) },
			"[1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 3 0 0 0 0 0 0 0] <nil>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			// Once in one graph message, once merged from a graph message per field.
			var cut []byte
			for b := test.graph; len(b) > 0; {
				_, rest, err := next(b)
				if err != nil {
					t.Fatal(err)
				}
				cut = append(cut, bytesOf(modelGraph, b[:len(b)-len(rest)])...)
				b = rest
			}
			for _, file := range [][]byte{bytesOf(modelGraph, test.graph), cut} {
				m, err := ReadModel(file, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if got := test.check(m.Graph); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
				checkTwin(t, file, m, new(pb.ModelProto), modelTwin)
			}
		})
	}
}

func TestAttrKind(t *testing.T) {
	for _, test := range []struct {
		name string
		attr []byte
		want string
	}{
		{"written", join(varint(20, 2), varint(3, 1)), "INT"},
		{"zero left out", varint(20, 2), "INT"},
		{"empty list left out", varint(20, 7), "INTS"},
		{"not written", varint(3, 1), "INT"},
		{"not written, a tensor", bytesOf(5), "TENSOR"},
		{"not written, an empty packed list", bytesOf(7), "FLOATS"},
		{"reference", join(varint(20, 4), text(21, "outer")), "TENSOR"},
		{"not written, nothing", nil, `attribute "a": no type`},
		{"not written, two values", join(varint(3, 1), fixed32(2, 1)), `attribute "a": no type`},
		{"another type", join(varint(20, 1), varint(3, 1)), `attribute "a": a value of type INT for type FLOAT`},
		{"two types", join(varint(20, 2), varint(3, 1), bytesOf(6)), `attribute "a": a value of type GRAPH for type INT`},
		{"no tensor", varint(20, 4), `attribute "a": no value of type TENSOR`},
		{"no graph", varint(20, 5), `attribute "a": no value of type GRAPH`},
		{"unknown", varint(20, 15), `attribute "a": unknown type 15`},
		{"negative", varint(20, 1<<64-1), `attribute "a": unknown type -1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := ReadModel(bytesOf(modelGraph, bytesOf(graphNode, bytesOf(nodeAttr, text(1, "a"), test.attr))), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			kind, err := m.Graph.Nodes[0].Attrs[0].Kind()
			got := kind.String()
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestHostile runs the reading of hostile files, a group for each kind.
func TestHostile(t *testing.T) {
	for _, group := range []struct {
		name string
		test func(*testing.T)
	}{
		{"01 files of other kinds", hostileNotONNX},
		{"01 files that are cut off", hostileTruncated},
		{"02 lengths and numbers that do not fit", hostileMalformed},
		{"02 a flood of empty messages", hostileFloodOfEmptyMessages},
		{"02 a flood of numbers", hostileFloodOfNumbers},
		{"02 a flood in pieces", hostileFloodInPieces},
		{"02 unknown fields", hostileUnknownFieldsAreSkipped},
		{"03 nesting", hostileNesting},
		{"04 fields that are given twice", hostileRepeatedFields},
	} {
		t.Run(group.name, group.test)
	}
}
