package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of the messages in onnx.proto that this package writes or reads.
const (
	modelIR, modelGraph, modelOpset                    = 1, 7, 8
	opsetVersion                                       = 2
	graphNode, graphName, graphInit, graphIn, graphOut = 1, 2, 5, 11, 12
	nodeInput, nodeOutput, nodeName, nodeOp, nodeAttr  = 1, 2, 3, 4, 5
	tensorDim, tensorType, tensorInts, tensorName      = 1, 2, 7, 8
	tensorRaw                                          = 9
	valueName, valueType                               = 1, 2
	typeTensor, tensorElem, tensorShape, shapeDim      = 1, 1, 2, 1
	dimIs, dimNamed                                    = 1, 2
	attrName, attrFloat, attrInt, attrInts, attrKind   = 1, 2, 3, 8, 20
)

// Element types and attribute kinds.
const (
	typeFloat, typeInt64           = 1, 7
	kindFloat, kindInt, kindInt64s = 1, 2, 7
)

// irVersion is the IR version that goes with opset 17.
const irVersion = 8

// graph holds the encoded messages in a model's graph.
type graph struct {
	name    string
	opset   uint64
	nodes   [][]byte
	inputs  [][]byte
	outputs [][]byte
	inits   [][]byte
}

func (g *graph) writeTo(w io.Writer) error {
	parts := []struct {
		number protowire.Number
		all    [][]byte
	}{{graphNode, g.nodes}, {graphInit, g.inits}, {graphIn, g.inputs}, {graphOut, g.outputs}}
	name := text(nil, graphName, g.name)
	size := len(name)
	for _, part := range parts {
		for _, b := range part.all {
			size += protowire.SizeTag(part.number) + protowire.SizeBytes(len(b))
		}
	}
	head := number(nil, modelIR, irVersion)
	head = message(head, modelOpset, number(nil, opsetVersion, g.opset))
	head = protowire.AppendTag(head, modelGraph, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(size))
	if _, err := w.Write(append(head, name...)); err != nil {
		return err
	}
	for _, part := range parts {
		for _, b := range part.all {
			tag := protowire.AppendTag(nil, part.number, protowire.BytesType)
			if _, err := w.Write(protowire.AppendVarint(tag, uint64(len(b)))); err != nil {
				return err
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// input and output declare float values of the graph.
func (g *graph) input(name string, dims ...int)  { g.inputs = append(g.inputs, value(name, dims)) }
func (g *graph) output(name string, dims ...int) { g.outputs = append(g.outputs, value(name, dims)) }

// node adds an operator with one result, and returns the name of the result. The node has the same name.
func (g *graph) node(op, result string, args []string, attrs ...attr) string {
	var b []byte
	for _, arg := range args {
		b = text(b, nodeInput, arg)
	}
	b = text(b, nodeOutput, result)
	b = text(b, nodeName, result)
	b = text(b, nodeOp, op)
	for _, a := range attrs {
		b = message(b, nodeAttr, a.encode())
	}
	g.nodes = append(g.nodes, b)
	return result
}

// weight adds a float initialiser and returns its name. Its elements are uniform in [low, high). An element depends
// only on the name and on the element's index.
func (g *graph) weight(name string, low, high float64, dims ...int) string {
	seed := fnv.New32a()
	seed.Write([]byte(name))
	b := tensor(name, typeFloat, dims)
	count := 1
	for _, d := range dims {
		count *= d
	}
	b = protowire.AppendTag(slices.Grow(b, 4*count+16), tensorRaw, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(4*count))
	for i := range count {
		b = protowire.AppendFixed32(b, math.Float32bits(uniform(uint32(i), seed.Sum32(), low, high)))
	}
	g.inits = append(g.inits, b)
	return name
}

// ints adds a one-dimensional int64 initialiser and returns its name.
func (g *graph) ints(name string, values ...int) string {
	g.inits = append(g.inits, intsTensor(name, values))
	return name
}

func intsTensor(name string, values []int) []byte {
	b := tensor(name, typeInt64, []int{len(values)})
	for _, v := range values {
		b = number(b, tensorInts, uint64(v))
	}
	return b
}

// attr is an attribute of a node: a float32, an int or a []int.
type attr struct {
	name  string
	value any
}

func (a attr) encode() []byte {
	b := text(nil, attrName, a.name)
	switch v := a.value.(type) {
	case float32:
		b = protowire.AppendTag(b, attrFloat, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(v))
		return number(b, attrKind, kindFloat)
	case int:
		return number(number(b, attrInt, uint64(v)), attrKind, kindInt)
	case []int:
		for _, i := range v {
			b = number(b, attrInts, uint64(i))
		}
		return number(b, attrKind, kindInt64s)
	}
	panic(fmt.Sprintf("attribute %s: %T", a.name, a.value))
}

func tensor(name string, kind uint64, dims []int) []byte {
	var b []byte
	for _, d := range dims {
		b = number(b, tensorDim, uint64(d))
	}
	return text(number(b, tensorType, kind), tensorName, name)
}

// value returns the encoded ValueInfoProto of a float32 tensor.
func value(name string, dims []int) []byte {
	var shape []byte
	for _, d := range dims {
		dim := number(nil, dimIs, uint64(d))
		if d == open {
			dim = text(nil, dimNamed, "N")
		}
		shape = message(shape, shapeDim, dim)
	}
	kind := message(number(nil, tensorElem, typeFloat), tensorShape, shape)
	return message(text(nil, valueName, name), valueType, message(nil, typeTensor, kind))
}

func number(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func text(b []byte, n protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func message(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}
