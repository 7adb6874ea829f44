package cpu

import "unsafe"

// ProductInteger multiplies integer matrices that are packed by [PackRows] and [PackColumns]. For
// each matrix of the batch, each row i and each column j, it computes
//
//	sum = Σ_t a[i][t]·b[t][j] + bias[j] − zero[j]·sums[i]
//
// a holds the rows, uint8 [batch, m, k], with k a multiple of 4. panels holds the columns of b,
// [weights, ⌈n/16⌉, k/4, 16, 4]; its matrices repeat along the batch. If T is int32, dst receives
// the sums. Otherwise each sum is requantised: float32(sum)·scale[j] is rounded to float32, rounded
// to the nearest integer, ties to even, increased by last[0], and clamped to lo…hi. The scale has a
// precision of about 48 bits.
//
// bias, zero and scale have one element or weights·n elements, for the columns of the first matrix
// b, then of the second, and so on. `last` has one element, or is nil, which means 0. bias, zero and
// sums may be nil, but zero requires sums. Bytes in dst require scale. If T is int32, scale and
// `last` are ignored.
func ProductInteger[T Byte | int32](
	dst []T, a []uint8, panels []int8, bias, zero []int32, scale []float64, sums, last []int32,
	batch, weights, m, n, k int, lo, hi int,
) {
	if len(dst) == 0 {
		return
	}
	p := integerProduct{batch: batch, weights: weights, m: m, n: n, k: k}
	if unsafe.Sizeof(T(0)) == 1 {
		p.kind = bytesKind
		p.requantised = requantise(scale, last, lo, hi, volume(weights, n))
	}
	p.run(unsafe.Pointer(unsafe.SliceData(dst)), len(dst), a, panels, bias, zero, sums)
}

// ProductScaled is [ProductInteger] with a float32 result: each sum of column j is multiplied by
// scale[j]. If offset is not nil, offset[j] is then added. scale must not be nil.
func ProductScaled(
	dst []float32, a []uint8, panels []int8, bias, zero []int32, scale, offset []float32, sums []int32,
	batch, weights, m, n, k int,
) {
	if len(dst) == 0 {
		return
	}
	p := integerProduct{batch: batch, weights: weights, m: m, n: n, k: k, factors: scale, offset: offset}
	p.kind = scaledKind
	if len(scale) == 0 {
		panic("cpu: an integer product without a scale")
	}
	p.run(start(dst), len(dst), a, panels, bias, zero, sums)
}

// requantised describes the conversion of sums to bytes.
type requantised struct {
	scale  []float64 // one, or one for each channel
	last   int       // zero point
	lo, hi int       // bounds of the bytes
}

// fill sets the zero point of t, and the range to which t clamps sums before it adds the zero
// point.
func (r *requantised) fill(t *tile) {
	t.lo, t.hi, t.last = float32(r.lo-r.last), float32(r.hi-r.last), int32(r.last)
}

// integerProduct is the state of a running product.
type integerProduct struct {
	requantised
	batch, weights  int
	m, n, k         int
	kind            int
	a               []byte
	panels          []byte
	dst             unsafe.Pointer
	bias, zero      []int32
	factors, offset []float32
	sums            []int32

	rows    rowSplit
	columns int // panels of a matrix
	strips  int // panels of a strip, as many as a tile has
	high    int // tiles of rows that all strips process before the next rows
}

var integerProducts slot[integerProduct, *integerProduct]

// slabBytes is a size in bytes. Rows that together have this size stay in a second-level cache
// while they are multiplied by all panels.
const slabBytes = 512 << 10

// run checks the operands and computes the product. `size` is the number of elements of dst.
func (p *integerProduct) run(dst unsafe.Pointer, size int, a []uint8, panels []int8, bias, zero, sums []int32) {
	p.bias = bias
	if !p.check(dst, size, a, zero, sums) {
		return
	}
	p.panels = bytesOf(panels[:volume(p.weights, p.columns, 16, p.k)])
	if !integerProducts.run(p, partsFor(p.work(), int64(len(p.panels)))) {
		p.Part(0, 1)
	}
}

