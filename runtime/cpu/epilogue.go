package cpu

import (
	"math"
	"unsafe"
)

// Inf is +∞. It is the upper limit of a clamp that has only a lower limit, such as ReLU.
var Inf = float32(math.Inf(1))

// Act is the activation of an [Epilogue]. The zero value means no activation.
type Act uint8

// The activations. NaN stays NaN.
const (
	ReLU  Act = iota + 1 // 0 and above
	ReLU6                // 0…6
)

// Epilogue describes operations on each element of a product or a convolution, before the element
// is stored. The bias is added first and then the residual. The activation or clamp follows, and
// the function Then comes last. The zero value does nothing.
type Epilogue struct {
	// Bias is added by output column or channel. Its length is the number of columns or channels,
	// rounded up to a multiple of 16. It is padded with zeros. It may be nil.
	Bias []float32
	// Residual is added after Bias. It has the layout and length of dst, and may be dst or nil.
	Residual []float32
	// Act limits the result. Clamp limits it to Lo…Hi instead; NaN stays NaN.
	Act    Act
	Clamp  bool
	Lo, Hi float32
	// Then is called last with finished parts of dst, each contiguous and still in a near cache. t
	// starts at element at of dst. Then may be called from several goroutines at once for different
	// parts. It may be nil.
	Then func(t []float32, at int, in *[2][]float32)
	// In are further operands of Then, with the layout of dst.
	In [2][]float32
}

// none is the epilogue used for nil.
var none Epilogue

// check panics unless the operands are long enough. The result has `length` elements, in rows of
// `columns` elements.
func (ep *Epilogue) check(columns, length int) {
	if ep.Bias != nil {
		_ = ep.Bias[:ceil(columns, 16)*16]
	}
	if ep.Residual != nil {
		_ = ep.Residual[:length]
	}
}

// then calls ep.Then for rows of `width` elements, or does nothing if it is nil. The first row
// starts at dst[at], and rows are `stride` elements apart. Adjacent rows without a gap are passed
// in one call, up to the size of a near cache.
func (ep *Epilogue) then(dst []float32, at, rows, width, stride int) {
	if ep.Then == nil {
		return
	}
	together := 1
	if width == stride {
		together = max(1, nearCache/width)
	}
	for ; rows > 0; rows -= together {
		end := at + (min(together, rows)-1)*stride + width
		ep.Then(dst[at:end:end], at, unseen(&ep.In))
		at += together * stride
	}
}

// nearCache is a number of elements. This many elements of every operand of Then fit a first-level
// cache together.
const nearCache = 2048

// limits returns the range [lo, hi] to which the epilogue clamps results. ok is false if it does
// not clamp.
func (ep *Epilogue) limits() (lo, hi float32, ok bool) {
	switch ep.Act {
	case ReLU:
		return 0, Inf, true
	case ReLU6:
		return 0, 6, true
	}
	return ep.Lo, ep.Hi, ep.Clamp
}

// fill sets the fields of t for clamping. It does not set the operands of the epilogue, such as the
// bias.
func (ep *Epilogue) fill(t *tile) {
	var ok bool
	t.clamp = 0
	if t.lo, t.hi, ok = ep.limits(); ok {
		t.clamp = 1
	}
}

// fillPart sets the fields of a tile that computes a part of a sum. The first part adds the
// residual. Later parts add t.c, the result of the parts before. The last part also applies the
// rest of the epilogue.
func (ep *Epilogue) fillPart(t *tile, first, last bool) {
	t.residual, t.bias, t.clamp = t.c, nil, 0
	if first {
		t.residual = start(ep.Residual)
	}
	if last {
		t.bias = start(ep.Bias)
		ep.fill(t)
	}
}

// zeroStays reports whether the epilogue maps 0 to 0 where the bias and the residual are 0.
func (ep *Epilogue) zeroStays() bool {
	lo, hi, ok := ep.limits()
	return ep.Then == nil && (!ok || lo <= 0 && hi >= 0)
}

// rezero clears channels `used` to 15 in each pixel of the last block of channels, because the
// epilogue may have changed them. If `used` is 0, all 16 channels are used and rezero does nothing.
func (ep *Epilogue) rezero(block []float32, used int) {
	if used == 0 || ep.zeroStays() {
		return
	}
	for ; len(block) >= 16; block = block[16:] {
		clear(block[used:16])
	}
}

// start returns the address of the first element of s. It returns nil if s is nil.
func start(s []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// ceil returns a/b rounded up, for a ≥ 0 and b > 0.
func ceil(a, b int) int { return (a + b - 1) / b }
