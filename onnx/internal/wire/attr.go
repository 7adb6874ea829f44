package wire

import (
	"fmt"
	"math/bits"
)

// AttrType is the kind of an attribute, which determines the field that holds its value. The
// numbers are the schema's.
type AttrType int32

// The kinds of attribute.
const (
	AttrUndefined AttrType = iota
	AttrFloat
	AttrInt
	AttrString
	AttrTensor
	AttrGraph
	AttrFloats
	AttrInts
	AttrStrings
	AttrTensors
	AttrGraphs
	AttrSparseTensor
	AttrSparseTensors
	AttrTypeProto
	AttrTypeProtos
)

var attrTypes = [...]string{
	"UNDEFINED", "FLOAT", "INT", "STRING", "TENSOR", "GRAPH", "FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS",
	"SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS",
}

// String returns the schema's name of the kind.
func (t AttrType) String() string {
	if t < 0 || int(t) >= len(attrTypes) {
		return fmt.Sprintf("attribute type %d", int32(t))
	}
	return attrTypes[t]
}

// Attr is a named constant of a node. If Ref is not empty, the attribute has no value of its own.
// Its value is the value of the enclosing function's attribute called Ref.
type Attr struct {
	Name string
	Type AttrType // as written; see Kind
	Ref  string
	Doc  string

	F       float32
	I       int64
	S       string // any bytes
	T       *Tensor
	G       *Graph
	Sparse  *SparseTensor
	TP      *Type
	Floats  []float32
	Ints    []int64
	Strings []string // any bytes
	Tensors []Tensor
	Graphs  []Graph
	Sparses []SparseTensor
	Types   []Type

	present uint32 // bit AttrType: a field of that kind was in the file
}

// Kind returns the kind of the attribute's value, as the file gives it. Files of IR version 1 do
// not give it; it is then the kind of the only field that is present. A missing number or string is
// zero, and a missing list is empty, as in proto3.
//
// Kind returns an error if the type is unknown, or if a field of another kind is present. If Ref is
// empty and the value is a message, such as a tensor or a graph, Kind also returns an error if the
// message is missing.
func (a *Attr) Kind() (AttrType, error) {
	kind := a.Type
	if kind == AttrUndefined {
		if bits.OnesCount32(a.present) != 1 {
			return kind, fmt.Errorf("attribute %s: no type", quote(a.Name))
		}
		return AttrType(bits.TrailingZeros32(a.present)), nil
	}
	if kind < 0 || int(kind) >= len(attrTypes) {
		return kind, fmt.Errorf("attribute %s: unknown type %d", quote(a.Name), int32(kind))
	}
	if other := a.present &^ (1 << kind); other != 0 {
		return kind, fmt.Errorf("attribute %s: a value of type %v for type %v", quote(a.Name), AttrType(bits.TrailingZeros32(other)), kind)
	}
	const messages = 1<<AttrTensor | 1<<AttrGraph | 1<<AttrSparseTensor | 1<<AttrTypeProto
	if a.Ref == "" && (messages&^a.present)&(1<<kind) != 0 {
		return kind, fmt.Errorf("attribute %s: no value of type %v", quote(a.Name), kind)
	}
	return kind, nil
}

var attrFields = table[Attr]{
	1:  str("name", func(a *Attr) *string { return &a.Name }),
	2:  marked(AttrFloat, float("f", func(a *Attr) *float32 { return &a.F })),
	3:  marked(AttrInt, num("i", func(a *Attr) *int64 { return &a.I })),
	4:  marked(AttrString, raw("s", func(a *Attr) *string { return &a.S })),
	5:  marked(AttrTensor, one("t", func(a *Attr) **Tensor { return &a.T })),
	6:  marked(AttrGraph, one("g", func(a *Attr) **Graph { return &a.G })),
	7:  marked(AttrFloats, floats("floats", func(a *Attr) *[]float32 { return &a.Floats })),
	8:  marked(AttrInts, nums("ints", func(a *Attr) *[]int64 { return &a.Ints })),
	9:  marked(AttrStrings, raws("strings", func(a *Attr) *[]string { return &a.Strings })),
	10: marked(AttrTensors, many("tensors", func(a *Attr) *[]Tensor { return &a.Tensors })),
	11: marked(AttrGraphs, many("graphs", func(a *Attr) *[]Graph { return &a.Graphs })),
	13: raw("doc_string", func(a *Attr) *string { return &a.Doc }),
	14: marked(AttrTypeProto, one("tp", func(a *Attr) **Type { return &a.TP })),
	15: marked(AttrTypeProtos, many("type_protos", func(a *Attr) *[]Type { return &a.Types })),
	20: num("type", func(a *Attr) *AttrType { return &a.Type }),
	21: str("ref_attr_name", func(a *Attr) *string { return &a.Ref }),
	22: marked(AttrSparseTensor, one("sparse_tensor", func(a *Attr) **SparseTensor { return &a.Sparse })),
	23: marked(AttrSparseTensors, many("sparse_tensors", func(a *Attr) *[]SparseTensor { return &a.Sparses })),
}

// marked returns a spec like s that also records that a field of the given kind was present.
func marked(kind AttrType, s spec[Attr]) spec[Attr] {
	put := s.put
	s.put = func(r *reader, a *Attr, f field) error {
		a.present |= 1 << kind
		return put(r, a, f)
	}
	return s
}

func (a *Attr) merge(r *reader, b []byte) error { return merge(r, attrFields, a, b) }
