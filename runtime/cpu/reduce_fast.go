package cpu

import (
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// foldAtOnce is the number of elements that are summed in float32. Such sums are then added in
// float64.
const foldAtOnce = 4096

// reducing is the state of a reduction of the middle axis of src, [outer, n, inner], to dst,
// [outer, inner]. The work is divided into units, which workers compute. If inner is 1, a unit is
// the n elements of one result. If `long` is true, there is only one result, and a unit is a piece
// of its elements. If inner is above 1, a unit is a group of columnsAtOnce columns.
type reducing struct {
	op       reduction
	dst, src []float32
	n, inner int
	pieces   [runPieces]float64 // pieces of dst's only element; unused unless long
	long     bool
}

var reductions slot[reducing, *reducing]

const (
	columnsAtOnce = 256
	longRun       = 1 << 16 // elements of a run that is reduced in pieces
	runPieces     = 16
)

// reduceFast reduces the middle axis of src, [outer, n, inner], with assembly. It returns false if
// there is no assembly for this.
func reduceFast(op reduction, dst, src []float32, n, inner int) bool {
	if level == Generic || n == 0 || inner != 1 && inner < 8 {
		return false
	}
	r := reducing{op: op, dst: onHeap(dst), src: onHeap(src), n: n, inner: inner}
	if len(dst) == 1 && n >= longRun && op != exponentialSums {
		reduceLong(&r)
		return true
	}
	perNS := int64(16)
	if op == exponentialSums {
		perNS = 1
	}
	if len(src) < sharedFrom || !reductions.run(&r, rt.Parts(int64(len(src))/perNS)) {
		r.Part(0, 1)
	}
	return true
}

// reduceLong reduces one long row of elements in runPieces pieces. The number of pieces does not
// depend on the number of workers, so the result does not either.
func reduceLong(r *reducing) {
	r.long = true
	// The pieces of a shared run are with the workers: they are in the slot's task.
	if reductions.taken.CompareAndSwap(false, true) {
		reductions.task = *r
		err := rt.Run(&reductions.task, min(runPieces, rt.Parts(int64(len(r.src))/16)))
		r.pieces = reductions.task.pieces
		reductions.task = reducing{}
		reductions.taken.Store(false)
		if err != nil {
			panic(err)
		}
	} else {
		r.Part(0, 1)
	}
	acc := r.op.start()
	for _, v := range r.pieces {
		acc = r.op.merge(acc, v)
	}
	r.dst[0] = float32(acc)
}

func (r *reducing) Part(i, parts int) {
	switch blocks := (r.inner + columnsAtOnce - 1) / columnsAtOnce; {
	case r.long:
		from, to := portion(runPieces, i, parts)
		for p := from; p < to; p++ {
			first, end := portion(r.n, p, runPieces)
			r.pieces[p] = reduceRun(r.op, r.src[first:end])
		}
	case r.inner == 1:
		from, to := portion(len(r.dst), i, parts)
		for o := from; o < to; o++ {
			r.dst[o] = float32(reduceRun(r.op, r.src[o*r.n:][:r.n]))
		}
	default:
		from, to := portion(len(r.dst)/r.inner*blocks, i, parts)
		for unit := from; unit < to; unit++ {
			o, first := unit/blocks, unit%blocks*columnsAtOnce
			end := min(r.inner, first+columnsAtOnce)
			reduceColumns(r.op, r.dst[o*r.inner:][first:end], r.src[o*r.n*r.inner:][first:r.n*r.inner], r.inner, r.n)
		}
	}
}

// reduceRun returns the reduction of adjacent elements.
func reduceRun(op reduction, x []float32) float64 {
	if op == exponentialSums {
		return exponentialRun(x)
	}
	acc := op.start()
	for len(x) > 0 {
		part := x[:min(len(x), foldAtOnce)]
		x = x[len(part):]
		var v float32
		switch op {
		case sums:
			v = sumRun(part)
		case squares:
			v = squaresRun(part)
		case magnitudes:
			v = magnitudesRun(part)
		case maxima:
			v = highestRun(part)
		case minima:
			v = lowestRun(part)
		}
		acc = op.merge(acc, float64(v))
	}
	return acc
}

// exponentialRun returns log(Σ exp(x)) over the elements of x.
func exponentialRun(x []float32) float64 {
	top := reduceRun(maxima, x)
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for len(x) > 0 {
		part := x[:min(len(x), foldAtOnce)]
		x = x[len(part):]
		sum += float64(expTotalRun(part, float32(top)))
	}
	return top + math.Log(sum)
}

// start returns the initial value of a reduction.
func (op reduction) start() float64 {
	switch op {
	case maxima:
		return math.Inf(-1)
	case minima:
		return math.Inf(1)
	}
	return 0
}

func (op reduction) merge(a, b float64) float64 {
	switch op {
	case maxima:
		return greater(a, b)
	case minima:
		return lesser(a, b)
	}
	return a + b
}

// rowsAtOnce is the number of elements of a column that are summed in float32. Such sums are then
// added in float64.
const rowsAtOnce = 64

// reduceColumns reduces each of the len(dst) columns of src. src has n rows, which start `stride`
// elements apart.
func reduceColumns(op reduction, dst, src []float32, stride, n int) {
	switch {
	case op == exponentialSums:
		exponentialColumns(dst, src, stride, n)
		return
	case n > rowsAtOnce && op != maxima && op != minima:
		sumColumns(op, dst, src, stride, n)
		return
	}
	Fill(dst, float32(op.start()))
	for r := 0; r < n; r += rowsAtOnce {
		op.rows(dst, src[r*stride:], stride, min(rowsAtOnce, n-r))
	}
}

// sumColumns is [reduceColumns] for sums with more than rowsAtOnce rows.
func sumColumns(op reduction, dst, src []float32, stride, n int) {
	var parts [columnsAtOnce]float32
	var totals [columnsAtOnce]float64
	part, total := parts[:len(dst)], totals[:len(dst)]
	for r := 0; r < n; r += rowsAtOnce {
		clear(part)
		op.rows(part, src[r*stride:], stride, min(rowsAtOnce, n-r))
		for i, v := range part {
			total[i] += float64(v)
		}
	}
	for i, v := range total {
		dst[i] = float32(v)
	}
}

// rows sets dst[i] to the reduction of column i of src. src has `count` rows, which start `stride`
// elements apart.
func (op reduction) rows(dst, src []float32, stride, count int) {
	switch op {
	case sums:
		sumRows(dst, src, stride, count)
	case squares:
		squaresRows(dst, src, stride, count)
	case magnitudes:
		magnitudesRows(dst, src, stride, count)
	case maxima:
		highestRows(dst, src, stride, count)
	case minima:
		lowestRows(dst, src, stride, count)
	}
}

// exponentialColumns computes log(Σ exp(x)) over each column of src, and stores the results in dst.
// src has n rows. The starts of adjacent rows are `stride` elements apart.
func exponentialColumns(dst, src []float32, stride, n int) {
	const rows = 32
	var tops, exps, parts [columnsAtOnce]float32
	var totals [columnsAtOnce]float64
	top, exp, part, total := tops[:len(dst)], exps[:len(dst)], parts[:len(dst)], totals[:len(dst)]
	reduceColumns(maxima, top, src, stride, n)
	for i, v := range top {
		if math.IsInf(float64(v), 0) {
			top[i] = 0 // so that infinities do not cancel
		}
	}
	for r := range n {
		subFast(exp, src[r*stride:][:len(dst)], top)
		expFast(exp, exp)
		addFast(part, part, exp)
		if r%rows == rows-1 || r == n-1 {
			moveTo(total, part)
		}
	}
	for i, v := range total {
		dst[i] = float32(float64(top[i]) + math.Log(v))
	}
}

type searching struct {
	op       reduction // maxima or minima
	dst      []int64
	src      []float32
	n, inner int
	last     bool
}

var searches slot[searching, *searching]

// searchFast finds the indices of the extremes along the middle axis of src, [outer, n, inner],
// with assembly. It returns false if there is no assembly for these sizes.
func searchFast(op reduction, dst []int64, src []float32, n, inner int, last bool) bool {
	if level == Generic || n == 0 || inner != 1 && inner < 8 {
		return false
	}
	s := searching{op: op, dst: onHeap(dst), src: onHeap(src), n: n, inner: inner, last: last}
	if len(src) < sharedFrom || !searches.run(&s, rt.Parts(int64(len(src))/4)) {
		s.Part(0, 1)
	}
	return true
}

func (s *searching) Part(i, parts int) {
	if s.inner == 1 {
		from, to := portion(len(s.dst), i, parts)
		for o := from; o < to; o++ {
			s.dst[o] = int64(s.place(s.src[o*s.n:][:s.n]))
		}
		return
	}
	blocks := (s.inner + columnsAtOnce - 1) / columnsAtOnce
	from, to := portion(len(s.dst)/s.inner*blocks, i, parts)
	for unit := from; unit < to; unit++ {
		o, first := unit/blocks, unit%blocks*columnsAtOnce
		end := min(s.inner, first+columnsAtOnce)
		s.columns(s.dst[o*s.inner:][first:end], s.src[o*s.n*s.inner:][first:s.n*s.inner])
	}
}

// place returns the index of the extreme of a run.
func (s *searching) place(x []float32) int {
	top := float32(reduceRun(s.op, x))
	found := func(v float32) bool { return v == top || top != top && v != v }
	if s.last {
		for i := len(x) - 1; i > 0; i-- {
			if found(x[i]) {
				return i
			}
		}
		return 0
	}
	for i, v := range x {
		if found(v) {
			return i
		}
	}
	return 0
}

// columns finds the extreme of each column of x, and stores its index in dst. The rows of x are
// `inner` elements apart.
func (s *searching) columns(dst []int64, x []float32) {
	var tops [columnsAtOnce]float32
	top := tops[:len(dst)]
	reduceColumns(s.op, top, x, s.inner, s.n)
	nan := false
	for _, v := range top {
		nan = nan || v != v
	}
	for r := range s.n {
		at := r
		if !s.last { // indices found later are then smaller
			at = s.n - 1 - r
		}
		row := x[at*s.inner:][:len(dst)]
		for i, v := range row {
			if v == top[i] {
				dst[i] = int64(at)
			}
		}
		if !nan {
			continue
		}
		for i, v := range row {
			if v != v {
				dst[i] = int64(at)
			}
		}
	}
}

// nothingBeyond reports whether each element of x is at most v. If `below` is true, it reports
// whether each element is at least v. At level Generic it always returns false.
func nothingBeyond(x []float32, v float32, below bool) bool {
	if level == Generic {
		return false
	}
	if below {
		return lowestRun(x) >= v
	}
	return highestRun(x) <= v
}
