package serve

import (
	"slices"
	"unsafe"
)

type datatype struct {
	name, dtype string
	size        int
}

var datatypes = []datatype{
	{"BOOL", "bool", 1},
	{"UINT8", "u8", 1}, {"UINT16", "u16", 2}, {"UINT32", "u32", 4}, {"UINT64", "u64", 8},
	{"INT8", "i8", 1}, {"INT16", "i16", 2}, {"INT32", "i32", 4}, {"INT64", "i64", 8},
	{"FP16", "f16", 2}, {"BF16", "bf16", 2}, {"FP32", "f32", 4}, {"FP64", "f64", 8},
	{"BYTES", "string", 0},
}

// datatypeOf returns the protocol's datatype for a type of package rt. It returns false if the
// protocol does not have the type.
func datatypeOf(dtype string) (datatype, bool) {
	i := slices.IndexFunc(datatypes, func(d datatype) bool { return d.dtype == dtype })
	if i < 0 {
		return datatype{}, false
	}
	return datatypes[i], true
}

func (d datatype) isText() bool { return d.size == 0 }

// alloc returns n zeroed bytes that are aligned for every datatype.
func alloc(n int) []byte {
	if n == 0 {
		return nil
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// view returns data as elements of type T, in the same memory. data must be from alloc.
func view[T any](data []byte) []T {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/int(unsafe.Sizeof(*new(T))))
}
