package cpu

import "unsafe"

// ProductInteger multiplies integer matrices: rows [·, m, k] of bytes and panels
// [·, ⌈n/16⌉, k/4, 16, 4] of columns, as [PackRows] and [PackColumns] make them. One of
// the two are weights, int8: as many matrices, that repeat along the batch of the
// other, uint8. The weights' rows, with byRow, or columns are the channels. Computed
// is, for each matrix of the batch, each row and each column,
//
//	sum = Σ row·column + bias[channel] − zero[channel]·sums[other]
//
// where other counts the rows or columns that are not channels. A dst of int32 holds
// the sums; else it holds float32(sum)·scale[channel], rounded to float32 and to nearest even, plus
// last[0], limited to lo…hi. The vectors have an element for each channel of the
// weights' matrices, or one for all; each may be nil, zero only together with sums.
func ProductInteger[T Byte | int32, A, B Byte](
	dst []T, a []A, panels []B, bias, zero []int32, scale []float64, sums, last []int32,
	batch, weights, m, n, k int, byRow bool, lo, hi int,
) {
	s := integerShape{batch, weights, m, n, k, byRow, lo, hi}
	if s.Batch <= 0 || s.M <= 0 || s.N <= 0 || s.K < 0 {
		return
	}
	if s.K%4 != 0 || s.Weights < 1 || signed[A]() == signed[B]() {
		panic("cpu: an integer product of what is not packed for it")
	}
	p := integerProduct{integerShape: s, bias: bias, zero: zero, scale: scale, sums: sums, signed: signed[A]()}
	p.columns = ceil(s.N, 16)
	rows, others, channels, rest := s.Batch, s.Weights, s.N, s.M
	if s.ByRow {
		rows, others, channels, rest = s.Weights, s.Batch, s.M, s.N
	}
	p.a = bytesOf(a[:volume(rows, s.M, s.K)])
	p.panels = bytesOf(panels[:volume(others, p.columns, 16, s.K)])
	for _, n := range []int{len(bias), len(zero), len(scale)} {
		if n > 1 && n < volume(s.Weights, channels) {
			panic("cpu: an integer product with too few channels")
		}
	}
	if len(zero) > 0 {
		p.sums = sums[:volume(s.Batch, rest)]
	}
	if len(last) > 0 {
		p.last = int(last[0])
	}
	dst = dst[:volume(s.Batch, s.M, s.N)]
	p.whole, p.dst = sumsOrBytes(dst)
	if p.dst != nil && len(scale) == 0 {
		panic("cpu: an integer product without a scale")
	}
	work := int64(len(dst)) * int64(s.K)
	if !integerProducts.run(&p, partsFor(8*work, int64(len(p.panels)))) {
		p.Part(0, 1)
	}
}

// sumsOrBytes returns dst as int32, or as bytes.
func sumsOrBytes[T Byte | int32](dst []T) (sums []int32, bytes []byte) {
	if sums, ok := any(dst).([]int32); ok {
		return sums, nil
	}
	return nil, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
}

// integerShape is what a product has of sizes.
type integerShape struct {
	Batch, Weights int
	M, N, K        int
	ByRow          bool
	Lo, Hi         int
}

// integerProduct is a ProductInteger under way.
type integerProduct struct {
	integerShape
	a, panels  []byte
	dst        []byte  // of a requantised result
	whole      []int32 // of sums
	bias, zero []int32
	sums       []int32
	scale      []float64
	last       int
	columns    int  // panels of a matrix
	signed     bool // the rows are int8
}

var integerProducts slot[integerProduct, *integerProduct]

// pairs is the number of pairs of rows of a matrix, the last of which may be one row.
func (p *integerProduct) pairs() int { return ceil(p.M, 2) }

// Part does the i-th of parts shares: of the pairs of rows, or of the panels where
// there are more of these.
func (p *integerProduct) Part(i, parts int) {
	if pairs := p.pairs(); p.Batch*pairs >= p.columns || p.Batch > 1 {
		from, to := portion(p.Batch*pairs, i, parts)
		for ; from < to; from++ {
			p.rows(from/pairs, 2*(from%pairs), 0, p.columns)
		}
		return
	}
	from, to := portion(p.columns, i, parts)
	for row := 0; row < p.M; row += 2 {
		p.rows(0, row, from, to)
	}
}

