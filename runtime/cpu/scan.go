package cpu

// CumSum computes cumulative sums along the middle axis (ONNX CumSum). src and dst are [outer, n,
// inner]. If exclusive is true, a sum does not include its own element. If reverse is true, sums
// start at the end of the axis. dst must not overlap src.
func CumSum[T Number](dst, src []T, outer, n, inner int, exclusive, reverse bool) {
	if inner == 1 {
		sumLines(dst, src, outer, n, exclusive, reverse)
		return
	}
	scan(dst, src, outer, n, inner, exclusive, reverse, 0, func(dst, a, b []T) { Add(dst, a, b) })
}

// sumLines is [CumSum] along contiguous lines of n elements.
func sumLines[T Number](dst, src []T, lines, n int, exclusive, reverse bool) {
	dst, src = trim(dst, volume(lines, n)), trim(src, volume(lines, n))
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, from, sum := dst[:n], src[:n], T(0)
		switch {
		case !reverse && !exclusive:
			for i, v := range from {
				sum += v
				to[i] = sum
			}
		case !reverse:
			for i, v := range from {
				to[i] = sum
				sum += v
			}
		default:
			for i := n - 1; i >= 0; i-- {
				v := from[i]
				if exclusive {
					to[i], sum = sum, sum+v
					continue
				}
				sum += v
				to[i] = sum
			}
		}
	}
}

// CumProd computes cumulative products, like [CumSum] (ONNX CumProd).
func CumProd[T Number](dst, src []T, outer, n, inner int, exclusive, reverse bool) {
	scan(dst, src, outer, n, inner, exclusive, reverse, 1, func(dst, a, b []T) { Mul(dst, a, b) })
}

// scan computes cumulative results along the middle axis of src, [outer, n, inner], such as sums.
// combine stores the combination of a[i] and b[i] in dst[i]. neutral is the result for no elements.
// exclusive and reverse have the meaning that they have in [CumSum].
func scan[T Number](dst, src []T, outer, n, inner int, exclusive, reverse bool, neutral T, combine func(dst, a, b []T)) {
	dst, src = trim(dst, volume(outer, n, inner)), trim(src, volume(outer, n, inner))
	for o := range outer {
		at, step := o*n*inner, inner
		if reverse {
			at, step = at+(n-1)*inner, -inner
		}
		for i := range n {
			to, from := dst[at:][:inner], src[at:][:inner]
			switch {
			case i == 0 && exclusive:
				Fill(to, neutral)
			case i == 0:
				copy(to, from)
			case exclusive:
				combine(to, dst[at-step:][:inner], src[at-step:][:inner])
			default:
				combine(to, dst[at-step:][:inner], from)
			}
			at += step
		}
	}
}

// Range computes dst[i] = start + i·delta, with the product rounded before the sum (ONNX Range).
// Range(dst, 0, 1) stores 0, 1, 2, ….
func Range[T Number](dst []T, start, delta T) {
	for i := range dst {
		dst[i] = start + T(T(i)*delta)
	}
}
