package cpu

// PackRows packs rows of k bytes: it pads each row with zeros to a multiple of 4, and shifts int8 by
// 128 to uint8. src is [batch, m, k]. sums, which may be nil, receives the sum of each shifted row.
func PackRows[S Byte](dst []uint8, sums []int32, src []S, batch, m, k int) {
	p := rowPacking{rows: volume(batch, m), k: k, change: flip[uint8, S]()}
	p.dst = trim(dst, volume(p.rows, p.width()))
	p.src = bytesOf(trim(src, volume(p.rows, k)))
	if sums != nil {
		p.sums = trim(sums, p.rows)
	}
	if !packsOfRows.run(&p, partsFor(0, int64(len(p.src)))) {
		p.Part(0, 1)
	}
}

type rowPacking struct {
	rows, k  int
	change   byte
	dst, src []byte
	sums     []int32
}

var packsOfRows slot[rowPacking, *rowPacking]

func (p *rowPacking) width() int { return ceil(p.k, 4) * 4 }

func (p *rowPacking) Part(i, parts int) {
	from, to := portion(p.rows, i, parts)
	for ; from < to; from++ {
		row := p.dst[from*p.width():][:p.width()]
		sum := packRow(row, p.src[from*p.k:][:p.k], p.change)
		if p.sums != nil {
			p.sums[from] = sum
		}
	}
}

// packRow copies a row of bytes from src to dst. It XORs each byte with change, and pads the row
// with zeros. It returns the sum of the resulting bytes.
func packRow(dst, src []byte, change byte) int32 {
	done, sum := packRowFast(dst, src, change)
	rest := dst[done:]
	for i, v := range src[done:] {
		rest[i] = v ^ change
	}
	clear(rest[len(src)-done:])
	return sum + sumOf(rest, false)
}

// packRowFast packs the first bytes of a row with assembly. It returns the number of these bytes
// and their sum.
func packRowFast(dst, src []byte, change byte) (done int, sum int32) {
	if !hasPackBytes() {
		return 0, 0
	}
	for n := len(src) &^ 31; done < n; {
		part := min(n-done, atOnce&^31)
		sum += int32(packPart(dst[done:], src[done:][:part], fourTimes(change)))
		done += part
	}
	return done, sum
}

// PackColumns packs matrices of bytes into panels of 16 columns. In a panel, four successive
// elements of a column are next to each other, followed by four elements of the next column. src is
// [batch, k, n], and dst is [batch, ⌈n/16⌉, ⌈k/4⌉, 16, 4], padded with zeros. uint8 is shifted by
// −128 to int8. sums, which may be nil, receives the sum of each shifted column, [batch, n].
func PackColumns[S Byte](dst []int8, sums []int32, src []S, batch, k, n int) {
	p := columnPacking{batch: batch, k: k, n: n, change: flip[int8, S]()}
	p.dst = bytesOf(trim(dst, volume(batch, p.panels(), ceil(k, 4), 64)))
	p.src = bytesOf(trim(src, volume(batch, k, n)))
	if sums != nil {
		p.sums = trim(sums, volume(batch, n))
	}
	if k == 0 {
		clear(p.sums)
		return
	}
	if !packsOfColumns.run(&p, partsFor(0, int64(len(p.src)))) {
		p.Part(0, 1)
	}
}

type columnPacking struct {
	batch, k, n int
	change      byte
	dst, src    []byte
	sums        []int32
}

var packsOfColumns slot[columnPacking, *columnPacking]

func (p *columnPacking) panels() int { return ceil(p.n, 16) }

// These are the sizes of the blocks in which columns are packed. They are small, so that few pages of
// memory are read at a time.
const (
	panelStrip = 4  // panels
	packedRows = 64 // rows
)

func (p *columnPacking) Part(i, parts int) {
	strips := ceil(p.panels(), panelStrip)
	from, to := portion(p.batch*strips, i, parts)
	for from < to {
		batch := from / strips
		end := min(to, (batch+1)*strips)
		if p.sums != nil {
			clear(p.sums[batch*p.n:][from%strips*16*panelStrip : min(p.n, (end-batch*strips)*16*panelStrip)])
		}
		for row := 0; row < p.k; row += packedRows {
			for s := from; s < end; s++ {
				p.strip(batch, s%strips*panelStrip, row, min(row+packedRows, p.k))
			}
		}
		from = end
	}
}

// strip packs rows [r0, r1) of up to panelStrip adjacent panels of a matrix. The first of them is
// panel number `panel`. r0 must be a multiple of four.
func (p *columnPacking) strip(batch, panel, r0, r1 int) {
	var aside [16 * panelStrip]int32
	first, count := 16*panel, min(panelStrip, p.panels()-panel)
	width := min(16*count, p.n-first)
	sums := aside[:]
	if p.sums != nil {
		sums = p.sums[batch*p.n+first:][:width]
	}
	size := ceil(p.k, 4) * 64
	packStrip(p.dst[(batch*p.panels()+panel)*size+16*r0:], p.src[(batch*p.k+r0)*p.n+first:], sums, r1-r0, width, p.n, size, p.change)
}

// packStrip packs rows of `width` columns into panels, at most panelStrip panels. It XORs each byte
// with change, and adds the columns to sums. In src, rows are `row` bytes apart. In dst, panels are
// `size` bytes apart.
func packStrip(dst, src []byte, sums []int32, rows, width, row, size int, change byte) {
	// The kernels do groups of four rows of whole panels.
	groups := rows / 4
	done := packPanels(dst, src, sums, width/16, size, groups, row, change)
	for j := range ceil(width, 16) {
		to, columns := dst[j*size:][:ceil(rows, 4)*64], min(16, width-16*j)
		from := 0
		if j < done {
			from = 4 * groups
		}
		if columns < 16 {
			clear(to)
		} else if rows%4 != 0 {
			clear(to[64*groups:])
		}
		if from < rows {
			packPanel(to, src[16*j:], sums[16*j:], from, rows, columns, row, change)
		}
	}
}

// packPanels packs panels of 16 columns with assembly: 4·groups rows of each panel. It adds the
// columns to sums. In src, rows are `row` bytes apart. In dst, panels are `size` bytes apart.
// packPanels returns the number of panels that it packed, which is 0 without assembly.
func packPanels(dst, src []byte, sums []int32, panels, size, groups, row int, change byte) (done int) {
	if !hasPackBytes() || groups == 0 {
		return 0
	}
	for done < panels {
		abreast := 1
		switch left := panels - done; {
		case level == AVX512 && left >= 4:
			abreast = 4
		case left >= 2:
			abreast = 2
		}
		packColumns(abreast, &dst[done*size], &src[16*done], &sums[16*done], row, size, groups, fourTimes(change))
		done += abreast
	}
	return done
}

// packPanel packs rows [from, to) of one panel, and adds its columns to sums. In src, rows are
// `row` bytes apart.
func packPanel(dst, src []byte, sums []int32, from, to, columns, row int, change byte) {
	for i := from; i < to; i++ {
		at := dst[i/4*64+i%4:]
		for j, v := range src[i*row:][:columns] {
			v ^= change
			at[4*j] = v
			sums[j] += int32(int8(v))
		}
	}
}

func fourTimes(v byte) uint32 { return uint32(v) * 0x01010101 }
