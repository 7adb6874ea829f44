package cpu

// SquaredDistances computes the squared Euclidean distance between each row of a and each row of b. a
// is [n, k], b is [m, k], and dst is [n, m].
func SquaredDistances[T Float](dst, a, b []T, n, m, k int) {
	dst, a, b = trim(dst, volume(n, m)), trim(a, volume(n, k)), trim(b, volume(m, k))
	for i := range n {
		x := a[i*k:][:k]
		to := dst[i*m:][:m]
		for j := range to {
			to[j] = squaredDistance(x, b[j*k:][:k])
		}
	}
}

func squaredDistance[T Float](x, y []T) T {
	y = y[:len(x)]
	var s [4]T
	i := 0
	for ; i+4 <= len(x); i += 4 {
		for l := range s {
			d := x[i+l] - y[i+l]
			s[l] += T(d * d)
		}
	}
	for ; i < len(x); i++ {
		d := x[i] - y[i]
		s[0] += T(d * d)
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}
