package cpu

import "math"

// DFT computes discrete Fourier transforms of the lines of src (ONNX DFT). src is [outer, n, inner,
// parts], and a line goes along n. `parts` is 2 for real and imaginary parts, or 1 for real parts
// only. A line is truncated or zero-padded to `length` elements. The inverse is divided by
// `length`.
//
// dst is [outer, length, inner, 2]. If oneSided is true and inverse is false, it is [outer,
// length/2 + 1, inner, 2]. If both are true, a line holds the first `length`/2 + 1 elements of a
// transform, and dst is [outer, length, inner, 1].
//
// DFT computes in float64 with mixed radices: the work is length times the sum of the prime factors
// of length. roots and scratch are work space, of 2·length and 6·length elements.
func DFT[T Float](dst, src []T, roots, scratch []float64, outer, n, inner, parts, length int, inverse, oneSided bool) {
	bins, toParts := length, 2
	switch {
	case oneSided && inverse:
		toParts = 1
	case oneSided:
		bins = length/2 + 1
	}
	src, dst = trim(src, volume(outer, n, inner, parts)), trim(dst, volume(outer, bins, inner, toParts))
	f := fourier{trim(roots, 2*length), length, trim(scratch, 6*length)[4*length:]}
	if length == 0 {
		clear(dst)
		return
	}
	f.fill(inverse)
	line, result := scratch[:2*length], scratch[2*length:4*length]
	used := min(n, length)
	if oneSided && inverse {
		used = min(n, length/2+1)
	}
	scale := 1.0
	if inverse {
		scale /= float64(length)
	}
	for o := range outer {
		for i := range inner {
			clear(line)
			for k := range used {
				at := ((o*n+k)*inner + i) * parts
				line[2*k] = float64(src[at])
				if parts == 2 {
					line[2*k+1] = float64(src[at+1])
				}
			}
			if oneSided && inverse {
				mirror(line, length)
			}
			f.transform(result, line, length, 1)
			for k := range bins {
				at := ((o*bins+k)*inner + i) * toParts
				dst[at] = T(scale * result[2*k])
				if toParts == 2 {
					dst[at+1] = T(scale * result[2*k+1])
				}
			}
		}
	}
}

// mirror completes the transform of a real signal of n elements: it computes the second half of
// `line` from the first half.
func mirror(line []float64, n int) {
	for k := n/2 + 1; k < n; k++ {
		line[2*k], line[2*k+1] = line[2*(n-k)], -line[2*(n-k)+1]
	}
	line[1] = 0
	if n%2 == 0 {
		line[n+1] = 0
	}
}

// fourier is a transform of n complex numbers, stored as pairs.
type fourier struct {
	roots  []float64 // the n-th roots of unity in the order of the transform
	n      int
	points []float64 // scratch of a butterfly
}

// fill computes the roots of unity for the transform. If inverse is true, it computes them for the
// inverse transform.
func (f *fourier) fill(inverse bool) {
	for k := range f.n {
		sin, cos := math.Sincos(2 * math.Pi * (float64(k) / float64(f.n)))
		if !inverse {
			sin = -sin
		}
		f.roots[2*k], f.roots[2*k+1] = cos, sin
	}
}

// transform stores the transform of n elements in dst. The elements in src are `step` apart.
func (f *fourier) transform(dst, src []float64, n, step int) {
	if n == 1 {
		dst[0], dst[1] = src[0], src[1]
		return
	}
	p := radix(n)
	m := n / p
	for q := range p {
		f.transform(dst[2*q*m:], src[2*q*step:], m, step*p)
	}
	for k := range m {
		switch p {
		case 2:
			f.butterfly2(dst, k, m, step)
		case 4:
			f.butterfly4(dst, k, m, step)
		default:
			f.butterfly(dst, k, m, p, step)
		}
	}
}

// radix returns 4 if 4 divides n, and otherwise the smallest prime factor of n.
func radix(n int) int {
	if n%4 == 0 {
		return 4
	}
	for p := 2; p*p <= n; p++ {
		if n%p == 0 {
			return p
		}
	}
	return n
}

// turned returns element i of v times a root of unity. root is the index of the root in f.roots.
func (f *fourier) turned(v []float64, i, root int) (re, im float64) {
	a, b := v[2*i], v[2*i+1]
	c, d := f.roots[2*root], f.roots[2*root+1]
	return float64(a*c) - float64(b*d), float64(a*d) + float64(b*c)
}

func (f *fourier) butterfly2(v []float64, k, m, step int) {
	a, b := v[2*k], v[2*k+1]
	c, d := f.turned(v, k+m, k*step)
	v[2*k], v[2*k+1] = a+c, b+d
	v[2*(k+m)], v[2*(k+m)+1] = a-c, b-d
}

func (f *fourier) butterfly4(v []float64, k, m, step int) {
	a, b := v[2*k], v[2*k+1]
	c, d := f.turned(v, k+m, k*step)
	e, g := f.turned(v, k+2*m, 2*k*step)
	h, l := f.turned(v, k+3*m, 3*k*step)
	// The fourth root of unity is ±i, with the sign of the transform.
	sign := f.roots[2*(f.n/4)+1]
	p, q, r, s := a+e, b+g, a-e, b-g
	t, u := c+h, d+l
	w, x := -float64(sign*(d-l)), float64(sign*(c-h))
	v[2*k], v[2*k+1] = p+t, q+u
	v[2*(k+m)], v[2*(k+m)+1] = r+w, s+x
	v[2*(k+2*m)], v[2*(k+2*m)+1] = p-t, q-u
	v[2*(k+3*m)], v[2*(k+3*m)+1] = r-w, s-x
}

// butterfly combines p transforms of m elements. From element k of each transform it computes
// elements k, k + m, k + 2m, … of the result. `step` is the distance in f.roots between the root
// for k and the root for k + 1.
func (f *fourier) butterfly(v []float64, k, m, p, step int) {
	points := f.points[:2*p]
	for q := range p {
		points[2*q], points[2*q+1] = f.turned(v, k+q*m, q*k*step)
	}
	for r := range p {
		re, im := points[0], points[1]
		root := 0
		for q := 1; q < p; q++ {
			if root += r * m * step; root >= f.n {
				root -= f.n
			}
			a, b := f.turned(points, q, root)
			re, im = re+a, im+b
		}
		v[2*(k+r*m)], v[2*(k+r*m)+1] = re, im
	}
}
