package rt

import (
	"fmt"
	"slices"
	"unsafe"
)

// WeightsOf returns the elements of the tensor called name, of type T and the given shape. Without a
// shape it is a scalar. int8 and uint8 also hold integers of 4 and 2 bits. The elements start at a
// multiple of 64 bytes, or of 32 if they take more than 512 KiB; strings are not aligned. WeightsOf
// uses the elements in place if it can. It copies them if they are strings or narrower than a byte,
// if a bool is stored as neither 0 nor 1, or if they are not aligned or in another byte order. They
// must not be modified.
//
// WeightsOf returns nil if the tensor is missing, differs in type or shape, or cannot be read, and
// w.Err returns the error.
func WeightsOf[T Element](w *Weights, name string, shape ...int) []T {
	if w.none() || w.broken != nil {
		return nil
	}
	list, err := read[T](w, name, shape)
	if err != nil {
		w.fail(fmt.Errorf("%.100q: %w", name, err))
		return nil
	}
	return list
}

// placed is the alignment that Go's linker gives to a large embedded file, in bytes.
const placed = 32

// nearWeight is the largest size in bytes of a weight that is always aligned to 64 bytes. Such a
// weight is read from a near cache, where a read across two cache lines takes twice as long. A
// larger weight does not fit there, so 32 bytes are enough.
const nearWeight = 512 << 10

func read[T Element](w *Weights, name string, shape []int) ([]T, error) {
	want := DTypeOf[T]()
	t := w.find(name)
	if t == nil {
		return nil, fmt.Errorf("%s expected, file has no such tensor", formatType(want, shape))
	}
	if !slices.Equal(shape, t.Shape) || want != t.DType && !slices.Contains(narrow[want], t.DType) {
		return nil, fmt.Errorf("%s expected, file has %v", formatType(want, shape), t.Info)
	}
	if w.closed.Load() || !w.retain() {
		return nil, ErrClosed
	}
	defer w.release()
	n, err := Elems(shape)
	if err != nil {
		return nil, err
	}
	raw, err := t.bytes()
	if err != nil {
		return nil, err
	}
	if want == "string" {
		list, err := splitStrings(raw, n)
		return any(list).([]T), err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.memory(raw, n)))), n), nil
}

// narrow maps i8 and u8 to the narrower types whose elements they may hold.
var narrow = map[string][]string{"i8": {"i4", "i2"}, "u8": {"u4", "u2"}}

// memory decodes `raw`, the stored form of tensor t, which has n elements and does not hold strings.
// The result is aligned to 64 bytes, or to 32 if it exceeds nearWeight.
func (t *tensor) memory(raw []byte, n int) []byte {
	if n == 0 {
		return []byte{}
	}
	bits := kinds[t.DType].bits
	if bits < 8 {
		codes := alignedBytes(n)
		unpack(codes, raw, bits, t.DType[0] == 'i')
		return codes
	}
	at := uintptr(unsafe.Pointer(&raw[0]))
	inPlace := at%placed == 0 && (at%alignment == 0 || len(raw) > nearWeight)
	switch width := bits / 8; {
	case t.DType == "bool" && slices.ContainsFunc(raw, func(b byte) bool { return b > 1 }):
		bools := alignedBytes(n)
		for i, b := range raw {
			bools[i] = min(b, 1)
		}
		return bools
	case !littleEndian && width > 1:
		elements := alignedBytes(len(raw))
		reverse(elements, raw, width)
		return elements
	case !inPlace:
		elements := alignedBytes(len(raw))
		copy(elements, raw)
		return elements
	}
	return raw
}
