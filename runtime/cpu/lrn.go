package cpu

import "math"

// LRN divides each element of f32[n][c][hw] by a power of the sum of squares over adjacent channels
// (ONNX LRN):
//
//	dst[i] = src[i] / (bias + alpha/size·Σ src[j]²)^beta,  i-⌊(size-1)/2⌋ ≤ j ≤ i+⌈(size-1)/2⌉
//
// where i and j are channels of the same pixel. The tensors are blocked if block is 16, and planar
// if it is 1; c is the number of channels. Channels beyond c must be zero in src, and are zero in
// dst. Magnitudes above 1e19, whose squares are infinite, give finite results or NaN.
func LRN(dst, src []float32, n, c, hw, block, size int, alpha, beta, bias float32) {
	if n <= 0 || c <= 0 || hw <= 0 || size <= 0 {
		return
	}
	l := lrn{c: c, blocks: ceil(c, block), hw: hw, block: block, size: size, scale: alpha / float32(size), beta: beta, bias: bias}
	l.planes = n * l.blocks
	l.dst = dst[:volume(n, l.blocks, hw, block)]
	l.src = src[:volume(n, l.blocks, hw, block)]
	work := int64(len(l.dst)) * int64(size+32)
	if block != 16 || level == Generic {
		work *= 16
	}
	if !lrns.run(&l, partsFor(work, 0)) {
		l.Part(0, 1)
	}
}

type lrn struct {
	dst, src          []float32
	planes, c, blocks int
	hw, block, size   int
	scale, beta, bias float32
}

var lrns slot[lrn, *lrn]

const (
	lrnSize   = 33 // largest size that three blocks can hold
	lrnLeast  = 1e-20
	lrnPixels = 32 // pixels whose squares stay in a first-level cache
)

func (l *lrn) Part(i, parts int) {
	from, to := portion(l.planes, i, parts)
	if l.block == 16 && l.size <= lrnSize {
		l.sideBySide(from, to)
	} else {
		l.oneByOne(from, to)
	}
}

// sideBySide normalises blocked planes [from, to), lrnPixels pixels at a time. For each pixel, it
// stores the squares of the pixel's block and of the two neighbouring blocks next to each other, and
// then sums them.
func (l *lrn) sideBySide(from, to int) {
	var squares [lrnPixels * 48]float32
	first := 16 - (l.size-1)/2
	for plane := from; plane < to; plane++ {
		b := plane % l.blocks
		for p := 0; p < l.hw; p += lrnPixels {
			at := plane*l.hw + p
			pixels := min(lrnPixels, l.hw-p)
			for part := range 3 {
				if other := b + part - 1; other >= 0 && other < l.blocks {
					lrnSquares(squares[16*part:], l.src[16*(at+(part-1)*l.hw):][:16*pixels])
					continue
				}
				for i := range pixels {
					clear(squares[48*i+16*part:][:16])
				}
			}
			x, y := l.src[16*at:][:16*pixels], l.dst[16*at:][:16*pixels]
			lrnBase(y, squares[first:], l.size, l.scale, l.bias)
			l.power(y, x)
			if used := l.c - 16*b; used < 16 {
				for i := range pixels {
					clear(y[16*i+used : 16*i+16])
				}
			}
		}
	}
}

// oneByOne normalises planes [from, to) of any layout, channel by channel.
func (l *lrn) oneByOne(from, to int) {
	block, size := l.block, l.hw*l.block
	for plane := from; plane < to; plane++ {
		image := plane - plane%l.blocks
		y, x := l.dst[plane*size:][:size], l.src[plane*size:][:size]
		clear(y)
		first := plane % l.blocks * block
		used := min(block, l.c-first)
		for lane := range used {
			channel := first + lane
			for j := max(0, channel-(l.size-1)/2); j <= min(l.c-1, channel+l.size/2); j++ {
				other := l.src[(image+j/block)*size:][:size]
				for p := j % block; p < size; p += block {
					y[p-j%block+lane] += float32(other[p] * other[p])
				}
			}
		}
		for i, sum := range y {
			y[i] = l.bias + float32(l.scale*sum)
		}
		l.power(y, x)
		for p := 0; p < size && used < block; p += block {
			clear(y[p+used : p+block])
		}
	}
}

// power computes dst[i] = x[i]/dst[i]^beta. It takes roots instead of powers if beta is 0.75 and
// the values of bias and scale make each dst[i] at least lrnLeast.
func (l *lrn) power(dst, x []float32) {
	if l.beta == 0.75 && l.bias >= lrnLeast && l.scale >= 0 {
		lrnRoot(dst, x)
		return
	}
	for i, v := range x {
		dst[i] = float32(float64(v) * math.Pow(float64(dst[i]), -float64(l.beta)))
	}
}

// lrnRoot is [lrnRootRef]. It uses assembly for all elements except the last len(dst)%16.
func lrnRoot(dst, x []float32) {
	n := len(dst) &^ 15
	if n > 0 {
		lrnRoots(dst[:n], x[:n])
	}
	lrnRootRef(dst[n:], x[n:])
}
