package cpu

import (
	"math"
	"unsafe"
)

// Inf is the upper limit of a clamp that has none, such as ReLU's.
var Inf = float32(math.Inf(1))

// Epilogue is what happens to an element of a product or a convolution before it
// is stored: bias, then residual, then clamp, then Then. The zero value does nothing.
type Epilogue struct {
	// Bias is added by output column or channel. Its length is that count rounded up to
	// a multiple of 16, the rest zero; nil for none.
	Bias []float32
	// Residual is added after Bias. It has the layout and length of dst; it may be
	// dst itself. Nil for none.
	Residual []float32
	// Clamp limits the result to Lo…Hi; NaN stays NaN. ReLU is 0…[Inf].
	Clamp  bool
	Lo, Hi float32
	// Then runs last on finished parts of dst, each contiguous and still in a near
	// cache: t starts at element at of dst. It may be called from several goroutines at
	// once, for different parts. Nil for none.
	Then func(t []float32, at int, in *[2][]float32)
	// In are further operands of Then, laid out as dst.
	In [2][]float32
}

// none is the epilogue of a caller that gives nil.
var none Epilogue

// check makes sure that the epilogue's operands have what a result of the given
// number of columns and of the given length needs.
func (ep *Epilogue) check(columns, length int) {
	if ep.Bias != nil {
		_ = ep.Bias[:ceil(columns, 16)*16]
	}
	if ep.Residual != nil {
		_ = ep.Residual[:length]
	}
}

// then calls Then, if there is one, for rows of the given width, stride elements apart, the
// first at element at of dst. Rows that touch are passed together as far as a near
// cache holds them.
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

// nearCache is how many elements of each operand of Then share a first-level cache.
const nearCache = 2048

// fill sets what a tile knows of the epilogue apart from its operands.
func (ep *Epilogue) fill(t *tile) {
	t.clamp, t.lo, t.hi = 0, ep.Lo, ep.Hi
	if ep.Clamp {
		t.clamp = 1
	}
}

// fillPart sets what a tile that sums up a part of a product knows of the epilogue: the
// first part takes the residual along, later ones what is in t.c, and the last one the rest.
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

// zeroStays reports whether an element that is zero before the epilogue, with zero
// bias and residual, is zero after it.
func (ep *Epilogue) zeroStays() bool {
	return ep.Then == nil && (!ep.Clamp || ep.Lo <= 0 && ep.Hi >= 0)
}

// rezero clears the channels from used on in each 16 of a last block, where the
// epilogue may have made something of their zeros; used 0 means that all 16 are used.
func (ep *Epilogue) rezero(block []float32, used int) {
	if used == 0 || ep.zeroStays() {
		return
	}
	for ; len(block) >= 16; block = block[16:] {
		clear(block[used:16])
	}
}

// start is the address of s, nil where s is.
func start(s []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// ceil is a/b rounded up, for a ≥ 0 and b > 0.
func ceil(a, b int) int { return (a + b - 1) / b }
