package cpu

// quotients divides the first elements with assembly. It returns the number of elements it divided,
// which is 0 if there is no assembly for T. zero is true if one of their divisors is zero.
func quotients[T Integer](kind division, dst, a, b []T) (done int, zero bool) {
	d, ok := any(dst).([]int32)
	if !ok || !hasDivide() {
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

// quotientsScalar is [quotients] with a single nonzero divisor. It multiplies by a reciprocal that
// is 2⁻⁵⁰ of its value too large. This is more than the rounding errors, so that no quotient
// becomes too small. It is too little for the product with a 32-bit integer to reach the next
// integer.
func quotientsScalar[T Integer](kind division, dst, a []T, b T) (done int) {
	d, ok := any(dst).([]int32)
	if !ok || !hasDivide() {
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
