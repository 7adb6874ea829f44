package cpu

import "unsafe"

// tileRef computes the result of a product or a convolution, tile by tile. For each row r and
// column j of a tile,
//
//	c[r][j] = clamp(Σ a[r][k]·b[k][j] + bias[j] + residual[r][j])
//
// Every product is rounded, so the bits are the same on every processor.
func tileRef(t *tile) {
	var sums [maxRows][16]float32
	for at := t.first(); ; {
		a, b := at.a, at.b
		for p := range t.panels {
			panel := b + p*t.panelB
			for r := 0; r+1 < t.rows; r += 2 {
				for j := 0; j < 16; j += 4 {
					s := t.sumRows(a+r*t.rowA, a+(r+1)*t.rowA, panel+4*j)
					copy(sums[r][j:], s[:4])
					copy(sums[r+1][j:], s[4:])
				}
			}
			if last := t.rows - 1; last%2 == 0 {
				for j := 0; j < 16; j += 8 {
					s := t.sumRow(a+last*t.rowA, panel+4*j)
					copy(sums[last][j:], s[:])
				}
			}
			t.finish(sums[:t.rows], at.c+p*t.panelC, at.bias+64*p*(1-t.byRow))
		}
		if !at.next(t) {
			return
		}
	}
}

// spot is the position of one of the tiles that a kernel computes.
type spot struct {
	a, b, c, bias int // offsets of the operands in bytes
	i             int // index in a round of count tiles
	round         int
}

func (t *tile) first() spot { return spot{a: t.atA, b: t.atB, c: t.atC, bias: t.atBias} }

// next moves s to the next tile. It returns false after the last tile.
func (s *spot) next(t *tile) bool {
	if s.i++; s.i < t.count {
		s.move(t.nextA, t.nextB, t.nextC, t.nextBias)
		return true
	}
	s.i = 0
	s.round++
	s.move(t.roundA, t.roundB, t.roundC, t.roundBias)
	return s.round < t.rounds
}

func (s *spot) move(a, b, c, bias int) {
	s.a += a
	s.b += b
	s.c += c
	s.bias += bias
}

// sumRows multiplies two rows of a by four columns of b. It returns eight sums of products: four
// for the first row, then four for the second. a0 and a1 are the positions of the rows, and b of
// the columns, in bytes.
func (t *tile) sumRows(a0, a1, b int) [8]float32 {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	place, step := run{b: b}, t.step()
	for more := true; more; more = t.advance(&place, (64+t.gapB)*t.run) {
		b := place.b
		for at, end := place.at, place.at+step*t.run; at < end; at += step {
			x0, x1 := *(*float32)(unsafe.Add(t.a, a0+at)), *(*float32)(unsafe.Add(t.a, a1+at))
			y := (*[4]float32)(unsafe.Add(t.b, b))
			s00 += float32(x0 * y[0])
			s01 += float32(x0 * y[1])
			s02 += float32(x0 * y[2])
			s03 += float32(x0 * y[3])
			s10 += float32(x1 * y[0])
			s11 += float32(x1 * y[1])
			s12 += float32(x1 * y[2])
			s13 += float32(x1 * y[3])
			b += 64 + t.gapB
		}
	}
	return [8]float32{s00, s01, s02, s03, s10, s11, s12, s13}
}

// sumRow multiplies a row of a by eight columns of b, and returns the eight sums of products. a and
// b are positions in bytes.
func (t *tile) sumRow(a, b int) [8]float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	place, step := run{b: b}, t.step()
	for more := true; more; more = t.advance(&place, (64+t.gapB)*t.run) {
		b := place.b
		for at, end := place.at, place.at+step*t.run; at < end; at += step {
			x := *(*float32)(unsafe.Add(t.a, a+at))
			y := (*[8]float32)(unsafe.Add(t.b, b))
			s0 += float32(x * y[0])
			s1 += float32(x * y[1])
			s2 += float32(x * y[2])
			s3 += float32(x * y[3])
			s4 += float32(x * y[4])
			s5 += float32(x * y[5])
			s6 += float32(x * y[6])
			s7 += float32(x * y[7])
			b += 64 + t.gapB
		}
	}
	return [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}

// run is a position in a tile's nest of loops.
type run struct {
	i     [3]int
	at, b int // of the run's first element and of its columns, in bytes
}

// advance moves r to the next run, and returns false after the last run. `read` is the number of
// bytes of b that belong to the current run.
func (t *tile) advance(r *run, read int) bool {
	r.at += t.step() * t.run
	r.b += read
	for l := range r.i {
		if r.i[l]++; r.i[l] < t.n[l] {
			r.at += t.gap[l]
			r.b += t.skipB[l]
			return true
		}
		r.i[l] = 0
	}
	return false
}

func (t *tile) step() int {
	if t.apart > 0 {
		return t.apart
	}
	return 4
}

// finish adds the bias and the residual to the sums of a tile in one panel. It then clamps the sums
// and stores them. atC and atBias are offsets in bytes.
func (t *tile) finish(sums [][16]float32, atC, atBias int) {
	for r := range sums {
		s, at := &sums[r], atC+r*t.rowC
		switch {
		case t.bias == nil:
		case t.byRow != 0:
			bias := *(*float32)(unsafe.Add(t.bias, atBias+4*r))
			for j := range s {
				s[j] += bias
			}
		default:
			bias := (*[16]float32)(unsafe.Add(t.bias, atBias))
			for j := range s {
				s[j] += bias[j]
			}
		}
		if t.residual != nil {
			residual := (*[16]float32)(unsafe.Add(t.residual, at))
			for j := range s {
				s[j] += residual[j]
			}
		}
		if t.clamp != 0 {
			clamp(s[:], t.lo, t.hi)
		}
		*(*[16]float32)(unsafe.Add(t.c, at)) = *s
	}
}

// clamp limits the elements of s to [lo, hi]. NaN and −0 do not change.
func clamp(s []float32, lo, hi float32) {
	for i, v := range s {
		if v < lo {
			v = lo
		}
		if v > hi {
			v = hi
		}
		s[i] = v
	}
}