// check stores the operands, and reports whether there is anything to compute. size is the number
// of elements of dst. check panics if the operands are too short, or are not packed for an integer
// product.
func (p *integerProduct) check(dst unsafe.Pointer, size int, a []uint8, zero, sums []int32) bool {
	if p.batch <= 0 || p.m <= 0 || p.n <= 0 || p.k < 0 {
		return false
	}
	if p.k%4 != 0 || p.weights < 1 {
		panic("cpu: an integer product of what is not packed for it")
	}
	if size < volume(p.batch, p.m, p.n) {
		panic("cpu: an integer product larger than its result")
	}
	p.dst, p.zero = dst, zero
	p.columns = ceil(p.n, 16)
	p.a = a[:volume(p.batch, p.m, p.k)]
	for _, size := range []int{len(p.bias), len(zero), len(p.factors), len(p.offset)} {
		if size > 1 && size < volume(p.weights, p.n) {
			panic("cpu: an integer product with too few channels")
		}
	}
	if len(zero) > 0 {
		p.sums = sums[:volume(p.batch, p.m)]
	}
	if p.weights == 1 {
		p.m, p.batch = p.m*p.batch, 1
	}
	limit, most := byteLimits()
	p.rows = split(p.m, limit)
	p.strips = ceil(p.columns, most)
	p.high = max(1, slabBytes/max(1, limit*p.k))
	return true
}

// work returns the cost of the product, as the number of float multiply-adds that take as long.
func (p *integerProduct) work() int64 {
	return int64(p.batch) * int64(p.m) * int64(p.n) * int64(p.k) / byteSpeed()
}

// byteSpeed returns how many multiply-adds of bytes take as long as one float multiply-add.
func byteSpeed() int64 {
	switch {
	case level == AVX512 && vnni:
		return 4
	case level >= AVX2:
		return 1
	}
	return 2
}

// Part implements [rt.Task]. It computes part i of `parts` of the product. Usually the tiles of rows
// are divided among the parts. The strips of columns are divided instead if there is a single matrix
// with few tiles: fewer than strips, or fewer than two for each part.
func (p *integerProduct) Part(i, parts int) {
	if tiles := p.rows.tiles; p.batch > 1 || tiles >= max(p.strips, 2*parts) || parts == 1 {
		from, to := portion(p.batch*tiles, i, parts)
		for from < to {
			batch := from / tiles
			end := min(to, (batch+1)*tiles)
			p.block(batch, from-batch*tiles, end-batch*tiles, 0, p.strips)
			from = end
		}
		return
	}
	from, to := portion(p.strips, i, parts)
	p.block(0, 0, p.rows.tiles, from, to)
}

// block computes tiles [t0, t1) of rows and strips [s0, s1) of one matrix.
func (p *integerProduct) block(batch, t0, t1, s0, s1 int) {
	_, most := byteLimits()
	var columns byteColumns
	t := p.tile(unseen(&columns))
	for t0 < t1 {
		end := min(t0+p.high, t1)
		for s := s0; s < s1; s++ {
			panel := s * most
			columns.set(p, batch%p.weights*p.n+16*panel, p.width(s))
			t.atB = (batch%p.weights*p.columns + panel) * 16 * p.k
			p.strip(&t, batch, s, t0, end)
		}
		t0 = end
	}
}

// tile returns a tile in which the fields that are the same for all tiles are set. The caller sets
// *columns for each strip.
func (p *integerProduct) tile(columns *byteColumns) tile {
	size := 4
	if p.kind == bytesKind {
		size = 1
	}
	t := tile{
		a: pointer(p.a), b: pointer(p.panels), c: p.dst,
		rowA: p.k, panelB: 16 * p.k, rowC: size * p.n, panelC: 16 * size,
		columns: columns, kind: p.kind,
	}
	if len(p.sums) > 0 {
		t.bias = unsafe.Pointer(unsafe.SliceData(p.sums))
	}
	p.fill(&t)
	t.loops(p.k/4, [3]int{1, 1, 1}, [3]int{})
	return t
}

