package serve

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/runtime/serve/internal/inference"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// echoMethod is a method with an input of every type.
func echoMethod(t testing.TB) *untyped.Method {
	m := echoModel()
	served, err := m.Load("")
	if err != nil {
		t.Fatal(err)
	}
	out, err := untyped.NewMethod("echo", served.Methods[0])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// consistent fails the test if the tensors of a request do not fit their shapes.
func consistent(t *testing.T, q *request) {
	for _, x := range q.in {
		n, err := untyped.Elements(x.Shape, x.Port.Size)
		if err != nil || x.Len() != n {
			t.Fatalf("input %q has shape %v and %d elements", x.Port.Name, x.Shape, x.Len())
		}
		if x.Port.DType == "bool" {
			for _, b := range x.Data {
				if b > 1 {
					t.Fatalf("a bool is %d", b)
				}
			}
		}
	}
	if _, err := q.encode(q.in); err != nil && statusOf(err) != 422 {
		t.Fatal(err)
	}
}

// FuzzJSON decodes any text. What is accepted is consistent.
func FuzzJSON(f *testing.F) {
	pairs := &untyped.Method{Label: "m", In: []*untyped.Port{{Name: "x", DType: "f32", Size: 4, Extents: []int{-1, 2}, Symbols: []string{"N", "2"}}}}
	pairs.Out = pairs.In
	texts := &untyped.Method{Label: "t", In: []*untyped.Port{{Name: "x", DType: "string", Extents: []int{-1}, Symbols: []string{"N"}}}}
	texts.Out = texts.In
	for _, text := range []string{`{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`, `{"inputs":[{"data":[[1,2e3]],"name":"x","shape":[1,2],"datatype":"FP32"}],"id":"\ud83d\ude00","parameters":{"a":null}}`,
		`{"inputs":[{"name":"x","shape":[2],"datatype":"BYTES","data":["","a\n"]}],"outputs":[{"name":"x"}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range []*untyped.Method{pairs, texts} {
			if q, err := decodeRequest(m, bytes.NewReader(data), -1); err == nil {
				consistent(t, q)
			}
		}
	})
}

// FuzzBinary decodes any bytes, with any length of the JSON before tensors in binary.
func FuzzBinary(f *testing.F) {
	m := echoMethod(f)
	small := &untyped.Method{Label: "m", In: []*untyped.Port{m.In[0], m.In[len(m.In)-1]}}
	small.Out = small.In
	head := `{"inputs":[{"name":"bool","shape":[1,2],"datatype":"BOOL","parameters":{"binary_data_size":2}},{"name":"bytes","shape":[1,2],"datatype":"BYTES","parameters":{"binary_data_size":9}}]}`
	f.Add([]byte(head+"\x02\x00\x01\x00\x00\x00a\x00\x00\x00\x00"), len(head))
	f.Fuzz(func(t *testing.T, data []byte, header int) {
		if q, err := decodeRequest(small, bytes.NewReader(data), int64(max(header, 0))); err == nil {
			consistent(t, q)
		}
	})
}

// FuzzMessage decodes any message of gRPC.
func FuzzMessage(f *testing.F) {
	m := &untyped.Method{Label: "double", In: []*untyped.Port{{Name: "x", DType: "f32", Size: 4, Extents: []int{-1, 2}, Symbols: []string{"N", "2"}}}}
	m.Out = m.In
	data, err := proto.Marshal(doubleRequest())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var message inference.ModelInferRequest
		if proto.Unmarshal(data, &message) != nil {
			return
		}
		if q, err := requestOf(m, &message); err == nil {
			consistent(t, q)
			q.message(q.in)
		}
	})
}
