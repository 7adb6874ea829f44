//go:build (amd64 || arm64) && !noasm

package cpu

import "math"

// atOnce is how many elements one call to assembly gets, at most.
const atOnce = 1 << 16

// softmaxFast computes what Softmax does to rows of n, where there is assembly.
func softmaxFast(dst, src []float32, n int) bool {
	switch {
	case level == Generic:
		return false
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

// softmaxLong is softmaxFast of a row that is too long for one call.
func softmaxLong(dst, src []float32) {
	top, sum := float32(reduceRun(maxima, src)), 0.0
	for i := 0; i < len(src); i += foldAtOnce {
		end := min(len(src), i+foldAtOnce)
		sum += float64(expSumRun(dst[i:end], src[i:end], top))
	}
	mulScalarFast(dst, dst, float32(1/sum))
}

// logSoftmaxFast computes what LogSoftmax does to rows of n, where there is assembly.
func logSoftmaxFast(dst, src []float32, n int) bool {
	if level == Generic {
		return false
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

// layerNormFast computes what LayerNorm does, where there is assembly. scale and
// bias may be nil.
func layerNormFast(dst, src, scale, bias []float32, n int, eps float32) bool {
	if level == Generic {
		return false
	}
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, from := dst[:n], src[:n]
		mean, sum := float32(reduceRun(sums, from)/float64(n)), 0.0
		for i := 0; i < n; i += foldAtOnce {
			sum += float64(deviationRun(from[i:min(n, i+foldAtOnce)], mean))
		}
		factor := float32(1 / math.Sqrt(sum/float64(n)+float64(eps)))
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

// rmsNormFast computes what RMSNorm does, where there is assembly. scale may be nil.
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
