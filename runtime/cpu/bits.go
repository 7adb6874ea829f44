package cpu

// BitAnd computes dst[i] = a[i] & b[i] (ONNX BitwiseAnd).
func BitAnd[T Integer](dst, a, b []T) {
	zip(dst, a, b, func(x, y T) T { return x & y })
}

// BitAndScalar computes dst[i] = a[i] & b.
func BitAndScalar[T Integer](dst, a []T, b T) {
	each(dst, a, func(x T) T { return x & b })
}

// BitOr computes dst[i] = a[i] | b[i] (ONNX BitwiseOr).
func BitOr[T Integer](dst, a, b []T) {
	zip(dst, a, b, func(x, y T) T { return x | y })
}

// BitOrScalar computes dst[i] = a[i] | b.
func BitOrScalar[T Integer](dst, a []T, b T) {
	each(dst, a, func(x T) T { return x | b })
}

// BitXor computes dst[i] = a[i] ^ b[i] (ONNX BitwiseXor).
func BitXor[T Integer](dst, a, b []T) {
	zip(dst, a, b, func(x, y T) T { return x ^ y })
}

// BitXorScalar computes dst[i] = a[i] ^ b.
func BitXorScalar[T Integer](dst, a []T, b T) {
	each(dst, a, func(x T) T { return x ^ b })
}

// BitNot computes dst[i] = ^x[i] (ONNX BitwiseNot).
func BitNot[T Integer](dst, x []T) {
	each(dst, x, func(v T) T { return ^v })
}

// ShiftLeft computes dst[i] = a[i] << b[i] (ONNX BitShift, LEFT). A shift by the
// width of T or more gives 0.
func ShiftLeft[T Unsigned](dst, a, b []T) {
	zip(dst, a, b, func(x, y T) T { return x << y })
}

// ShiftLeftScalar computes dst[i] = a[i] << b, as [ShiftLeft] does.
func ShiftLeftScalar[T Unsigned](dst, a []T, b T) {
	each(dst, a, func(x T) T { return x << b })
}

// ScalarShiftLeft computes dst[i] = a << b[i], as [ShiftLeft] does.
func ScalarShiftLeft[T Unsigned](dst []T, a T, b []T) {
	each(dst, b, func(y T) T { return a << y })
}

// ShiftRight computes dst[i] = a[i] >> b[i] (ONNX BitShift, RIGHT). A shift by
// the width of T or more gives 0.
func ShiftRight[T Unsigned](dst, a, b []T) {
	zip(dst, a, b, func(x, y T) T { return x >> y })
}

// ShiftRightScalar computes dst[i] = a[i] >> b, as [ShiftRight] does.
func ShiftRightScalar[T Unsigned](dst, a []T, b T) {
	each(dst, a, func(x T) T { return x >> b })
}

// ScalarShiftRight computes dst[i] = a >> b[i], as [ShiftRight] does.
func ScalarShiftRight[T Unsigned](dst []T, a T, b []T) {
	each(dst, b, func(y T) T { return a >> y })
}

// WrapBits keeps the lowest bits of each element (ONNX Cast to 4 and 2 bits). `bits` is their number,
// from 1 to 8. If T is signed, the result is sign-extended.
func WrapBits[T int8 | uint8](dst, x []T, bits int) {
	unused := uint(8-bits) & 7
	each(dst, x, func(v T) T { return v << unused >> unused })
}
