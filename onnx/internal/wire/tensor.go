package wire

import (
	"fmt"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// Tensor is a constant. Its elements are in this file, as raw bytes or as undecoded numbers, or in
// another file. Bytes, Strings and Location return them.
type Tensor struct {
	Name     string
	Doc      string
	Type     DataType
	Dims     []int64 // as written: see Len
	Raw      []byte  // shares the file's bytes
	Outside  bool    // the elements are in another file
	External []Entry // location of external data; see Location
	Metadata []Entry

	segment bool              // the tensor is one part of a tensor stored in several
	counts  [len(columns)]int // number of values in each column
	bodies  [][]byte          // messages with values; more than one if the tensor was merged
}

// SparseTensor is a tensor of which only n elements are stored; the others are zero. Values, [n],
// holds these elements. Indices holds their positions: either [n, rank] coordinates, or [n] indices
// in row-major order. Dims is the shape of the whole tensor.
type SparseTensor struct {
	Values  *Tensor
	Indices *Tensor
	Dims    []int64
}

// column is a field of a tensor that holds values of one wire type, such as int32_data.
type column int

const (
	floatData column = iota
	int32Data
	stringData
	int64Data
	doubleData
	uint64Data
)

var columns = [...]struct {
	name string
	num  protowire.Number
	typ  protowire.Type
}{
	floatData:  {"float_data", 4, protowire.Fixed32Type},
	int32Data:  {"int32_data", 5, protowire.VarintType},
	stringData: {"string_data", 6, protowire.BytesType},
	int64Data:  {"int64_data", 7, protowire.VarintType},
	doubleData: {"double_data", 10, protowire.Fixed64Type},
	uint64Data: {"uint64_data", 11, protowire.VarintType},
}

var tensorFields = table[Tensor]{
	1:  nums("dims", func(t *Tensor) *[]int64 { return &t.Dims }),
	2:  num("data_type", func(t *Tensor) *DataType { return &t.Type }),
	3:  nest("segment", func(t *Tensor) { t.segment = true }, &segmentFields),
	4:  valuesOf(floatData),
	5:  valuesOf(int32Data),
	6:  valuesOf(stringData),
	7:  valuesOf(int64Data),
	8:  str("name", func(t *Tensor) *string { return &t.Name }),
	9:  {name: "raw_data", typ: protowire.BytesType, put: func(_ *reader, t *Tensor, f field) error { t.Raw = f.data; return nil }},
	10: valuesOf(doubleData),
	11: valuesOf(uint64Data),
	12: raw("doc_string", func(t *Tensor) *string { return &t.Doc }),
	13: many("external_data", func(t *Tensor) *[]Entry { return &t.External }),
	14: {name: "data_location", typ: protowire.VarintType, put: func(_ *reader, t *Tensor, f field) error { t.Outside = int32(f.bits) == 1; return nil }},
	16: many("metadata_props", func(t *Tensor) *[]Entry { return &t.Metadata }),
}

// valuesOf returns the spec of column c. It checks and counts the values, but does not decode them.
func valuesOf(c column) spec[Tensor] {
	name, typ := columns[c].name, columns[c].typ
	return spec[Tensor]{name: name, typ: typ, list: typ != protowire.BytesType, put: func(_ *reader, t *Tensor, f field) error {
		n := &t.counts[c]
		if err := each(typ, f, func(uint64) { *n++ }); err != nil {
			return &Error{Reason: fmt.Sprintf("%v in %s", err, element(name, *n))}
		}
		return nil
	}}
}

// segmentFields are the bounds of a segment, which is a part of a tensor that is stored in several
// parts. The bounds are checked and then ignored. No known writer splits tensors into segments, and
// [Tensor.Bytes] returns an error for such a tensor.
var segmentFields = table[Tensor]{
	1: {name: "begin", typ: protowire.VarintType, put: func(*reader, *Tensor, field) error { return nil }},
	2: {name: "end", typ: protowire.VarintType, put: func(*reader, *Tensor, field) error { return nil }},
}

var sparseTensorFields = table[SparseTensor]{
	1: one("values", func(s *SparseTensor) **Tensor { return &s.Values }),
	2: one("indices", func(s *SparseTensor) **Tensor { return &s.Indices }),
	3: nums("dims", func(s *SparseTensor) *[]int64 { return &s.Dims }),
}

func (t *Tensor) merge(r *reader, b []byte) error {
	before := t.counts
	if err := merge(r, tensorFields, t, b); err != nil {
		return err
	}
	if t.counts == before {
		return nil
	}
	if err := r.charge(1, unsafe.Sizeof(b)); err != nil {
		return err
	}
	t.bodies = append(t.bodies, b)
	return nil
}

func (s *SparseTensor) merge(r *reader, b []byte) error { return merge(r, sparseTensorFields, s, b) }

// fields calls yield with each field of a column, in order. It stops if yield returns an error, and
// returns this error.
func (t *Tensor) fields(c column, yield func(field) error) error {
	for _, b := range t.bodies {
		for len(b) > 0 {
			f, rest, err := next(b)
			if err != nil {
				return err
			}
			if f.num == columns[c].num {
				if err := yield(f); err != nil {
					return err
				}
			}
			b = rest
		}
	}
	return nil
}
