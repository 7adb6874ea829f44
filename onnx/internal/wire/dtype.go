package wire

import "fmt"

// DataType is an element type of tensors. Its numbers are the numbers of the schema.
type DataType int32

// The element types up to IR version 14.
const (
	Undefined DataType = iota
	Float
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Double
	Uint32
	Uint64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	Uint4
	Int4
	Float4E2M1
	Float8E8M0
	Uint2
	Int2
)

// dtypes describes each element type: its name in the schema, its size in bits, and the field that
// holds its values if raw_data does not. A value in such a field is one element, half of a complex
// element, or a byte of several 4- or 2-bit elements.
var dtypes = [...]struct {
	name   string
	bits   int
	column column
}{
	Undefined:      {"UNDEFINED", 0, 0},
	Float:          {"FLOAT", 32, floatData},
	Uint8:          {"UINT8", 8, int32Data},
	Int8:           {"INT8", 8, int32Data},
	Uint16:         {"UINT16", 16, int32Data},
	Int16:          {"INT16", 16, int32Data},
	Int32:          {"INT32", 32, int32Data},
	Int64:          {"INT64", 64, int64Data},
	String:         {"STRING", 0, stringData},
	Bool:           {"BOOL", 8, int32Data},
	Float16:        {"FLOAT16", 16, int32Data},
	Double:         {"DOUBLE", 64, doubleData},
	Uint32:         {"UINT32", 32, uint64Data},
	Uint64:         {"UINT64", 64, uint64Data},
	Complex64:      {"COMPLEX64", 64, floatData},
	Complex128:     {"COMPLEX128", 128, doubleData},
	BFloat16:       {"BFLOAT16", 16, int32Data},
	Float8E4M3FN:   {"FLOAT8E4M3FN", 8, int32Data},
	Float8E4M3FNUZ: {"FLOAT8E4M3FNUZ", 8, int32Data},
	Float8E5M2:     {"FLOAT8E5M2", 8, int32Data},
	Float8E5M2FNUZ: {"FLOAT8E5M2FNUZ", 8, int32Data},
	Uint4:          {"UINT4", 4, int32Data},
	Int4:           {"INT4", 4, int32Data},
	Float4E2M1:     {"FLOAT4E2M1", 4, int32Data},
	Float8E8M0:     {"FLOAT8E8M0", 8, int32Data},
	Uint2:          {"UINT2", 2, int32Data},
	Int2:           {"INT2", 2, int32Data},
}

// Valid reports whether d is an element type of the schema.
func (d DataType) Valid() bool { return d > Undefined && int(d) < len(dtypes) }

// String returns the schema's name of the type.
func (d DataType) String() string {
	if d < 0 || int(d) >= len(dtypes) {
		return fmt.Sprintf("data type %d", int32(d))
	}
	return dtypes[d].name
}

// Bits returns the size of an element in bits. It returns 0 for strings and unknown types.
func (d DataType) Bits() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].bits
}
