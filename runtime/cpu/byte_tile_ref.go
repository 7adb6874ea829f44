package cpu

import (
	"math"
	"unsafe"
)

// byteTileRef computes tiles of a product of bytes. a is uint8. b is int8, in panels that hold four
// bytes for each of 16 columns. bias holds the sums of the rows of a, or is nil, which means zeros.
// For row r and column j, byteTileRef computes the int32 sum
//
//	s = first[j] + Σ a[r][k]·b[k][j] − bias[r]·zero[j]
//
// The kind of the tile determines the result c[r][j]. There are three kinds:
//
//   - s
//   - float32(s)·scale[j] + less[j]
//   - a byte: `last` plus the integer nearest to float32(s)·(scale[j]+less[j]), clamped to lo…hi
//
// For the third, the product is rounded to float32 once, before it is rounded to the integer. NaN
// becomes lo.
func byteTileRef(t *tile) {
	var sums [2][16]int32
	for spot := t.first(); ; {
		for p := range t.panels {
			columns := 16 * p
			for r := 0; r < t.rows; r += 2 {
				a := spot.a + r*t.rowA
				other := a
				if r+1 < t.rows {
					other += t.rowA
				}
				sums[0] = [16]int32(t.columns.first[columns:])
				sums[1] = sums[0]
				t.sumBytes(&sums, a, other, spot.b+p*t.panelB)
				for j := range min(2, t.rows-r) {
					if t.bias != nil {
						times := *(*int32)(unsafe.Add(t.bias, spot.bias+4*(r+j)))
						for l := range sums[j] {
							sums[j][l] -= times * t.columns.zero[columns+l]
						}
					}
					t.finishBytes(&sums[j], columns, unsafe.Add(t.c, spot.c+(r+j)*t.rowC+p*t.panelC))
				}
			}
		}
		if !spot.next(t) {
			return
		}
	}
}

// sumBytes adds the products of two rows of a and 16 columns of b to sums. a0 and a1 are the
// positions of the rows in a, and `b` is the position of the columns in the tile's operand b, all
// in bytes.
func (t *tile) sumBytes(sums *[2][16]int32, a0, a1, b int) {
	var both [16]int64 // the sums of two rows, the second in the upper 32 bits
	place, terms := run{b: b}, 0
	for more := true; more; more = t.advance(&place, 64*t.run) {
		b := place.b
		for at, end := place.at, place.at+4*t.run; at < end; at += 4 {
			first, second := (*[4]uint8)(unsafe.Add(t.a, a0+at)), (*[4]uint8)(unsafe.Add(t.a, a1+at))
			x0 := int64(first[0]) + int64(second[0])<<32
			x1 := int64(first[1]) + int64(second[1])<<32
			x2 := int64(first[2]) + int64(second[2])<<32
			x3 := int64(first[3]) + int64(second[3])<<32
			y := (*[64]int8)(unsafe.Add(t.b, b))
			for j := range both {
				y := (*[4]int8)(y[4*j:])
				both[j] += x0*int64(y[0]) + x1*int64(y[1]) + x2*int64(y[2]) + x3*int64(y[3])
			}
			b += 64
			if terms += 4; terms == bothTerms {
				settle(sums, &both)
				terms = 0
			}
		}
	}
	settle(sums, &both)
}

// bothTerms is the number of products that a packed pair of sums takes before it is unpacked. Each
// sum then fits its 32 bits: 512·255·128 < 2³¹.
const bothTerms = 512

// settle adds the packed sums in `both` to sums, and then clears `both`. An element of `both` packs
// two sums, one for each of two rows.
func settle(sums *[2][16]int32, both *[16]int64) {
	for j, v := range both {
		low := int32(v)
		sums[0][j] += low
		sums[1][j] += int32((v - int64(low)) >> 32)
	}
	*both = [16]int64{}
}

// finishBytes converts 16 sums of a row to the tile's kind of result, and stores the results at the
// address `to`. column is the index of the first sum's column in t.columns.
func (t *tile) finishBytes(sums *[16]int32, column int, to unsafe.Pointer) {
	scale, less := (*[16]float32)(t.columns.scale[column:]), (*[16]float32)(t.columns.less[column:])
	switch t.kind {
	case sumsKind:
		*(*[16]int32)(to) = *sums
	case scaledKind:
		to := (*[16]float32)(to)
		for j, v := range sums {
			to[j] = float32(float32(v)*scale[j]) + less[j]
		}
	default:
		to := (*[16]byte)(to)
		for j, v := range sums {
			to[j] = byte(toEven(times(float32(v), scale[j], less[j]), t.lo, t.hi) + t.last)
		}
	}
}

// times returns x·(high+low). It rounds x·low to float32, adds the exact x·high, and rounds the sum
// to float32 once.
func times(x, high, low float32) float32 {
	product, small := float64(x)*float64(high), float64(float32(x*low))
	sum := product + small
	// The rounding error of the sum decides its last bit, so that the result is rounded once.
	if lost := (product - sum) + small; lost != 0 && lost == lost {
		bits := math.Float64bits(sum)
		if bits&1 == 0 {
			if (lost > 0) == (sum > 0) {
				bits++
			} else {
				bits--
			}
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}
