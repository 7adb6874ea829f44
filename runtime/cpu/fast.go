//go:build (amd64 || arm64) && !noasm

package cpu

import "math"

// atOnce is how many elements one call to assembly gets, at most.
const atOnce = 1 << 16

// foldAtOnce is how many elements are summed in float32 before float64 takes over.
const foldAtOnce = 4096

// reduceFast reduces the middle axis of src, [outer, n, inner], where there is
// assembly for it.
func reduceFast(op reduction, dst, src []float32, n, inner int) bool {
	switch {
	case level == Generic, n == 0, inner > 1 && inner < 8:
		return false
	case inner == 1:
		for o := range dst {
			dst[o] = float32(reduceRun(op, src[o*n:][:n]))
		}
	default:
		for ; len(dst) > 0; dst, src = dst[inner:], src[n*inner:] {
			reduceColumns(op, dst[:inner], src[:n*inner], n)
		}
	}
	return true
}

// reduceRun reduces neighbouring elements.
func reduceRun(op reduction, x []float32) float64 {
	acc := op.start()
	for len(x) > 0 {
		part := x[:min(len(x), foldAtOnce)]
		x = x[len(part):]
		switch op {
		case sums:
			acc += float64(sumRun(part))
		case squares:
			acc += float64(squaresRun(part))
		case maxima:
			acc = greater(acc, float64(highestRun(part)))
		case minima:
			acc = lesser(acc, float64(lowestRun(part)))
		}
	}
	return acc
}

// start is what a reduction starts with.
func (op reduction) start() float64 {
	switch op {
	case maxima:
		return math.Inf(-1)
	case minima:
		return math.Inf(1)
	}
	return 0
}

// reduceColumns reduces each of the len(dst) columns of src, which has n rows.
func reduceColumns(op reduction, dst, src []float32, n int) {
	const columns, rows = 256, 64
	var parts [columns]float32
	var totals [columns]float64
	inner := len(dst)
	for first := 0; first < inner; first += columns {
		to := dst[first:min(inner, first+columns)]
		part, total := parts[:len(to)], totals[:len(to)]
		Fill(to, float32(op.start()))
		clear(total)
		for r := 0; r < n; r += rows {
			from, count := src[r*inner+first:], min(rows, n-r)
			clear(part)
			switch op {
			case sums:
				sumRows(part, from, inner, count)
			case squares:
				squaresRows(part, from, inner, count)
			case maxima:
				highestRows(to, from, inner, count)
			case minima:
				lowestRows(to, from, inner, count)
			}
			for i, v := range part {
				total[i] += float64(v)
			}
		}
		if op == sums || op == squares {
			each(to, total, func(v float64) float32 { return float32(v) })
		}
	}
}

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
