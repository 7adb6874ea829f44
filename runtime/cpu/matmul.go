package cpu

import (
	"context"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// MatMulShape describes a batch of matrix products, dst[i] = a[i]·b[i] for i < Batch. a[i] is M×K,
// b[i] is K×N, and dst[i] is M×N.
type MatMulShape struct {
	M, N, K int
	LDA     int // distance between rows of a in elements
	LDC     int // distance between rows of dst in elements
	Batch   int
	// These are the distances in elements between the matrices of a, of the packed b, and of dst.
	// If StrideA or StrideB is 0, the whole batch uses one matrix of a or of b.
	StrideA, StrideB, StrideC int
	// LDB is the distance between rows of an unpacked b, f32[K][LDB]; N is then a multiple of 16. It is
	// 0 for panels.
	LDB int
	// RowBias says that the epilogue's bias has an element for each row instead of each column.
	RowBias bool
	// Terms is the largest number of terms that are added sequentially. Longer sums are sums of partial
	// sums, which round less. 0 means as many as is fastest.
	Terms int
	// Ctx ends the call early; may be nil. See Until.
	Ctx context.Context
}

// PanelsLen returns the number of elements that a k×n matrix has in panels.
func PanelsLen(k, n int) int { return ceil(n, 16) * 16 * k }

// PackPanels packs a batch of matrices into panels, one matrix after the other. In b, rows are ldb
// elements apart, and matrices strideB elements apart. A matrix in b is k×n. If trans is true, it
// is n×k, and is transposed.
func PackPanels(dst, b []float32, k, n, ldb int, trans bool, batch, strideB int) {
	if batch <= 0 || k <= 0 || n <= 0 {
		return
	}
	rows, columns := k, n
	if trans {
		rows, columns = n, k
	}
	p := panelPacking{k: k, n: n, ldb: ldb, trans: trans, batch: batch, strideB: strideB}
	p.dst = dst[:volume(batch, ceil(n, 16), 16, k)]
	p.b = b[:volume(batch-1, strideB)+volume(rows-1, ldb)+columns]
	if !packsOfPanels.run(&p, partsFor(0, 8*int64(len(p.dst)))) {
		p.Part(0, 1)
	}
}

type panelPacking struct {
	dst, b    []float32
	k, n, ldb int
	trans     bool

	batch, strideB int
}

var packsOfPanels slot[panelPacking, *panelPacking]

func (p *panelPacking) Part(i, parts int) {
	each := ceil(p.n, 16)
	from, to := portion(p.batch*each, i, parts)
	for ; from < to; from++ {
		panel, b, j := p.dst[from*16*p.k:][:16*p.k], p.b[from/each*p.strideB:], from%each*16
		width := min(16, p.n-j)
		if !p.trans {
			packRows(panel, b[j:], width, p.k, p.ldb)
			continue
		}
		if width < 16 {
			clear(panel)
		}
		transpose(panel, b[j*p.ldb:], width, p.k, 16, p.ldb)
	}
}

// packRows packs k rows of b into a panel. A row has `width` elements, at most 16, and rows are ldb
// elements apart.
func packRows(panel, b []float32, width, k, ldb int) {
	if width == 16 {
		for i := range k {
			*(*[16]float32)(panel[16*i:]) = *(*[16]float32)(b[i*ldb:])
		}
		return
	}
	for i := range k {
		row := panel[16*i:][:16]
		clear(row[copy(row, b[i*ldb:][:width]):])
	}
}

// MatMul computes dst[i] = epilogue(a[i]·B[i]) for each matrix i of the batch. The matrices B[i]
// are packed by [PackPanels]. Sums are in float32. Their order depends on [CurrentLevel]. dst may
// be ep.Residual, but must not overlap another operand. MatMul is never inlined, so that profiles
// show its name.
//
//go:noinline
func MatMul(dst, a, panels []float32, s *MatMulShape, ep *Epilogue) {
	multiply(dst, a, panels, weightKind{}, s, ep)
}

// MatMulNarrow is [MatMul] for panels whose type is narrower than float32. Elements are converted
// to float32 when they are read.
func MatMulNarrow[W rt.Float16 | rt.BFloat16](dst, a []float32, panels []W, s *MatMulShape, ep *Epilogue) {
	multiply(dst, a, panels, narrowKind[W](), s, ep)
}

// multiply is [MatMul] for panels whose elements are of the given kind.
func multiply[W float32 | rt.Float16 | rt.BFloat16](dst, a []float32, panels []W, kind weightKind, s *MatMulShape, ep *Epilogue) {
	if s.M <= 0 || s.N <= 0 || s.Batch <= 0 || s.K < 0 {
		return
	}
	if ep == nil {
		ep = &none
	}
	count := volume(ceil(s.N, 16), 16, s.K)
	if s.LDB > 0 {
		if s.N%16 != 0 || kind.format != weightF32 {
			panic("cpu: a product of rows that are not panels")
		}
		count = volume(max(0, s.K-1), s.LDB) + s.N
	}
	if s.M == 1 && s.Batch == 1 && count <= smallPanels && ep.Then == nil && s.byColumns() && s.Terms == 0 {
		matMulSmallRow(dst[:s.N], a[:s.K], unsafe.Pointer(unsafe.SliceData(panels[:count])), kind, ep)
		return
	}
	last := s.Batch - 1
	dst = dst[:volume(last, s.StrideC)+volume(s.M-1, s.LDC)+s.N]
	a = a[:volume(last, s.StrideA)+volume(s.M-1, s.LDA)+s.K]
	panels = panels[:volume(last, s.StrideB)+count]
	if s.RowBias {
		ep.check(s.M, len(dst))
	} else {
		ep.check(s.N, len(dst))
	}

	var p product
	p.MatMulShape, p.ep = *s, *ep
	p.dst, p.a, p.panels, p.kind = dst, a, unsafe.Pointer(unsafe.SliceData(panels)), kind
	if p.StrideB == 0 && !p.RowBias && p.StrideA == p.M*p.LDA && p.StrideC == p.M*p.LDC {
		p.M, p.Batch = p.M*p.Batch, 1
	}
	p.plan()
	work := int64(p.Batch) * int64(p.M) * int64(p.N) * int64(p.K)
	parts := products.runUntil(s.Ctx, &p, nanoseconds(work, int64(p.kind.size())*int64(len(panels))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		p.Part(i, parts)
	}
}

// byColumns reports whether b is in panels and the bias has an element for each column. The kernels
// for products of one row require this.
func (s *MatMulShape) byColumns() bool { return s.LDB == 0 && !s.RowBias }

// smallPanels is a size of panels, in elements. For panels up to this size, a product of one row is
// not divided among threads.
const smallPanels = 1 << 15

// matMulSmallRow computes the product of one row and few columns. It skips the preparations of
// other products, because they would take most of the time.
func matMulSmallRow(dst, a []float32, panels unsafe.Pointer, kind weightKind, ep *Epilogue) {
	ep.check(len(dst), len(dst))
	t := oneRow{
		a: start(a), b: panels, c: start(dst),
		bias: start(ep.Bias), residual: start(ep.Residual),
		depth: len(a), kind: kind,
	}
	t.panelB = 16 * len(a) * t.kind.size()
	t.epilogue(ep)
	t.run(len(dst))
}

// product is the state of a running MatMul.
type product struct {
	MatMulShape
	dst, a []float32
	panels unsafe.Pointer
	kind   weightKind
	ep     Epilogue

	rows    rowSplit
	high    int // tiles of a block; their rows of a stay in the second-level cache
	wide    int // columns of a block, a multiple of the width of a tile
	columns int // of a tile
	depth   int // terms that are summed before the next columns, or before the next terms in a product of one row
}

var products slot[product, *product]

// These are the sizes of the blocks of a product. A depth is a number of terms of a sum.
const (
	blockDepth   = 768       // the factors of these terms in two panels and in the rows of a block share a second-level cache
	blockA       = 160 << 10 // elements of a in a block
	blockColumns = 512       // columns of a block if Then reads the result from the cache
	farPanels    = 256 << 10 // panels that are larger and read by one row are prefetched
	narrowDepth  = 512       // narrow panels are converted for these terms at a time
	rowsDepth    = 256       // these rows of two strips of columns of an unpacked b share a first-level cache
)

// plan chooses the sizes of tiles and blocks. They do not depend on the number of parts.
func (p *product) plan() {
	limit, panels := tileLimits()
	p.rows = split(p.M, limit)
	p.columns = 16 * panels
	p.depth, p.high = max(p.K, 1), 1
	longest := blockDepth
	switch {
	case p.M == 1:
		longest = p.depth
	case p.kind.format != weightF32:
		longest = narrowDepth
	case p.LDB > 0:
		longest = rowsDepth
	case p.rows.tiles == 1:
		longest = p.depth
	case p.rows.tiles == 2: // rows that take little of the cache
		longest = 2 * blockDepth
	}
	if p.Terms > 0 {
		longest = min(longest, p.Terms)
	}
	p.depth = ceil(p.depth, ceil(p.depth, longest))
	if p.rows.tiles > 2 || p.K*p.N > nearPanels { // else panels are read again from a near cache
		most := max(1, blockA/(p.depth*limit))
		p.high = ceil(p.rows.tiles, ceil(p.rows.tiles, most))
	}
	p.wide = ceil(p.N, p.columns) * p.columns
	if p.ep.Then != nil {
		p.wide = min(p.wide, blockColumns)
	}
}

// Part implements [rt.Task]. It computes part i of `parts` of the tiles of all matrices.
func (p *product) Part(i, parts int) {
	batch, a, b := int64(p.Batch), int64(p.M)*int64(p.K), int64(p.K)*int64(p.N)
	g := grid{
		images: p.Batch, strips: ceil(p.N, p.columns), lines: p.rows.tiles,
		weights: b, inputs: batch * a, work: batch * a * int64(p.N),
	}
	g.portion(i, parts, func(batch, t0, t1, c0, c1 int) {
		p.blocks(batch, t0, t1, c0*p.columns, min(p.N, c1*p.columns))
	})
}

// blocks computes, block by block, the results of one matrix of the batch in the row tiles [t0, t1) and
// the columns [j0, j1).
func (p *product) blocks(batch, t0, t1, j0, j1 int) {
	for t := t0; t < t1; t += p.high {
		for j := j0; j < j1; j += p.wide {
			p.block(batch, t, min(t+p.high, t1), j, min(j+p.wide, j1))
		}
	}
}

// block computes the results of one matrix of the batch in the row tiles [t0, t1) and the columns
// [j0, j1). j0 must be a multiple of 16. j1 must be a multiple of 16 or N.
func (p *product) block(batch, t0, t1, j0, j1 int) {
	row, high := p.rows.at(t0), p.rows.at(t1)-p.rows.at(t0)
	switch {
	case p.M == 1 && p.byColumns():
		p.oneRow(batch, j0, j1)
	case p.kind.format != weightF32:
		p.narrow(batch, t0, t1, j0, j1)
	default:
		p.tiles(batch, t0, t1, j0, j1, nil)
	}
	p.ep.then(p.dst, batch*p.StrideC+row*p.LDC+j0, high, j1-j0, p.LDC)
}

// oneRow computes columns [j0, j1) of one matrix of the batch, for matrices with one row.
func (p *product) oneRow(batch, j0, j1 int) {
	at := batch*p.StrideC + j0
	for k := 0; k == 0 || k < p.K; k += p.depth {
		t := oneRow{
			a: unsafe.Add(start(p.a), 4*(batch*p.StrideA+k)), c: unsafe.Add(start(p.dst), 4*at),
			b:     unsafe.Add(p.panels, p.kind.size()*(batch*p.StrideB+j0*p.K+16*k)),
			depth: min(p.depth, p.K-k), panelB: 16 * p.K * p.kind.size(), kind: p.kind,
		}
		switch {
		case k > 0:
			t.residual = t.c
		case p.ep.Residual != nil:
			t.residual = start(p.ep.Residual[at:])
		}
		if k+t.depth == p.K {
			if p.ep.Bias != nil {
				t.bias = start(p.ep.Bias[j0:])
			}
			t.epilogue(&p.ep)
		}
		if p.K*p.N > farPanels {
			t.far = 1
		}
		t.run(j1 - j0)
	}
}

// narrow is [product.tiles] for panels of a type narrower than float32.
func (p *product) narrow(batch, t0, t1, j0, j1 int) {
	var room [16 * maxPanels * narrowDepth]float32
	p.tiles(batch, t0, t1, j0, j1, unsafe.Slice(&unseen(&room)[0], len(room)))
}

// tiles computes tiles [t0, t1) of rows and columns [j0, j1) of one matrix of the batch, with
// kernels for float32. If room is not nil, the panels have a narrower type, and tiles first
// converts them to float32 in room.
func (p *product) tiles(batch, t0, t1, j0, j1 int, room []float32) {
	row := p.rows.at(t0)
	var t tile
	t.a, t.b, t.c = start(p.a), p.panels, start(p.dst)
	t.panelB, t.panelC = 64*p.K, 64
	down := 64 // bytes from a row of b to the next
	if p.LDB > 0 {
		t.panelB, down = 64, 4*p.LDB
		t.gapB = down - 64
	}
	if p.RowBias {
		t.byRow = 1
	}
	t.n = [3]int{1, 1, 1}
	t.rowA, t.rowC = 4*p.LDA, 4*p.LDC
	switch {
	case room != nil:
		t.b = start(room)
	case p.LDB > 0:
	case t1-t0 > 1: // one tile reads panels once, from a page ahead
		t.fetch = fetchFor(p.K*p.N, t1-t0)
	}
	for k := 0; k == 0 || k < p.K; k += p.depth {
		depth := min(p.depth, p.K-k)
		t.run = depth
		p.ep.fillPart(&t, k == 0, k+depth == p.K)
		for j := j0; j < j1; {
			width := min(p.columns, j1-j)
			t.panels = ceil(width, 16)
			t.atA = 4 * (batch*p.StrideA + row*p.LDA + k)
			t.atB = 4*batch*p.StrideB + j/16*t.panelB + k*down
			t.atC = 4 * (batch*p.StrideC + row*p.LDC + j)
			if t.atBias = 4 * j; p.RowBias {
				t.atBias = 4 * row
			}
			if t.atNext = t.atB + t.panels*t.panelB; j+width >= j1 {
				t.atNext = 4*batch*p.StrideB + j0/16*t.panelB + (k+depth)*down
			}
			if room != nil {
				t.panelB, t.atB, t.atNext = 64*depth, 0, 0
				for i := range t.panels {
					at := batch*p.StrideB + (j+16*i)*p.K + 16*k
					p.kind.widen(room[16*depth*i:][:16*depth], unsafe.Add(p.panels, p.kind.size()*at))
				}
			}
			switch {
			case width%16 != 0:
				t.coverPart(p.rows, t0, t1, width)
			case t1-t0 == 1 && room == nil:
				// The product is one tile high: the kernel goes across.
				count := (j1 - j) / width
				t.nextA, t.nextB, t.nextC, t.nextBias = 0, t.panels*t.panelB, 4*width, 4*width*(1-t.byRow)
				t.repeat(p.rows.high(t0), count)
				t.nextB, t.nextBias = 0, 0
				width *= count
			case p.LDB > 0:
				// Two tiles take the time to fetch the rows of the next columns.
				first := min(t0+2, t1)
				t.fetch = down
				t.cover(p.rows, t0, first)
				t.fetch = 0
				t.cover(p.rows, first, t1)
			default:
				t.cover(p.rows, t0, t1)
			}
			j += width
		}
	}
}
