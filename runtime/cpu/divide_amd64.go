//go:build !noasm

package cpu

// quotients divides the first elements, where there is assembly for their type, and
// returns how many and whether a divisor is zero.
func quotients[T Integer](kind division, dst, a, b []T) (done int, zero bool) {
	d, ok := any(dst).([]int32)
	if level == Generic || !ok {
		return 0, false
	}
	u, v := any(a).([]int32)[:len(d)], any(b).([]int32)[:len(d)]
	for len(d)-done >= 32 && !zero {
		n := min((len(d)-done)&^31, atOnce)
		zero = divide32(kind, &d[done], &u[done], &v[done], n) != 0
		done += n
	}
	return done, zero
}

func divide32(kind division, dst, a, b *int32, n int) (zeros int) {
	switch {
	case kind == quotient && level == AVX512:
		return quotientInt32AVX512(dst, a, b, n)
	case kind == quotient:
		return quotientInt32AVX2(dst, a, b, n)
	case kind == remainder && level == AVX512:
		return remainderInt32AVX512(dst, a, b, n)
	case kind == remainder:
		return remainderInt32AVX2(dst, a, b, n)
	case level == AVX512:
		return modulusInt32AVX512(dst, a, b, n)
	}
	return modulusInt32AVX2(dst, a, b, n)
}

// quotientsScalar is quotients with one divisor, which is not zero. Its reciprocal is made
// larger by more than it and a product by it are rounded, and by so little that no product
// of 32 bits reaches the next integer.
func quotientsScalar[T Integer](kind division, dst, a []T, b T) (done int) {
	d, ok := any(dst).([]int32)
	if level == Generic || !ok {
		return 0
	}
	u := any(a).([]int32)[:len(d)]
	var divisors [8]int32
	Fill(divisors[:], int32(b))
	factor := float64(1/float64(b)) * (1 + 0x1p-50)
	for len(d)-done >= 32 {
		n := min((len(d)-done)&^31, atOnce)
		divideScalar32(kind, &d[done], &u[done], &divisors[0], n, &factor)
		done += n
	}
	return done
}

func divideScalar32(kind division, dst, a, b *int32, n int, factor *float64) {
	switch {
	case kind == quotient && level == AVX512:
		quotientScalarAVX512(dst, a, b, n, factor)
	case kind == quotient:
		quotientScalarAVX2(dst, a, b, n, factor)
	case kind == remainder && level == AVX512:
		remainderScalarAVX512(dst, a, b, n, factor)
	case kind == remainder:
		remainderScalarAVX2(dst, a, b, n, factor)
	case level == AVX512:
		modulusScalarAVX512(dst, a, b, n, factor)
	default:
		modulusScalarAVX2(dst, a, b, n, factor)
	}
}
