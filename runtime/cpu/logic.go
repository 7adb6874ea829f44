package cpu

import (
	"encoding/binary"
	"unsafe"
)

// And computes dst[i] = a[i] && b[i] (ONNX And).
func And(dst, a, b []bool) {
	d, u, v := octets(dst), octets(a[:len(dst)]), octets(b[:len(dst)])
	for i := 0; i < len(d); i += 8 {
		put(d[i:], get(u[i:])&get(v[i:]))
	}
	for i := len(d); i < len(dst); i++ {
		dst[i] = a[i] && b[i]
	}
}

// AndScalar computes dst[i] = a[i] && b.
func AndScalar(dst, a []bool, b bool) {
	if b {
		Copy(dst, a)
		return
	}
	clear(dst)
}

// Or computes dst[i] = a[i] || b[i] (ONNX Or).
func Or(dst, a, b []bool) {
	d, u, v := octets(dst), octets(a[:len(dst)]), octets(b[:len(dst)])
	for i := 0; i < len(d); i += 8 {
		put(d[i:], get(u[i:])|get(v[i:]))
	}
	for i := len(d); i < len(dst); i++ {
		dst[i] = a[i] || b[i]
	}
}

// OrScalar computes dst[i] = a[i] || b.
func OrScalar(dst, a []bool, b bool) {
	if b {
		Fill(dst, true)
		return
	}
	Copy(dst, a)
}

// Xor computes dst[i] = a[i] != b[i] (ONNX Xor).
func Xor(dst, a, b []bool) {
	d, u, v := octets(dst), octets(a[:len(dst)]), octets(b[:len(dst)])
	for i := 0; i < len(d); i += 8 {
		put(d[i:], get(u[i:])^get(v[i:]))
	}
	for i := len(d); i < len(dst); i++ {
		dst[i] = a[i] != b[i]
	}
}

// XorScalar computes dst[i] = a[i] != b.
func XorScalar(dst, a []bool, b bool) {
	if b {
		Not(dst, a)
		return
	}
	Copy(dst, a)
}

// Not computes dst[i] = !x[i] (ONNX Not).
func Not(dst, x []bool) {
	d, u := octets(dst), octets(x[:len(dst)])
	for i := 0; i < len(d); i += 8 {
		put(d[i:], get(u[i:])^0x0101010101010101)
	}
	for i := len(d); i < len(dst); i++ {
		dst[i] = !x[i]
	}
}

// octets returns s as bytes that are 0 or 1. It leaves out the last len(s)%8 elements.
func octets(s []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)&^7)
}

// get loads the first eight bytes of s, little-endian. put stores them.
func get(s []byte) uint64    { return binary.LittleEndian.Uint64(s) }
func put(s []byte, v uint64) { binary.LittleEndian.PutUint64(s, v) }

// whereFast returns a [sweep], a description of a kernel call, for assembly that chooses between
// elements of dst's type. It has no operands yet. ok is false if there is no assembly for this
// type.
func whereFast[T any](dst []T) (s sweep, ok bool) {
	if !hasCompare() {
		return s, false
	}
	switch unsafe.Sizeof(*new(T)) {
	case 4:
		s.do = where32
	case 8:
		s.do = where64
	}
	return s, s.do != nil
}

// Where computes dst[i] = x[i] if cond[i] is true, and otherwise y[i] (ONNX Where). dst may be x or
// y.
func Where[T any](dst []T, cond []bool, x, y []T) {
	cond, x, y = trim(cond, len(dst)), trim(x, len(dst)), trim(y, len(dst))
	done := 0
	if s, ok := whereFast(dst); ok {
		operand(&s, 1, x)
		operand(&s, 2, y)
		done = chosen(&s, dst, cond)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = pick(cond[i], x[i], y[i])
	}
}

// WhereScalarX computes dst[i] = x where cond[i], else y[i].
func WhereScalarX[T any](dst []T, cond []bool, x T, y []T) {
	cond, y = trim(cond, len(dst)), trim(y, len(dst))
	done := 0
	if s, ok := whereFast(dst); ok {
		scalar(&s, 1, x)
		operand(&s, 2, y)
		done = chosen(&s, dst, cond)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = pick(cond[i], x, y[i])
	}
}

// WhereScalarY computes dst[i] = x[i] where cond[i], else y.
func WhereScalarY[T any](dst []T, cond []bool, x []T, y T) {
	cond, x = trim(cond, len(dst)), trim(x, len(dst))
	done := 0
	if s, ok := whereFast(dst); ok {
		operand(&s, 1, x)
		scalar(&s, 2, y)
		done = chosen(&s, dst, cond)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = pick(cond[i], x[i], y)
	}
}

// WhereScalars computes dst[i] = x where cond[i], else y.
func WhereScalars[T any](dst []T, cond []bool, x, y T) {
	cond = trim(cond, len(dst))
	done := 0
	if s, ok := whereFast(dst); ok {
		scalar(&s, 1, x)
		scalar(&s, 2, y)
		done = chosen(&s, dst, cond)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = pick(cond[i], x, y)
	}
}

// chosen runs s, whose operands 1 and 2 the caller has set. Where cond is true, dst gets elements
// of operand 1, and otherwise elements of operand 2. chosen computes the first elements of dst, and
// returns their number.
func chosen[T any](s *sweep, dst []T, cond []bool) int {
	operand(s, 0, dst)
	operand(s, 3, cond)
	return s.run(len(dst))
}

func pick[T any](cond bool, x, y T) T {
	if cond {
		return x
	}
	return y
}
