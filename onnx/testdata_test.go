package onnx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/internal/onnxpb"
	"github.com/burngen/burngen/onnx/onnxtest"
)

func TestReadValue(t *testing.T) {
	one, two := ir.FloatTensor(ir.F32, 1, 2), ir.IntTensor(ir.I64, 7)
	texts := ir.NewTensor(ir.String, 1, 2)
	texts.SetText(0, "a")
	texts.SetText(1, "é\n")
	encode := func(m proto.Message) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	inner := func(data []byte) *onnxpb.SequenceProto {
		s := new(onnxpb.SequenceProto)
		if err := proto.Unmarshal(data, s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	sequence := inner(onnxtest.Sequence("s", one, one))
	f32 := ir.TensorOf(ir.F32, dim.Sym("N"))
	for _, c := range []struct {
		name string
		data []byte
		typ  ir.Type
		want *onnx.Value // nil for an error
		err  string
	}{
		{name: "tensor", data: onnxtest.Tensor("x", one), typ: f32, want: &onnx.Value{Tensor: one}},
		{name: "strings", data: onnxtest.Tensor("x", texts), typ: f32, want: &onnx.Value{Tensor: texts}},
		{name: "sequence", data: onnxtest.Sequence("s", one, two), typ: ir.SequenceOf(f32), want: &onnx.Value{Items: []*onnx.Value{{Tensor: one}, {Tensor: two}}}},
		{name: "empty sequence", data: nil, typ: ir.SequenceOf(f32), want: &onnx.Value{}},
		{name: "optional", data: encode(&onnxpb.OptionalProto{SequenceValue: sequence}), typ: ir.OptionalOf(ir.SequenceOf(f32)),
			want: &onnx.Value{Items: []*onnx.Value{{Items: []*onnx.Value{{Tensor: one}, {Tensor: one}}}}}},
		{name: "no optional", data: nil, typ: ir.OptionalOf(f32), want: &onnx.Value{}},
		{name: "map", data: encode(&onnxpb.MapProto{KeyType: proto.Int32(7), Keys: []int64{3, 1}, Values: sequence}), typ: ir.MapOf(ir.I64, f32),
			want: &onnx.Value{Keys: ir.IntTensor(ir.I64, 3, 1), Items: []*onnx.Value{{Tensor: one}, {Tensor: one}}}},
		{name: "map with too few values", data: encode(&onnxpb.MapProto{KeyType: proto.Int32(7), Keys: []int64{3}, Values: sequence}), typ: ir.MapOf(ir.I64, f32), err: "1 keys and 2 values"},
		{name: "nothing for a tensor", data: nil, typ: f32, err: "is empty"},
		{name: "text", data: []byte("text"), typ: f32, err: "x.pb: "},
		{name: "element types that are not supported", data: encode(&onnxpb.TensorProto{DataType: proto.Int32(14)}), typ: f32, err: "COMPLEX64 is not supported"},
		{name: "a tensor in another file", data: encode(&onnxpb.TensorProto{DataType: proto.Int32(1), DataLocation: onnxpb.TensorProto_EXTERNAL.Enum(),
			ExternalData: []*onnxpb.StringStringEntryProto{{Key: proto.String("location"), Value: proto.String("x")}}}), typ: f32, err: "in another file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.pb")
			if err := os.WriteFile(path, c.data, 0o666); err != nil {
				t.Fatal(err)
			}
			got, _, err := onnx.ReadValue(path, c.typ)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if _, _, err := onnx.ReadValue("missing.pb", ir.SequenceOf(f32)); err == nil || err.Error() != "missing.pb: no such file" {
		t.Errorf("got %v", err)
	}
}

func equal(a, b *onnx.Value) bool {
	if !a.Tensor.Equal(b.Tensor) || !a.Keys.Equal(b.Keys) || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// What onnxtest writes is what package onnx reads.
func TestWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mlp.onnx")
	if err := os.WriteFile(path, onnxtest.MLP().Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open(path, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := m.Module.Func("forward")
	if got := f.Params[0].Type.String() + " " + f.Results[0].Type.String(); got != "f32[N,4] f32[N,3]" {
		t.Errorf("got %s", got)
	}
	if nodes, err := onnx.Nodes(path); len(nodes) != 3 || err != nil {
		t.Errorf("got %d nodes, %v", len(nodes), err)
	}
}
