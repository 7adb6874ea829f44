package cpu

// And computes dst[i] = a[i] && b[i] (ONNX And).
func And(dst, a, b []bool) {
	zip(dst, a, b, func(x, y bool) bool { return x && y })
}

// AndScalar computes dst[i] = a[i] && b.
func AndScalar(dst, a []bool, b bool) {
	each(dst, a, func(x bool) bool { return x && b })
}

// Or computes dst[i] = a[i] || b[i] (ONNX Or).
func Or(dst, a, b []bool) {
	zip(dst, a, b, func(x, y bool) bool { return x || y })
}

// OrScalar computes dst[i] = a[i] || b.
func OrScalar(dst, a []bool, b bool) {
	each(dst, a, func(x bool) bool { return x || b })
}

// Xor computes dst[i] = a[i] != b[i] (ONNX Xor).
func Xor(dst, a, b []bool) {
	zip(dst, a, b, func(x, y bool) bool { return x != y })
}

// XorScalar computes dst[i] = a[i] != b.
func XorScalar(dst, a []bool, b bool) {
	each(dst, a, func(x bool) bool { return x != b })
}

// Not computes dst[i] = !x[i] (ONNX Not).
func Not(dst, x []bool) {
	each(dst, x, func(v bool) bool { return !v })
}

// Where computes dst[i] = x[i] where cond[i], else y[i] (ONNX Where). dst may be
// x or y.
func Where[T any](dst []T, cond []bool, x, y []T) {
	cond, x, y = trim(cond, len(dst)), trim(x, len(dst)), trim(y, len(dst))
	for i := range dst {
		v := y[i]
		if cond[i] {
			v = x[i]
		}
		dst[i] = v
	}
}

// WhereScalarX computes dst[i] = x where cond[i], else y[i].
func WhereScalarX[T any](dst []T, cond []bool, x T, y []T) {
	cond, y = trim(cond, len(dst)), trim(y, len(dst))
	for i := range dst {
		v := y[i]
		if cond[i] {
			v = x
		}
		dst[i] = v
	}
}

// WhereScalarY computes dst[i] = x[i] where cond[i], else y.
func WhereScalarY[T any](dst []T, cond []bool, x []T, y T) {
	cond, x = trim(cond, len(dst)), trim(x, len(dst))
	for i := range dst {
		v := y
		if cond[i] {
			v = x[i]
		}
		dst[i] = v
	}
}

// WhereScalars computes dst[i] = x where cond[i], else y.
func WhereScalars[T any](dst []T, cond []bool, x, y T) {
	cond = trim(cond, len(dst))
	for i := range dst {
		v := y
		if cond[i] {
			v = x
		}
		dst[i] = v
	}
}