// rows computes two rows, or the last one, of a matrix in some of its panels.
func (p *integerProduct) rows(batch, row, from, to int) {
	left, right := batch, batch%p.Weights
	if p.ByRow {
		left, right = right, batch
	}
	first := p.a[(left*p.M+row)*p.K:][:p.K]
	second := first
	if row+1 < p.M {
		second = p.a[(left*p.M+row+1)*p.K:][:p.K]
	}
	const most = 4 // panels for each reading of the rows
	var acc [2][16 * most]int32
	var pair [pairDepth]int64
	for ; from < to; from += most {
		count := min(most, to-from)
		clear(acc[0][:16*count])
		clear(acc[1][:16*count])
		for k := 0; k < p.K; k += pairDepth {
			depth := min(pairDepth, p.K-k)
			join(pair[:depth], first[k:], second[k:], p.signed)
			for i := range count {
				panel := p.panels[((right*p.columns+from+i)*p.K+k)*16:][:16*depth]
				var sums [16]int64
				if p.signed {
					sumPairs[uint8](&sums, pair[:depth], panel)
				} else {
					sumPairs[int8](&sums, pair[:depth], panel)
				}
				for j, v := range sums {
					low := int32(v)
					acc[0][16*i+j] += low
					acc[1][16*i+j] += int32((v - int64(low)) >> 32)
				}
			}
		}
		width := min(16*count, p.N-16*from)
		p.finish(acc[0][:width], batch, row, 16*from)
		if row+1 < p.M {
			p.finish(acc[1][:width], batch, row+1, 16*from)
		}
	}
}

// pairDepth bounds how many products of two rows are summed in one int64: each of
// the two sums fits 32 bits.
const pairDepth = 512

// join puts two rows into one, the second 32 bits above the first, so that one
// multiplication serves both.
func join(pair []int64, a, b []byte, signed bool) {
	a, b = a[:len(pair)], b[:len(pair)]
	if signed {
		for i := range pair {
			pair[i] = int64(int8(a[i])) + int64(int8(b[i]))<<32
		}
		return
	}
	for i := range pair {
		pair[i] = int64(a[i]) + int64(b[i])<<32
	}
}

// sumPairs adds the products of joined rows and the columns of a panel.
func sumPairs[B Byte](sums *[16]int64, pair []int64, panel []byte) {
	for j := 0; j < 16; j += 4 {
		var s0, s1, s2, s3 int64
		for k := 0; k+4 <= len(pair); k += 4 {
			x := (*[4]int64)(pair[k:])
			y := (*[16]byte)(panel[16*k+4*j:])
			s0 += x[0]*int64(B(y[0])) + x[1]*int64(B(y[1])) + x[2]*int64(B(y[2])) + x[3]*int64(B(y[3]))
			s1 += x[0]*int64(B(y[4])) + x[1]*int64(B(y[5])) + x[2]*int64(B(y[6])) + x[3]*int64(B(y[7]))
			s2 += x[0]*int64(B(y[8])) + x[1]*int64(B(y[9])) + x[2]*int64(B(y[10])) + x[3]*int64(B(y[11]))
			s3 += x[0]*int64(B(y[12])) + x[1]*int64(B(y[13])) + x[2]*int64(B(y[14])) + x[3]*int64(B(y[15]))
		}
		sums[j], sums[j+1], sums[j+2], sums[j+3] = s0, s1, s2, s3
	}
}

// finish turns sums of a row, from a column on, into results.
func (p *integerProduct) finish(sums []int32, batch, row, column int) {
	at := (batch*p.M+row)*p.N + column
	if p.ByRow {
		p.finishRow(sums, at, batch%p.Weights*p.M+row, batch*p.N+column)
	} else {
		p.finishColumns(sums, at, batch%p.Weights*p.N+column, batch*p.M+row)
	}
}

// finishRow finishes sums of one channel; at is where the results are, other where
// the sums of the columns.
func (p *integerProduct) finishRow(sums []int32, at, channel, other int) {
	if len(p.bias) > 0 {
		bias := of(p.bias, channel)
		for i := range sums {
			sums[i] += bias
		}
	}
	if len(p.zero) > 0 {
		zero := of(p.zero, channel)
		for i, v := range p.sums[other:][:len(sums)] {
			sums[i] -= zero * v
		}
	}
	if p.whole != nil {
		copy(p.whole[at:], sums)
		return
	}
	requantize(p.dst[at:][:len(sums)], sums, of(p.scale, channel), p.last, p.Lo, p.Hi)
}

// requantize computes dst[i] = float32(float32(sums[i])·scale), rounded to nearest even,
// plus zero, limited to lo…hi, of int8 or of uint8.
func requantize(dst []byte, sums []int32, scale float64, zero, lo, hi int) {
	least, most := float32(lo-zero), float32(hi-zero)
	for i, v := range sums {
		dst[i] = byte(int(toEven(float32(float64(float32(v))*scale), least, most)) + zero)
	}
}

// finishColumns finishes sums of one row of neighbouring channels.
func (p *integerProduct) finishColumns(sums []int32, at, channel, other int) {
	lo, hi := float32(p.Lo-p.last), float32(p.Hi-p.last)
	for i, v := range sums {
		if len(p.bias) > 0 {
			v += of(p.bias, channel+i)
		}
		if len(p.zero) > 0 {
			v -= of(p.zero, channel+i) * p.sums[other]
		}
		if p.whole != nil {
			p.whole[at+i] = v
			continue
		}
		p.dst[at+i] = byte(int(toEven(float32(float64(float32(v))*of(p.scale, channel+i)), lo, hi)) + p.last)
	}
}

// of is element i of a vector, or its only one.
func of[T any](v []T, i int) T {
	if len(v) == 1 {
		return v[0]
	}
	return v[i]
}
