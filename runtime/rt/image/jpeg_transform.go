package image

// These are the constants of libjpeg's accurate integer inverse DCT, the algorithm of Loeffler,
// Ligtenberg and Moschytz (1989). Factors are fixed-point numbers with factorBits fractional
// bits. The results of the first pass, over columns, have keptBits fractional bits.
const (
	factorBits = 13
	keptBits   = 2
)

// transform dequantises b and stores its inverse DCT, 8 × 8 samples, in dst. Rows start stride
// elements apart.
func transform(dst []uint8, stride int, b *coefficients, quantisers *[64]uint16) {
	var work [64]int32
	for x := range 8 {
		var v [8]int32
		for y := range v {
			v[y] = int32(b[8*y+x]) * int32(quantisers[8*y+x])
		}
		butterfly(&v, factorBits-keptBits)
		for y := range v {
			work[8*y+x] = v[y]
		}
	}
	for y := range 8 {
		v := [8]int32(work[8*y:])
		butterfly(&v, factorBits+keptBits+3)
		row := dst[y*stride:][:8]
		for x := range row {
			row[x] = clamp(v[x] + 128)
		}
	}
}

// butterfly replaces v by its 8-point inverse DCT, divided by 2^shift and rounded to integers.
func butterfly(v *[8]int32, shift uint) {
	// The even part rotates two values by 3π/8.
	turned := (v[2] + v[6]) * 4433 // √2·cos(3π/8)
	low := turned - v[6]*15137     // √2·(cos + sin)
	high := turned + v[2]*6270     // √2·(sin − cos)
	sum, difference := (v[0]+v[4])<<factorBits, (v[0]-v[4])<<factorBits
	even := [4]int32{sum + high, difference + low, difference - low, sum - high}

	// The odd part, of four values with a common rotation.
	a, b, c, d := v[7], v[5], v[3], v[1]
	common := (a + c + b + d) * 9633
	ad, bc := (a+d)*-7373, (b+c)*-20995
	ac, bd := (a+c)*-16069+common, (b+d)*-3196+common
	odd := [4]int32{
		d*12299 + ad + bd,
		c*25172 + bc + ac,
		b*16819 + bc + bd,
		a*2446 + ad + ac,
	}
	half := int32(1) << (shift - 1)
	for i := range 4 {
		v[i], v[7-i] = (even[i]+odd[i]+half)>>shift, (even[i]-odd[i]+half)>>shift
	}
}
