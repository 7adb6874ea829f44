package cpu

import "unsafe"

// MaxPoolBytes computes the maximum of each window of bytes. src is uint8[planes][in…][16], and dst
// is uint8[planes][out…][16]. There are two spatial axes.
func MaxPoolBytes(dst, src []uint8, planes int, in, out, kernel, strides, dilations []int) {
	m := maxBytes{planes: planes, h: in[0], w: in[1], outH: out[0], outW: out[1], strideH: strides[0]}
	if planes <= 0 || volume(out...) == 0 {
		return
	}
	for i := range 2 {
		if min(kernel[i], strides[i], dilations[i]) < 1 || volume(out[i]-1, strides[i])+volume(kernel[i]-1, dilations[i]) >= in[i] {
			panic("cpu: a window of a pool leaves its input")
		}
	}
	m.src, m.dst = src[:volume(planes, m.h, m.w, 16)], dst[:volume(planes, m.outH, m.outW, 16)]
	m.row = maxRow{n: m.outW, step: 16 * strides[1], rows: kernel[0], rowA: 16 * dilations[0] * m.w, cells: kernel[1], cell: 16 * dilations[1]}
	work := int64(len(m.dst)) * int64(kernel[0]*kernel[1])
	if !maxesOfBytes.run(&m, partsFor(work/4, int64(len(m.src)))) {
		m.Part(0, 1)
	}
}

type maxBytes struct {
	planes, h, w, outH, outW, strideH int
	src, dst                          []byte
	row                               maxRow
}

var maxesOfBytes slot[maxBytes, *maxBytes]

func (m *maxBytes) Part(i, parts int) {
	from, to := portion(m.planes*m.outH, i, parts)
	for r := m.row; from < to; from++ {
		r.a = pointer(m.src[16*m.w*(from/m.outH*m.h+from%m.outH*m.strideH):])
		r.c = pointer(m.dst[16*m.outW*from:])
		runMaxRow(&r)
	}
}

// maxRow describes a row of pixels of 16 bytes to a kernel. Distances are in bytes.
type maxRow struct {
	a, c        unsafe.Pointer // input and result
	n, step     int            // pixels, and from a pixel's window to the next
	rows, rowA  int            // rows of a window, and from a row to the next
	cells, cell int            // cells of a row, and from a cell to the next
}

// maxRowRef computes the maximum of each window of a row, for each of 16 channels.
func maxRowRef(t *maxRow) {
	for i := range t.n {
		var most [16]byte
		for y := range t.rows {
			for x := range t.cells {
				for j, v := range (*[16]byte)(unsafe.Add(t.a, i*t.step+y*t.rowA+x*t.cell)) {
					most[j] = max(most[j], v)
				}
			}
		}
		*(*[16]byte)(unsafe.Add(t.c, 16*i)) = most
	}
}
