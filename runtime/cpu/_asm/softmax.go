package main

import "math"

// softmaxFamily writes two kernels: the softmax of whole rows, and a step of the online softmax of
// attention.
func softmaxFamily(f *file) {
	t := &table{name: "softmaxConstants"}
	indices(f)
	for _, s := range f.sets() {
		softmaxRows(f, s, t)
		attendRows(f, s, t)
	}
	f.dispatch(dispatch{
		doc:      "softmaxRows computes the softmax of rows of n elements, both at least 1, at a level\nthat is not Generic.",
		function: "softmaxRows(dst, x []float32, rows, n int)",
		kernels:  only("softmaxRows"), args: "&dst[0], &x[0], rows, n",
	})
	f.dispatch(dispatch{
		doc:      "attendRows is attendRowsRef in assembly.",
		function: "attendRows(x []float32, rows, n, stride int, tops, sums, factors []float32)",
		before:   "_, _, _, _ = x[(rows-1)*stride+n-1], tops[rows-1], sums[rows-1], factors[rows-1]",
		kernels:  only("attendRows"), args: "&x[0], rows, n, 4*stride, &tops[0], &sums[0], &factors[0]",
		otherwise: "attendRowsRef(x, rows, n, stride, tops, sums, factors)",
	})
	t.write(f)
}

// softmax writes the code of passes over a row of R11 elements. SI and DI advance along the row. k
// writes instructions for interleaved vectors, and `one` for single vectors.
type softmax struct {
	k, one *vectors
	fold   fold
}

func enterSoftmax(f *file, s isa, t *table) softmax {
	m := softmax{fold: exponential("", "", true)}
	m.k, m.one = m.fold.kernel().enter(f, s, t)
	return m
}

// top returns a register. All its lanes hold the number that is subtracted from each element.
func (m softmax) top() string   { return m.k.scalars[0] }
func (m softmax) acc() value    { return m.one.in[0] }
func (m softmax) x() value      { return m.one.in[1] }
func (m softmax) least() string { return m.k.pin(math.Inf(-1)) }
func (m softmax) load(from string) {
	m.one.loadTailOr(m.one.isa, at(from, 0), m.least(), m.one.register(m.x(), 0))
}

func greatest(k *vectors, acc value, other any) { k.do("VMAXPS", other, acc, acc) }

// highest sets all lanes of acc to the greatest element of the row at SI. It may miss a NaN.
func (m softmax) highest() {
	k, one := m.k, m.one
	k.op("MOVQ", "R11", "CX")
	k.do("VMOVAPS", m.least(), k.in[0])
	k.sweep(k, []string{"SI"}, func() {
		k.fetch(k.in[1], "SI")
		greatest(k, k.in[0], k.in[1])
	}, func() {
		one.mergeAll(k, m.acc(), greatest)
	}, func() {
		m.load("SI")
		greatest(one, m.acc(), m.x())
	})
	one.mergeLanes(m.acc(), greatest)
}

// exponentials writes one pass over a row. The code reads each element x at SI and stores exp(x −
// top) at DI. All lanes of acc get the sum of the exponentials, which is NaN if an element is NaN.
func (m softmax) exponentials() {
	k, one := m.k, m.one
	k.op("MOVQ", "R11", "CX")
	k.do("VMOVAPS", m.fold.start(k), k.in[0])
	k.sweep(k, []string{"SI", "DI"}, func() {
		k.fetch(k.in[1], "SI")
		m.fold.step(k, k.in[0], k.in[1])
		k.store(k.in[1], "DI")
	}, func() {
		one.mergeAll(k, m.acc(), addTo)
	}, func() {
		m.load("SI")
		m.fold.step(one, m.acc(), m.x())
		one.storeTail(one.isa, one.register(m.x(), 0), at("DI", 0))
	})
	one.mergeLanes(m.acc(), addTo)
}

// softmaxRows writes the softmax of rows, with three passes over each row. The first pass finds the
// largest element. The second computes the exponentials and their sum. The third divides by the
// sum. R8 and R9 point to a row of dst and of x, and R10 counts rows.
func softmaxRows(f *file, s isa, t *table) {
	f.fun("softmaxRows"+s.name+" computes the softmax of rows of n elements, both at least 1.",
		"softmaxRows"+s.name, "dst, x *float32, rows, n int", "")
	f.load("dst", "R8", "x", "R9", "rows", "R10", "n", "R11")
	m := enterSoftmax(f, s, t)
	k, one := m.k, m.one

	row := f.fresh("row")
	f.mark(row)
	f.op("MOVQ", "R9", "SI")
	m.highest()
	one.do("VMOVAPS", m.acc(), m.top())

	f.op("MOVQ", "R9", "SI")
	f.op("MOVQ", "R8", "DI")
	m.exponentials()
	one.do("VMOVAPS", one.c(1), m.x())
	factor := m.top()
	one.do("VDIVPS", m.acc(), m.x(), factor)

	f.op("MOVQ", "R8", "DI")
	f.op("MOVQ", "R11", "CX")
	f.sweep(k, []string{"DI"}, func() {
		k.fetch(k.in[1], "DI")
		k.do("VMULPS", factor, k.in[1], k.in[1])
		k.store(k.in[1], "DI")
	}, nil, func() {
		m.load("DI")
		one.do("VMULPS", factor, m.x(), m.x())
		f.storeTail(s, one.register(m.x(), 0), at("DI", 0))
	})
	f.op("LEAQ", "(R8)(R11*4)", "R8")
	f.op("LEAQ", "(R9)(R11*4)", "R9")
	f.op("DECQ", "R10")
	f.op("JNZ", row)
	f.ret()
}

// attendRows writes a step of an online softmax, in place; see attendRowsRef. It passes over each
// row twice. R8 points to the row, R9 is the distance between rows, and R10 counts rows. R12, R13
// and BX point to the row's maximum, sum and factor.
func attendRows(f *file, s isa, t *table) {
	f.fun("attendRows"+s.name+" computes what attendRowsRef does; stride is in bytes.",
		"attendRows"+s.name, "x *float32, rows, n, stride int, tops, sums, factors *float32", "")
	f.load("x", "R8", "rows", "R10", "n", "R11", "stride", "R9", "tops", "R12", "sums", "R13", "factors", "BX")
	m := enterSoftmax(f, s, t)
	one, acc, x := m.one, m.acc(), m.x()

	row := f.fresh("row")
	f.mark(row)
	f.op("MOVQ", "R8", "SI")
	m.highest()
	one.do("VBROADCASTSS", at("R12", 0), x)
	greatest(one, acc, x)
	one.do("VMOVAPS", acc, m.top())
	f.op("VMOVSS", "X0", at("R12", 0))
	one.do("VSUBPS", m.top(), x, x)
	one.expOrZero(x)
	f.op("VMOVSS", "X1", at("BX", 0))

	f.op("MOVQ", "R8", "SI")
	f.op("MOVQ", "R8", "DI")
	m.exponentials()
	one.do("VBROADCASTSS", at("R13", 0), x)
	factor := one.temp()
	one.do("VBROADCASTSS", at("BX", 0), factor)
	one.do("VFMADD231PS", factor, x, acc)
	one.free(factor)
	f.op("VMOVSS", "X0", at("R13", 0))

	f.op("ADDQ", "R9", "R8")
	for _, p := range []string{"R12", "R13", "BX"} {
		f.op("ADDQ", 4, p)
	}
	f.op("DECQ", "R10")
	f.op("JNZ", row)
	f.ret()
}
