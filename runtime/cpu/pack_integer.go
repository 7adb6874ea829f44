package cpu

// PackRows pads rows of k bytes, [batch, m, k], with zeros to a multiple of 4 and
// moves those of int8 by 128, to uint8. sums, which may be nil, gets the sum of each
// moved row.
func PackRows[S Byte](dst []uint8, sums []int32, src []S, batch, m, k int) {
	rows, width := volume(batch, m), ceil(k, 4)*4
	dst = trim(dst, volume(rows, width))
	from := bytesOf(trim(src, volume(rows, k)))
	if sums != nil {
		sums = trim(sums, rows)
	}
	change := flip[uint8, S]()
	for i := range rows {
		row := dst[i*width:][:width]
		for j, v := range from[i*k:][:k] {
			row[j] = v ^ change
		}
		clear(row[k:])
		if sums != nil {
			sums[i] = sumOf(row, false)
		}
	}
}

// PackColumns puts matrices of bytes, [batch, k, n], into panels of 16 columns, four
// elements of a column side by side: [batch, ⌈n/16⌉, ⌈k/4⌉, 16, 4], padded with zeros.
// Those of uint8 move by −128, to int8.
func PackColumns[S Byte](dst []int8, src []S, batch, k, n int) {
	panels, groups := ceil(n, 16), ceil(k, 4)
	to, from := bytesOf(trim(dst, volume(batch, panels, groups, 64))), bytesOf(trim(src, volume(batch, k, n)))
	change := flip[int8, S]()
	for b := range batch {
		for p := range panels {
			panel := to[(b*panels+p)*groups*64:][:groups*64]
			width := min(16, n-16*p)
			if width < 16 || k%4 != 0 {
				clear(panel)
			}
			for i := range k {
				at := panel[i/4*64+i%4:]
				for j, v := range from[(b*k+i)*n+16*p:][:width] {
					at[4*j] = v ^ change
				}
			}
		}
	}
}
