package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
)

// tensor is an input or output of a model in the Open Inference Protocol. Data is little-endian.
type tensor struct {
	Name       string `json:"name"`
	Datatype   string `json:"datatype"`
	Shape      []int  `json:"shape"`
	Parameters struct {
		Size int `json:"binary_data_size"`
	} `json:"parameters"`
	Data []byte `json:"-"`
}

// draw returns the inputs with random FP32 data. Open extents become 1. It returns an error if an input has another
// type.
func draw(inputs []tensor) ([]tensor, error) {
	r := rand.New(rand.NewPCG(1, 2))
	var out []tensor
	for _, t := range inputs {
		if t.Datatype != "FP32" {
			return nil, fmt.Errorf("input %q has type %s, want FP32", t.Name, t.Datatype)
		}
		n, shape := 1, []int{}
		for _, d := range t.Shape {
			d = max(d, 1)
			shape, n = append(shape, d), n*d
		}
		t.Shape, t.Data = shape, nil
		for range n {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(r.Float32()))
		}
		t.Parameters.Size = len(t.Data)
		out = append(out, t)
	}
	return out, nil
}

// restRequest returns the bytes of an HTTP request for inference on binary tensors, headers included.
func restRequest(model string, in []tensor) []byte {
	head, _ := json.Marshal(map[string]any{"inputs": in, "parameters": map[string]bool{"binary_data_output": true}})
	body := head
	for _, t := range in {
		body = append(body, t.Data...)
	}
	text := fmt.Sprintf("POST /v2/models/%s/infer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\nInference-Header-Content-Length: %d\r\n\r\n",
		model, len(body), len(head))
	return append([]byte(text), body...)
}

// outputs returns the outputs in the body of an answer with binary tensors. head is the length of its JSON.
func outputs(body []byte, head int) ([]tensor, error) {
	var a struct{ Outputs []tensor }
	if head < 0 || head > len(body) {
		return nil, fmt.Errorf("the answer has %d bytes of JSON among %d bytes", head, len(body))
	}
	if err := json.Unmarshal(body[:head], &a); err != nil {
		return nil, err
	}
	rest := body[head:]
	for i := range a.Outputs {
		t := &a.Outputs[i]
		if n := t.Parameters.Size; n < 0 || n > len(rest) {
			return nil, fmt.Errorf("output %q has %d bytes, and %d are left", t.Name, n, len(rest))
		}
		t.Data, rest = rest[:t.Parameters.Size], rest[t.Parameters.Size:]
	}
	return a.Outputs, nil
}

// difference returns the root mean square of a-b, divided by the root mean square of b. It returns an error if outputs
// are not of FP32 or differ in name or shape.
func difference(a, b []tensor) (float64, error) {
	if len(a) != len(b) || len(a) == 0 {
		return 0, fmt.Errorf("%d and %d outputs", len(a), len(b))
	}
	var off, of float64
	for i, x := range a {
		y := b[i]
		if x.Name != y.Name || x.Datatype != "FP32" || y.Datatype != "FP32" || fmt.Sprint(x.Shape) != fmt.Sprint(y.Shape) || len(x.Data) != len(y.Data) {
			return 0, fmt.Errorf("output %s %s%v, and %s %s%v", x.Name, x.Datatype, x.Shape, y.Name, y.Datatype, y.Shape)
		}
		for k := 0; k < len(x.Data); k += 4 {
			p, q := element(x.Data[k:]), element(y.Data[k:])
			off, of = off+(p-q)*(p-q), of+q*q
		}
	}
	return math.Sqrt(off / of), nil
}

func element(data []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
}

// grpcRequest returns a ModelInferRequest with raw contents.
func grpcRequest(model string, in []tensor) []byte {
	b := appendField(nil, 1, []byte(model))
	for _, t := range in {
		m := appendField(nil, 1, []byte(t.Name))
		m = appendField(m, 2, []byte(t.Datatype))
		var shape []byte
		for _, d := range t.Shape {
			shape = protowire.AppendVarint(shape, uint64(d))
		}
		b = appendField(b, 5, appendField(m, 3, shape))
	}
	for _, t := range in {
		b = appendField(b, 7, t.Data)
	}
	return b
}

func appendField(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

// rawOutputs returns the contents of the outputs of a ModelInferResponse.
func rawOutputs(message []byte) (out [][]byte, err error) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if number == 6 && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(message)
			out = append(out, v)
		}
		message = message[size:]
	}
	return out, nil
}