func (p *integerProduct) width(s int) int {
	_, most := byteLimits()
	return min(16*most, p.n-16*most*s)
}

// strip computes tiles [t0, t1) of rows and one strip of columns of a matrix. The caller has set
// t.atB to the first panel of the strip, and t.columns for the strip.
func (p *integerProduct) strip(t *tile, batch, s, t0, t1 int) {
	_, most := byteLimits()
	size := t.panelC / 16
	panel, width := s*most, p.width(s)
	t.panels = ceil(width, 16)
	row := batch*p.m + p.rows.at(t0)
	t.atA, t.atBias, t.atC = row*p.k, 4*row, size*(row*p.n+16*panel)
	if width == 16*t.panels {
		t.coverBytes(p.rows, t0, t1)
	} else {
		t.coverBytesPart(p.rows, t0, t1, width*size)
	}
}

// set copies the bias, zero points and factors of `width` columns from p to c. channel is the index
// of the first of these columns.
func (c *byteColumns) set(p *integerProduct, channel, width int) {
	spread(c.first[:width], p.bias, channel)
	spread(c.zero[:width], p.zero, channel)
	switch p.kind {
	case scaledKind:
		spread(c.scale[:width], p.factors, channel)
		spread(c.less[:width], p.offset, channel)
	case bytesKind:
		c.setScale(p.scale, channel, width)
	}
}

// setScale computes the factors of `width` columns from scale. channel is the index in scale of the
// first column.
func (c *byteColumns) setScale(scale []float64, channel, width int) {
	for i := range width {
		if c.scale[i], c.less[i] = factor(of(scale, channel+i)); len(scale) == 1 {
			for j := 1; j < width; j++ {
				c.scale[j], c.less[j] = c.scale[0], c.less[0]
			}
			return
		}
	}
}

// spread copies v[from:] to dst. If v has one element, all elements of dst are set to it. If v is
// empty, dst does not change.
func spread[T any](dst, v []T, from int) {
	switch len(v) {
	case 0:
	case 1:
		for i := range dst {
			dst[i] = v[0]
		}
	default:
		copy(dst, v[from:])
	}
}

// of returns v[i], or v[0] if v has one element.
func of[T any](v []T, i int) T {
	if len(v) == 1 {
		return v[0]
	}
	return v[i]
}

// coverBytes runs the adjacent tiles [from, to) of the split.
func (t *tile) coverBytes(s rowSplit, from, to int) {
	for larger := min(to, max(from, s.first)); from < to; from, larger = larger, to {
		rows := s.high(from)
		t.nextA, t.nextC, t.nextBias = rows*t.rowA, rows*t.rowC, 4*rows
		t.repeat(rows, larger-from)
	}
}

// coverBytesPart is [tile.coverBytes] for tiles that are wider than c. It computes each tile in a
// buffer, and copies the first `width` bytes of each row to c.
func (t *tile) coverBytesPart(s rowSplit, from, to, width int) {
	var aside [maxRows][4 * maxPanels * 16]byte
	whole := *t
	t.c, t.rowC = unsafe.Pointer(unseen(&aside)), len(aside[0])
	for i := from; i < to; i++ {
		rows := s.high(i)
		t.atC, t.nextA, t.nextC, t.nextBias = 0, rows*t.rowA, 0, 4*rows
		t.repeat(rows, 1)
		for r := range rows {
			copy(unsafe.Slice((*byte)(unsafe.Add(whole.c, whole.atC+r*whole.rowC)), width), aside[r][:width])
		}
		whole.atC += rows * whole.rowC
	}
	t.c, t.rowC = whole.c, whole.rowC
}

func pointer[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }
