package cpu

import "math"

// atOnce bounds the elements of one call to assembly.
const atOnce = 1 << 16

// softmaxFast computes [Softmax] of rows of n elements. It returns false if there is no assembly.
func softmaxFast(dst, src []float32, n int) bool {
	switch {
	case level == Generic:
		return false
	case n == 2:
		softmaxPairs(dst, src)
		return true
	case n > atOnce:
		for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
			softmaxLong(dst[:n], src[:n])
		}
		return true
	}
	for len(dst) > 0 {
		rows := min(len(dst)/n, atOnce/n)
		softmaxRows(dst, src, rows, n)
		dst, src = dst[rows*n:], src[rows*n:]
	}
	return true
}

// softmaxPairs is [softmaxFast] for rows of two elements, x and y. Their softmax is sigmoid(x−y)
// and sigmoid(y−x). It is NaN if the larger element is infinite.
func softmaxPairs(dst, src []float32) {
	var differences [256]float32
	for len(dst) > 0 {
		n := min(len(dst), len(differences))
		for i := 0; i < n; i += 2 {
			x, y := src[i], src[i+1]
			nothing := float32(0 * max(x, y))
			differences[i], differences[i+1] = x-y+nothing, y-x+nothing
		}
		sigmoidFast(dst[:n], differences[:n])
		dst, src = dst[n:], src[n:]
	}
}

// softmaxLong is [softmaxFast] for a row that is too long for one call.
func softmaxLong(dst, src []float32) {
	top, sum := float32(reduceRun(maxima, src)), 0.0
	for i := 0; i < len(src); i += foldAtOnce {
		end := min(len(src), i+foldAtOnce)
		sum += float64(expSumRun(dst[i:end], src[i:end], top))
	}
	mulScalarFast(dst, dst, float32(1/sum))
}

// logSoftmaxFast computes [LogSoftmax] of rows of n elements. It returns false if there is no
// assembly.
func logSoftmaxFast(dst, src []float32, n int) bool {
	switch {
	case level == Generic:
		return false
	case n <= shortRow:
		logSoftmaxShort(dst, src, n)
		return true
	}
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		top, sum := float32(reduceRun(maxima, src[:n])), 0.0
		for i := 0; i < n; i += foldAtOnce {
			sum += float64(expTotalRun(src[i:min(n, i+foldAtOnce)], top))
		}
		subScalarFast(dst[:n], src[:n], top)
		subScalarFast(dst[:n], dst[:n], float32(math.Log(sum)))
	}
	return true
}

// shortRow is a length of a row. For rows up to this length, it is faster to process several rows
// in one loop than to call assembly for each.
const shortRow = 32

// logSoftmaxShort is [logSoftmaxFast] for rows of at most shortRow elements.
func logSoftmaxShort(dst, src []float32, n int) {
	var exp [8 * shortRow]float32 // and then, of each row, the sum, and its logarithm
	for len(dst) > 0 {
		size := min(len(dst), len(exp)/n*n)
		for i := 0; i < size; i += n {
			row := src[i:][:n]
			top := highest(row)
			for k, v := range row {
				dst[i+k] = v - top
			}
		}
		expFast(exp[:size], dst[:size])
		for i := range size / n {
			sum := float32(0)
			for _, e := range exp[i*n:][:n] {
				sum += e
			}
			exp[i] = sum
		}
		logFast(exp[:size/n], exp[:size/n])
		for i := range size / n {
			row := dst[i*n:][:n]
			for k := range row {
				row[k] -= exp[i]
			}
		}
		dst, src = dst[size:], src[size:]
	}
}

// moments returns the mean and the variance of x. x must not be empty, and the level must not be
// Generic.
func moments(x []float32) (mean, variance float64) {
	mean = reduceRun(sums, x) / float64(len(x))
	for i := 0; i < len(x); i += foldAtOnce {
		variance += float64(deviationRun(x[i:min(len(x), i+foldAtOnce)], float32(mean)))
	}
	return mean, variance / float64(len(x))
}

// layerNormFast computes [LayerNorm] of rows of n elements. It returns false if there is no
// assembly. scale and bias may be nil.
func layerNormFast(dst, src, scale, bias []float32, n int, eps float32) bool {
	if level == Generic {
		return false
	}
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, from := dst[:n], src[:n]
		centre, variance := moments(from)
		mean, factor := float32(centre), float32(1/math.Sqrt(variance+float64(eps)))
		switch {
		case scale == nil:
			standardFast(to, from, mean, factor)
			scaleShift(to, nil, bias)
		case bias == nil:
			standardScaledFast(to, from, scale, mean, factor)
		default:
			standardAffineFast(to, from, scale, bias, mean, factor)
		}
	}
	return true
}

// rmsNormFast computes [RMSNorm] of rows of n elements. It returns false if there is no assembly.
// scale may be nil.
func rmsNormFast(dst, src, scale []float32, n int, eps float32) bool {
	if level == Generic {
		return false
	}
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, from := dst[:n], src[:n]
		factor := float32(1 / math.Sqrt(reduceRun(squares, from)/float64(n)+float64(eps)))
		if scale == nil {
			mulScalarFast(to, from, factor)
		} else {
			standardScaledFast(to, from, scale, 0, factor)
		}
	}
	return true
}
