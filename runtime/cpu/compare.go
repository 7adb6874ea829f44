package cpu

// The kernels of this file take slices of equal length. A NaN equals nothing and is neither less nor
// greater than anything. For a scalar on the left use the mirrored form: 3 < b[i] is GreaterScalar(dst,
// b, 3).

type relation int

const (
	less relation = iota
	lessOrEqual
	equal
	unequal
)

// compareFast returns a [sweep], a description of a kernel call, for assembly that compares
// elements of x's type. It has no operands yet. ok is false if there is no assembly for this type.
func compareFast[T any](x []T, r relation) (s sweep, ok bool) {
	if !hasCompare() {
		return s, false
	}
	s.kind = int(r)
	switch any(x).(type) {
	case []float32:
		s.do = compareFloat32
	case []int32:
		s.do = compareInt32
	case []int64:
		s.do = compareInt64
	}
	return s, s.do != nil
}

// compareSlices compares the first elements of a and b with assembly. It returns the number of
// elements it compared, which is 0 if there is no assembly for T.
func compareSlices[T any](dst []bool, a, b []T, r relation) int {
	s, ok := compareFast(a, r)
	if !ok {
		return 0
	}
	operand(&s, 0, dst)
	operand(&s, 1, a)
	operand(&s, 2, b)
	return s.run(len(dst))
}

// compareScalar is [compareSlices] with the number b as one operand of every comparison. b is the
// left operand if scalarSide is 1, and the right operand if it is 2.
func compareScalar[T any](dst []bool, a []T, b T, r relation, scalarSide int) int {
	s, ok := compareFast(a, r)
	if !ok {
		return 0
	}
	operand(&s, 0, dst)
	operand(&s, 3-scalarSide, a)
	scalar(&s, scalarSide, b)
	return s.run(len(dst))
}

// Equal computes dst[i] = a[i] == b[i] (ONNX Equal).
func Equal[T Number | bool | string](dst []bool, a, b []T) {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	for i := compareSlices(dst, a, b, equal); i < len(dst); i++ {
		dst[i] = a[i] == b[i]
	}
}

// EqualScalar computes dst[i] = a[i] == b.
func EqualScalar[T Number | bool | string](dst []bool, a []T, b T) {
	a = trim(a, len(dst))
	for i := compareScalar(dst, a, b, equal, 2); i < len(dst); i++ {
		dst[i] = a[i] == b
	}
}

// Less computes dst[i] = a[i] < b[i] (ONNX Less).
func Less[T Number](dst []bool, a, b []T) {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	for i := compareSlices(dst, a, b, less); i < len(dst); i++ {
		dst[i] = a[i] < b[i]
	}
}

// LessScalar computes dst[i] = a[i] < b.
func LessScalar[T Number](dst []bool, a []T, b T) {
	a = trim(a, len(dst))
	for i := compareScalar(dst, a, b, less, 2); i < len(dst); i++ {
		dst[i] = a[i] < b
	}
}

// LessOrEqual computes dst[i] = a[i] <= b[i] (ONNX LessOrEqual).
func LessOrEqual[T Number](dst []bool, a, b []T) {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	for i := compareSlices(dst, a, b, lessOrEqual); i < len(dst); i++ {
		dst[i] = a[i] <= b[i]
	}
}

// LessOrEqualScalar computes dst[i] = a[i] <= b.
func LessOrEqualScalar[T Number](dst []bool, a []T, b T) {
	a = trim(a, len(dst))
	for i := compareScalar(dst, a, b, lessOrEqual, 2); i < len(dst); i++ {
		dst[i] = a[i] <= b
	}
}

// Greater computes dst[i] = a[i] > b[i] (ONNX Greater).
func Greater[T Number](dst []bool, a, b []T) {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	for i := compareSlices(dst, b, a, less); i < len(dst); i++ {
		dst[i] = a[i] > b[i]
	}
}

// GreaterScalar computes dst[i] = a[i] > b.
func GreaterScalar[T Number](dst []bool, a []T, b T) {
	a = trim(a, len(dst))
	for i := compareScalar(dst, a, b, less, 1); i < len(dst); i++ {
		dst[i] = a[i] > b
	}
}

// GreaterOrEqual computes dst[i] = a[i] >= b[i] (ONNX GreaterOrEqual).
func GreaterOrEqual[T Number](dst []bool, a, b []T) {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	for i := compareSlices(dst, b, a, lessOrEqual); i < len(dst); i++ {
		dst[i] = a[i] >= b[i]
	}
}

// GreaterOrEqualScalar computes dst[i] = a[i] >= b.
func GreaterOrEqualScalar[T Number](dst []bool, a []T, b T) {
	a = trim(a, len(dst))
	for i := compareScalar(dst, a, b, lessOrEqual, 1); i < len(dst); i++ {
		dst[i] = a[i] >= b
	}
}

// IsNaN reports which elements are NaN (ONNX IsNaN).
func IsNaN[T Float](dst []bool, x []T) {
	x = trim(x, len(dst))
	for i := compareSlices(dst, x, x, unequal); i < len(dst); i++ {
		dst[i] = x[i] != x[i]
	}
}

// IsInf reports which elements are infinite (ONNX IsInf). It sets dst[i] to true if x[i] is −Inf
// and `negative` is set, or if x[i] is +Inf and `positive` is set. Otherwise it sets dst[i] to
// false.
func IsInf[T Float](dst []bool, x []T, negative, positive bool) {
	each(dst, x, func(v T) bool {
		infinite := v == v && v-v != 0
		return infinite && (v < 0 && negative || v > 0 && positive)
	})
}
