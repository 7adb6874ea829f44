package cpu

// ProductColumnsScratch returns the number of scratch elements that [ProductColumns] needs for each
// part that it computes concurrently. k is the number of elements of a column.
func ProductColumnsScratch(k int) int { return 16 * panelStrip * ceil(k, 4) * 4 }

// ProductColumns multiplies matrices a and w of bytes. For each matrix of the batch, each row i and
// each column j, it computes
//
//	dst[i][j] = Σ_t (a[i][t] − x)·(w[t][j] − zero[j])
//
// a is uint8 [batch, m, k], packed by [PackRows], with k rounded up to a multiple of 4. w is
// [weights, k, n]; its matrices repeat along the batch. If w is uint8, the formula applies to its
// elements minus 128. sums are the sums of the rows of a. x has one element. zero has one element
// or weights·n elements, for the columns of the first matrix of w, then of the second, and so on. x
// and zero may be nil. sums may be nil if zero is.
//
// ProductColumns packs a few columns at a time into scratch. Weights that are used only once
// therefore need no packed copy. It computes parts concurrently, as many as scratch is long enough
// for; see [ProductColumnsScratch].
func ProductColumns[S Byte](
	dst []int32, a []uint8, w []S, x, zero, sums []int32, scratch []int8,
	batch, weights, m, n, k int,
) {
	p := columnProduct{depth: k, change: flip[int8, S]()}
	p.product = integerProduct{batch: batch, weights: weights, m: m, n: n, k: ceil(k, 4) * 4, kind: sumsKind}
	q := &p.product
	if !q.check(pointer(dst), len(dst), a, zero, sums) {
		return
	}
	if k == 0 {
		clear(dst[:volume(batch, m, n)])
		return
	}
	if len(x) > 0 {
		p.x = x[0]
	}
	p.w = bytesOf(trim(w, volume(weights, k, n)))
	p.strips = ceil(q.columns, panelStrip)
	p.scratch = bytesOf(scratch)
	room := len(scratch) / ProductColumnsScratch(k)
	if room == 0 {
		panic("cpu: an integer product without scratch")
	}
	if !columnProducts.run(&p, min(partsFor(q.work(), int64(len(p.w))), room)) {
		p.Part(0, 1)
	}
}

type columnProduct struct {
	product integerProduct
	depth   int // elements of a column
	strips  int // panels that are packed at once
	x       int32
	change  byte
	w       []byte
	scratch []byte
}

var columnProducts slot[columnProduct, *columnProduct]

func (p *columnProduct) Part(i, parts int) {
	q := &p.product
	size := ProductColumnsScratch(p.depth)
	room := p.scratch[i*size:][:size]
	var columns byteColumns
	t := q.tile(unseen(&columns))
	t.b = pointer(room)
	_, most := byteLimits()
	from, to := portion(q.batch*p.strips, i, parts)
	for ; from < to; from++ {
		batch, panel := from/p.strips, from%p.strips*panelStrip
		matrix, width := batch%q.weights, min(16*panelStrip, q.n-16*panel)
		var sums [16 * panelStrip]int32
		packStrip(room, p.w[matrix*p.depth*q.n+16*panel:], sums[:], p.depth, width, q.n, 16*q.k, p.change)
		for s := panel / most; s < min(q.strips, (panel+panelStrip)/most); s++ {
			first := s*most - panel
			columns.set(q, matrix*q.n+16*most*s, q.width(s))
			// Σ(row−x)(column−zero) = Σrow·column − zero·Σrow − x·(Σcolumn − depth·zero)
			for j, sum := range sums[16*first:][:q.width(s)] {
				columns.first[j] = -p.x * (sum - int32(p.depth)*columns.zero[j])
			}
			t.atB = first * t.panelB
			q.strip(&t, batch, s, 0, q.rows.tiles)
		}
	}
}
