package cpu

// Signed is the constraint of signed integer elements.
type Signed interface {
	int8 | int16 | int32 | int64
}

// Unsigned is the constraint of unsigned integer elements.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// Integer is the constraint of integer elements.
type Integer interface {
	Signed | Unsigned
}

// Float is the constraint of floating-point types with arithmetic. The half-width types of package rt
// are only for storage; see [Cast].
type Float interface {
	float32 | float64
}

// Number is the constraint of elements with arithmetic. It lists exact types, without ~. A
// half-width float, whose underlying type is uint16, is therefore not an integer.
type Number interface {
	Integer | Float
}

func isFloat[T Real]() bool {
	one := T(1)
	return one/2 != 0
}

// trim returns the first n elements of s. It panics if s has fewer elements, even if its capacity
// suffices.
func trim[T any](s []T, n int) []T {
	return s[:len(s):len(s)][:n:n]
}

// each computes dst[i] = f(x[i]).
func each[T, R any](dst []R, x []T, f func(T) R) {
	x = trim(x, len(dst))
	for i := range dst {
		dst[i] = f(x[i])
	}
}

// zip computes dst[i] = f(a[i], b[i]).
func zip[T, R any](dst []R, a, b []T, f func(x, y T) R) {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	for i := range dst {
		dst[i] = f(a[i], b[i])
	}
}

// float32s1 returns dst and x as float32 slices of equal length. It returns false if T is not
// float32.
func float32s1[T any](dst, x []T) (d, u []float32, ok bool) {
	if d, u, ok = float32s(dst, x); ok {
		u = trim(u, len(d))
	}
	return d, u, ok
}

// float32s2 returns dst, a and b as float32 slices of equal length. It returns false if T is not
// float32.
func float32s2[T any](dst, a, b []T) (d, u, v []float32, ok bool) {
	if d, ok = any(dst).([]float32); ok {
		u, v = trim(any(a).([]float32), len(d)), trim(any(b).([]float32), len(d))
	}
	return d, u, v, ok
}

// float32s returns dst and src as float32 slices. It returns false if T is not float32.
func float32s[T any](dst, src []T) (d, u []float32, ok bool) {
	if d, ok = any(dst).([]float32); ok {
		u = any(src).([]float32)
	}
	return d, u, ok
}

// float32Arrays returns dst, [outer, inner], and src, [outer, n, inner], as float32 slices. It
// returns false if T is not float32.
func float32Arrays[T any](dst, src []T, outer, n, inner int) (d, u []float32, ok bool) {
	if d, u, ok = float32s(dst, src); ok {
		d, u = trim(d, outer*inner), trim(u, outer*n*inner)
	}
	return d, u, ok
}
