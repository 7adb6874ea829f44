package cpu

// The kernels of this file take slices of one length. A NaN equals nothing and
// is neither less nor greater than anything. For a scalar on the left use the
// mirrored form: 3 < b[i] is GreaterScalar(dst, b, 3).

// Equal computes dst[i] = a[i] == b[i] (ONNX Equal).
func Equal[T Number | bool | string](dst []bool, a, b []T) {
	zip(dst, a, b, func(x, y T) bool { return x == y })
}

// EqualScalar computes dst[i] = a[i] == b.
func EqualScalar[T Number | bool | string](dst []bool, a []T, b T) {
	each(dst, a, func(x T) bool { return x == b })
}

// Less computes dst[i] = a[i] < b[i] (ONNX Less).
func Less[T Number](dst []bool, a, b []T) {
	zip(dst, a, b, func(x, y T) bool { return x < y })
}

// LessScalar computes dst[i] = a[i] < b.
func LessScalar[T Number](dst []bool, a []T, b T) {
	each(dst, a, func(x T) bool { return x < b })
}

// LessOrEqual computes dst[i] = a[i] <= b[i] (ONNX LessOrEqual).
func LessOrEqual[T Number](dst []bool, a, b []T) {
	zip(dst, a, b, func(x, y T) bool { return x <= y })
}

// LessOrEqualScalar computes dst[i] = a[i] <= b.
func LessOrEqualScalar[T Number](dst []bool, a []T, b T) {
	each(dst, a, func(x T) bool { return x <= b })
}

// Greater computes dst[i] = a[i] > b[i] (ONNX Greater).
func Greater[T Number](dst []bool, a, b []T) {
	zip(dst, a, b, func(x, y T) bool { return x > y })
}

// GreaterScalar computes dst[i] = a[i] > b.
func GreaterScalar[T Number](dst []bool, a []T, b T) {
	each(dst, a, func(x T) bool { return x > b })
}

// GreaterOrEqual computes dst[i] = a[i] >= b[i] (ONNX GreaterOrEqual).
func GreaterOrEqual[T Number](dst []bool, a, b []T) {
	zip(dst, a, b, func(x, y T) bool { return x >= y })
}

// GreaterOrEqualScalar computes dst[i] = a[i] >= b.
func GreaterOrEqualScalar[T Number](dst []bool, a []T, b T) {
	each(dst, a, func(x T) bool { return x >= b })
}

// IsNaN computes dst[i] = whether x[i] is not a number (ONNX IsNaN).
func IsNaN[T Float](dst []bool, x []T) {
	each(dst, x, func(v T) bool { return v != v })
}

// IsInf computes dst[i] = whether x[i] is an infinity of a sign that is asked
// for (ONNX IsInf).
func IsInf[T Float](dst []bool, x []T, negative, positive bool) {
	each(dst, x, func(v T) bool {
		infinite := v == v && v-v != 0
		return infinite && (v < 0 && negative || v > 0 && positive)
	})
}
