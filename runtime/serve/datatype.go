package serve

import "slices"

// datatype is a type of elements: its name in the protocol, and in package rt.
type datatype struct{ name, dtype string }

var datatypes = []datatype{
	{"BOOL", "bool"},
	{"UINT8", "u8"}, {"UINT16", "u16"}, {"UINT32", "u32"}, {"UINT64", "u64"},
	{"INT8", "i8"}, {"INT16", "i16"}, {"INT32", "i32"}, {"INT64", "i64"},
	{"FP16", "f16"}, {"BF16", "bf16"}, {"FP32", "f32"}, {"FP64", "f64"},
	{"BYTES", "string"},
}

// datatypeOf returns the protocol's name for a type of package rt. The protocol has all types that package untyped
// has.
func datatypeOf(dtype string) string {
	i := slices.IndexFunc(datatypes, func(d datatype) bool { return d.dtype == dtype })
	return datatypes[i].name
}
