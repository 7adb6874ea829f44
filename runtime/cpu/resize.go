package cpu

// The resizing kernels see src as [outer, inH, inW, inner], row-major: inner is 1 for planar images
// (NCHW), 16 for blocked ones, and the number of channels for NHWC. Tables list the inputs that each
// output reads, so that coordinate transformations and rounding of ONNX Resize concern only the
// construction of the tables.

// ResizeNearest computes dst[o, y, x, :] = src[o, rows[y], cols[x], :] (ONNX Resize, mode nearest).
// src is [outer, inH, inW, inner], and dst is [outer, len(rows), len(cols), inner].
func ResizeNearest[T any](dst, src []T, outer, inH, inW, inner int, rows, cols []int32) {
	outRow := len(cols) * inner
	dst, src = trim(dst, outer*len(rows)*outRow), trim(src, outer*inH*inW*inner)
	for o := range outer {
		image := src[o*inH*inW*inner:][:inH*inW*inner]
		for y, r := range rows {
			to := dst[(o*len(rows)+y)*outRow:][:outRow]
			if y > 0 && rows[y-1] == r {
				copy(to, dst[(o*len(rows)+y-1)*outRow:])
				continue
			}
			from := image[int(r)*inW*inner:][:inW*inner]
			if inner == 1 {
				for x, c := range cols {
					to[x] = from[c]
				}
				continue
			}
			for x, c := range cols {
				copy(to[x*inner:][:inner], from[int(c)*inner:][:inner])
			}
		}
	}
}

// ResizeLinear interpolates each output element between four input elements (ONNX Resize, mode
// linear, on two axes). Output row y is the sum of the input rows rows[2y] and rows[2y+1] with
// weights rowWeights[2y] and rowWeights[2y+1]. Columns are interpolated in the same way. src is
// [outer, inH, inW, inner], and dst is [outer, len(rows)/2, len(cols)/2, inner].
func ResizeLinear[T Float](dst, src []T, outer, inH, inW, inner int, rows []int32, rowWeights []float32, cols []int32, colWeights []float32) {
	outH, outW := len(rows)/2, len(cols)/2
	rowWeights, colWeights = trim(rowWeights, 2*outH), trim(colWeights, 2*outW)
	dst, src = trim(dst, outer*outH*outW*inner), trim(src, outer*inH*inW*inner)
	if inner == 1 && max(inW, outW) <= resizeRoom {
		var room [3][resizeRoom]T
		for o := range outer {
			linearRows(dst[o*outH*outW:][:outH*outW], src[o*inH*inW:][:inH*inW], &room, inW, rows, rowWeights, cols, colWeights)
		}
		return
	}
	for o := range outer {
		image := src[o*inH*inW*inner:][:inH*inW*inner]
		for y := range outH {
			above, below := image[int(rows[2*y])*inW*inner:][:inW*inner], image[int(rows[2*y+1])*inW*inner:][:inW*inner]
			wa, wb := T(rowWeights[2*y]), T(rowWeights[2*y+1])
			to := dst[(o*outH+y)*outW*inner:][:outW*inner]
			for x := range outW {
				left, right := int(cols[2*x])*inner, int(cols[2*x+1])*inner
				wl, wr := T(colWeights[2*x]), T(colWeights[2*x+1])
				if inner == 1 {
					to[x] = mix(mix(above[left], above[right], wl, wr), mix(below[left], below[right], wl, wr), wa, wb)
					continue
				}
				al, ar := above[left:][:inner], above[right:][:inner]
				bl, br := below[left:][:inner], below[right:][:inner]
				for i := range to[x*inner:][:inner] {
					to[x*inner+i] = mix(mix(al[i], ar[i], wl, wr), mix(bl[i], br[i], wl, wr), wa, wb)
				}
			}
		}
	}
}

// resizeRoom is the largest number of columns for linearRows.
const resizeRoom = 2 << 10

// linearRows is ResizeLinear for one plane. It interpolates between columns first if dst has at
// least as many rows as src. Each row of src is then interpolated only once, for all rows of dst
// that use it. Otherwise linearRows interpolates between rows first.
func linearRows[T Float](dst, src []T, room *[3][resizeRoom]T, inW int, rows []int32, rowWeights []float32, cols []int32, colWeights []float32) {
	n := len(cols) / 2
	if len(rows)/2*inW < len(src) {
		first, second := room[0][:inW], room[1][:inW]
		for y := range len(rows) / 2 {
			MulScalar(first, src[int(rows[2*y])*inW:][:inW], T(rowWeights[2*y]))
			MulScalar(second, src[int(rows[2*y+1])*inW:][:inW], T(rowWeights[2*y+1]))
			Add(first, first, second)
			mixColumns(dst[y*n:][:n], first, cols, colWeights)
		}
		return
	}
	below := room[2][:n]
	held := [2]int32{-1, -1} // the rows of src that the first two rows of room are made of
	row := func(r int32, other int32) []T {
		k := 0
		if held[1] == r || held[0] != r && held[0] == other {
			k = 1
		}
		to := room[k][:n]
		if held[k] == r {
			return to
		}
		held[k] = r
		mixColumns(to, src[int(r)*inW:][:inW], cols, colWeights)
		return to
	}
	for y := range len(rows) / 2 {
		to, r, s := dst[y*n:][:n], rows[2*y], rows[2*y+1]
		MulScalar(to, row(r, s), T(rowWeights[2*y]))
		MulScalar(below, row(s, r), T(rowWeights[2*y+1]))
		Add(to, to, below)
	}
}

func mixColumns[T Float](dst, src []T, cols []int32, weights []float32) {
	cols, weights = cols[:2*len(dst)], weights[:2*len(dst)]
	for x := range dst {
		dst[x] = mix(src[cols[2*x]], src[cols[2*x+1]], T(weights[2*x]), T(weights[2*x+1]))
	}
}

// mix returns va·a + vb·b with each product rounded.
func mix[T Float](a, b, va, vb T) T { return T(va*a) + T(vb*b) }

// ResizeAxis computes weighted sums along the middle axis of src: dst[o, y, i] = Σ_t
// weights[y·taps+t]·src[o, idx[y·taps+t], i]. src is [outer, dim, inner], and dst is [outer,
// len(idx)/taps, inner]. One call for each axis computes ONNX Resize of any rank. taps is 2 for
// mode linear, 4 for cubic, and more with antialiasing.
func ResizeAxis[T Float](dst, src []T, outer, dim, inner, taps int, idx []int32, weights []float32) {
	n := len(idx) / taps
	weights = trim(weights, n*taps)
	dst, src = trim(dst, outer*n*inner), trim(src, outer*dim*inner)
	for o := range outer {
		from := src[o*dim*inner:][:dim*inner]
		for y := range n {
			to := dst[(o*n+y)*inner:][:inner]
			for t := y * taps; t < (y+1)*taps; t++ {
				row, w := from[int(idx[t])*inner:][:inner], T(weights[t])
				if t == y*taps {
					each(to, row, func(v T) T { return w * v })
					continue
				}
				zip(to, to, row, func(sum, v T) T { return sum + T(w*v) })
			}
		}
	}
}
