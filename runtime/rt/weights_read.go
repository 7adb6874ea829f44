package rt

import (
	"fmt"
	"slices"
	"unsafe"
)

// WeightsOf returns the elements of a tensor of the given element type and
// shape; no shape stands for a scalar. int8 and uint8 also hold integers of 4
// and 2 bits. Numbers and bools start on a multiple of 32 bytes: they are used in
// place where the tensor does and the machine is little-endian, else copied. The
// elements must not be written.
//
// A tensor that is missing or different is an error that w.Err returns; the
// result is then nil.
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

// placed is what Go's linker makes the address of a large embedded file a multiple of.
const placed = 32

// nearWeight is the most bytes of a weight that is moved to a multiple of 64: those of
// more are not read from a near cache, where reads of two lines take twice as long.
const nearWeight = 512 << 10

func read[T Element](w *Weights, name string, shape []int) ([]T, error) {
	want := DTypeOf[T]()
	t := w.find(name)
	if t == nil {
		return nil, fmt.Errorf("%s expected, file has none of that name", formatType(want, shape))
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

// narrow lists the types of less than a byte that a type holds.
var narrow = map[string][]string{"i8": {"i4", "i2"}, "u8": {"u4", "u2"}}

// memory returns the n elements of t, which are not strings and stored as raw, as
// they are held in memory, from a multiple of 32 bytes on, of 64 if they are small.
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
