package cpu

import "math"

// farAngle is the largest magnitude of an angle, in radians, that the assembly supports.
const farAngle = 1 << 16

// farthest returns the largest magnitude in x, or NaN if x contains a NaN.
func farthest(x []float32) float32 {
	return max(highestRun(x), -lowestRun(x))
}

func sinAngles(dst, x []float32) bool { return angles(dst, x, sinAnglesPart, sinFast, math.Sin) }
func cosAngles(dst, x []float32) bool { return angles(dst, x, cosAnglesPart, cosFast, math.Cos) }
func tanAngles(dst, x []float32) bool { return angles(dst, x, tanAnglesPart, tanFast, math.Tan) }

func sinAnglesPart(s *pointwise, from, to int) { sinAngles(s.dst[from:to], s.a[from:to]) }
func cosAnglesPart(s *pointwise, from, to int) { cosAngles(s.dst[from:to], s.a[from:to]) }
func tanAnglesPart(s *pointwise, from, to int) { tanAngles(s.dst[from:to], s.a[from:to]) }

// angles computes a trigonometric function of each x[i]: with `fast`, in assembly, for angles up to
// farAngle, and with `exact` for larger ones. Workers share a long x, and call `part` for ranges of
// it. angles returns false if there is no assembly.
func angles(dst, x []float32, part func(*pointwise, int, int), fast func(dst, x []float32) bool, exact func(float64) float64) bool {
	if !fuses() {
		return false
	}
	if len(dst) >= sharedFrom && pointwises.run(&pointwise{dst: onHeap(dst), a: onHeap(x), do: part}, pointwiseParts(len(dst), 32)) {
		return true
	}
	var far [256]float32
	for len(dst) > 0 {
		n := min(len(dst), len(far))
		to, from := dst[:n], x[:n]
		if farthest(from) <= farAngle {
			fast(to, from)
		} else {
			copy(far[:], from)
			fast(to, from)
			for i, v := range far[:n] {
				if v > farAngle || v < -farAngle {
					to[i] = float32(exact(float64(v)))
				}
			}
		}
		dst, x = dst[n:], x[n:]
	}
	return true
}

// ordinary reports whether all elements are finite. If nonzero is set, they must also not be zero.
func ordinary(x []float32, nonzero bool) bool {
	low, high := lowestRun(x), highestRun(x)
	if !(low >= -math.MaxFloat32 && high <= math.MaxFloat32) {
		return false
	}
	if !nonzero || low > 0 || high < 0 {
		return true
	}
	for _, v := range x {
		if v == 0 {
			return false
		}
	}
	return true
}

// isOrdinary is [ordinary] for one number.
func isOrdinary(v float32, nonzero bool) bool {
	return v-v == 0 && !(nonzero && v == 0)
}

// powers computes [Pow]. Assembly computes the elements with finite operands and a nonzero base,
// and package math the others. powers returns false if there is no assembly.
func powers(dst, a, b []float32) bool {
	if !fuses() {
		return false
	}
	if len(dst) >= sharedFrom && pointwises.run(&pointwise{dst: onHeap(dst), a: onHeap(a), b: onHeap(b), do: powersPart}, pointwiseParts(len(dst), 64)) {
		return true
	}
	var bases, exponents [256]float32
	for len(dst) > 0 {
		n := min(len(dst), len(bases))
		if ordinary(a[:n], true) && ordinary(b[:n], false) {
			powFast(dst[:n], a[:n], b[:n])
		} else {
			copy(bases[:n], a)
			copy(exponents[:n], b)
			powFast(dst[:n], a[:n], b[:n])
			for i, x := range bases[:n] {
				if y := exponents[i]; !isOrdinary(x, true) || !isOrdinary(y, false) {
					dst[i] = float32(math.Pow(float64(x), float64(y)))
				}
			}
		}
		dst, a, b = dst[n:], a[n:], b[n:]
	}
	return true
}

func powersPart(s *pointwise, from, to int) { powers(s.dst[from:to], s.a[from:to], s.b[from:to]) }

// powersScalar is [powers] with the same exponent b for all elements. It also returns false if b is
// not finite.
func powersScalar(dst, a []float32, b float32) bool {
	if !fuses() || !isOrdinary(b, false) {
		return false
	}
	if len(dst) >= sharedFrom && pointwises.run(&pointwise{dst: onHeap(dst), a: onHeap(a), u: b, do: powersScalarPart}, pointwiseParts(len(dst), 64)) {
		return true
	}
	var bases [256]float32
	for len(dst) > 0 {
		n := min(len(dst), len(bases))
		if ordinary(a[:n], true) {
			powScalarFast(dst[:n], a[:n], b)
		} else {
			copy(bases[:n], a)
			powScalarFast(dst[:n], a[:n], b)
			for i, x := range bases[:n] {
				if !isOrdinary(x, true) {
					dst[i] = float32(math.Pow(float64(x), float64(b)))
				}
			}
		}
		dst, a = dst[n:], a[n:]
	}
	return true
}

func powersScalarPart(s *pointwise, from, to int) { powersScalar(s.dst[from:to], s.a[from:to], s.u) }

// scalarPowers is [powers] with the same base a for all elements. It also returns false if a is 0 or
// not finite.
func scalarPowers(dst []float32, a float32, b []float32) bool {
	if !fuses() || !isOrdinary(a, true) {
		return false
	}
	if len(dst) >= sharedFrom && pointwises.run(&pointwise{dst: onHeap(dst), a: onHeap(b), u: a, do: scalarPowersPart}, pointwiseParts(len(dst), 64)) {
		return true
	}
	var exponents [256]float32
	for len(dst) > 0 {
		n := min(len(dst), len(exponents))
		if ordinary(b[:n], false) {
			scalarPowFast(dst[:n], b[:n], a)
		} else {
			copy(exponents[:n], b)
			scalarPowFast(dst[:n], b[:n], a)
			for i, y := range exponents[:n] {
				if !isOrdinary(y, false) {
					dst[i] = float32(math.Pow(float64(a), float64(y)))
				}
			}
		}
		dst, b = dst[n:], b[n:]
	}
	return true
}

func scalarPowersPart(s *pointwise, from, to int) { scalarPowers(s.dst[from:to], s.u, s.a[from:to]) }
