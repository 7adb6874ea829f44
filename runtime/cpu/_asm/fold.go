package main

import (
	"math"
	"strings"
)

// fold is a kernel that reduces consecutive elements, or the columns of a matrix. It has one
// accumulator per lane.
type fold struct {
	name     string
	doc      string // comment that says what is reduced
	scalars  []string
	step     func(k *vectors, acc, x value) // adds x to acc; it may change x
	merge    func(k *vectors, acc value, other any)
	start    func(k *vectors) string // operand of the initial value of the accumulator
	fill     func(k *vectors) string // register of the neutral element
	output   bool                    // whether x is stored to dst after the step
	byColumn bool                    // whether there is also a kernel for columns
}

func foldFamily(f *file) {
	t := &table{name: "foldConstants"}
	indices(f)
	for _, r := range folds {
		for _, s := range f.sets() {
			r.run(f, s, t)
			if r.byColumn {
				r.columns(f, s, t)
			}
		}
		r.choose(f)
	}
	t.write(f)
}

func zeros(k *vectors) string { return k.c(0) }

func noElement(k *vectors) string { return k.pin(0) }

func addTo(k *vectors, acc value, x any) { k.do("VADDPS", x, acc, acc) }

var folds = []fold{
	{
		name: "sum", doc: "the sum of x[i]", merge: addTo, start: zeros, fill: noElement, byColumn: true,
		step: func(k *vectors, acc, x value) { addTo(k, acc, x) },
	},
	{
		name: "squares", doc: "the sum of x[i]²", merge: addTo, start: zeros, fill: noElement, byColumn: true,
		step: func(k *vectors, acc, x value) { k.do("VFMADD231PS", x, x, acc) },
	},
	{
		name: "magnitudes", doc: "the sum of |x[i]|", merge: addTo, start: zeros, fill: noElement, byColumn: true,
		step: func(k *vectors, acc, x value) {
			k.do("VANDPS", k.word(magnitude), x, x)
			addTo(k, acc, x)
		},
	},
	{
		name: "deviation", doc: "the sum of (x[i] − mean)²", scalars: []string{"mean"}, merge: addTo, start: zeros,
		fill: func(k *vectors) string { return k.scalars[0] },
		step: func(k *vectors, acc, x value) {
			k.do("VSUBPS", k.scalars[0], x, x)
			k.do("VFMADD231PS", x, x, acc)
		},
	},
	extreme("highest", "the maximum of x[i]", "VMAXPS", math.Inf(-1)),
	extreme("lowest", "the minimum of x[i]", "VMINPS", math.Inf(1)),
	exponential("expSum", "dst[i] = exp(x[i] − top) and their sum", true),
	exponential("expTotal", "the sum of exp(x[i] − top)", false),
}

// extreme returns the reduction to the greatest or the least element. Its result is NaN if an
// element is NaN.
func extreme(name, doc, instruction string, neutral float64) fold {
	merge := extremum(instruction)
	start := func(k *vectors) string { return k.pin(neutral) }
	return fold{
		name: name, doc: doc, merge: merge, start: start, fill: start, byColumn: true,
		step: func(k *vectors, acc, x value) { merge(k, acc, x) },
	}
}

// exponential returns the reduction that sums exp(x − top) over elements x. `top` is a scalar of
// the kernel, and no element is above it. A subnormal exponential counts as zero. If output is
// true, the kernel also stores the exponentials.
func exponential(name, doc string, output bool) fold {
	return fold{
		name: name, doc: doc, scalars: []string{"top"}, merge: addTo, start: zeros, output: output,
		fill: func(k *vectors) string { return k.pin(math.Inf(-1)) },
		step: func(k *vectors, acc, x value) {
			k.do("VSUBPS", k.scalars[0], x, x)
			k.expOrZero(x)
			addTo(k, acc, x)
		},
	}
}

// kernel returns a pointwise kernel that does r.step. Its inputs are the accumulator and the
// element.
func (r *fold) kernel() *pointwise {
	return &pointwise{
		name: r.name, inputs: []string{"acc", "x"}, scalars: r.scalars, sums: true,
		body: func(k *vectors) value {
			r.start(k)
			r.fill(k)
			r.step(k, k.in[0], k.in[1])
			return k.in[0]
		},
	}
}

func (r *fold) run(f *file, s isa, t *table) {
	params := "x *float32, n int"
	if r.output {
		params = "dst, " + params
	}
	if len(r.scalars) > 0 {
		params += ", " + strings.Join(r.scalars, ", ") + " float32"
	}
	f.fun(r.name+s.name+" computes "+r.doc+" for i < n.", r.name+s.name, params, "result float32")
	f.load("x", "SI", "n", "CX")
	if r.output {
		f.load("dst", "DI")
	}
	p := r.kernel()
	k, one := p.enter(f, s, t)
	acc, x := k.in[0], k.in[1]
	pointers := []string{"SI"}
	if r.output {
		pointers = append(pointers, "DI")
	}
	k.do("VMOVAPS", r.start(k), acc)
	f.sweep(k, pointers, func() {
		k.fetch(x, "SI")
		r.step(k, acc, x)
		if r.output {
			k.store(x, "DI")
		}
	}, func() {
		one.mergeAll(k, acc, r.merge)
	}, func() {
		f.loadTailOr(s, at("SI", 0), r.fill(one), one.register(x, 0))
		r.step(one, acc, x)
		if r.output {
			f.storeTail(s, one.register(x, 0), at("DI", 0))
		}
	})
	one.mergeLanes(acc, r.merge)
	f.op("VMOVSS", "X0", f.arg("result"))
	f.ret()
}

// mergeAll writes the code that merges the interleaved vectors of acc into the first of them.
// `many` is the writer for interleaved vectors that acc belongs to, and k the writer for single
// vectors. merge(k, acc, other) writes the code that merges the vector `other` into acc. acc must
// be value 0, because the first vector of value 0 has the same register in both writers.
func (k *vectors) mergeAll(many *vectors, acc value, merge func(k *vectors, acc value, other any)) {
	var held []value
	for len(k.inUse) < many.interleaved {
		held = append(held, k.temp())
	}
	for vector := 1; vector < many.interleaved; vector++ {
		merge(k, acc, many.register(acc, vector))
	}
	k.free(held...)
}

// mergeLanes merges the lanes of acc. All lanes get the result.
func (k *vectors) mergeLanes(acc value, merge func(k *vectors, acc value, other any)) {
	half := k.temp()
	for _, swap := range k.swaps() {
		swap(k, acc, half)
		merge(k, acc, half)
	}
	k.free(half)
}

// swaps returns the steps that bring together all lanes of a vector. The first step exchanges the
// halves of the vector, the second step the halves of each half, and so on.
func (s isa) swaps() []func(k *vectors, from, to value) {
	within := func(order int) func(k *vectors, from, to value) {
		return func(k *vectors, from, to value) { k.do("VPERMILPS", order, from, to) }
	}
	across := func(instruction string, order int) func(k *vectors, from, to value) {
		return func(k *vectors, from, to value) { k.do(instruction, order, from, from, to) }
	}
	swaps := []func(k *vectors, from, to value){within(swapHalves), within(swapNeighbours)}
	switch s.bytes {
	case 64:
		return append([]func(k *vectors, from, to value){across("VSHUFF64X2", 0x4e), across("VSHUFF64X2", 0xb1)}, swaps...)
	case 32:
		return append([]func(k *vectors, from, to value){across("VPERM2F128", 1)}, swaps...)
	}
	return swaps
}

// Immediates of VPERMILPS.
const (
	swapHalves     = 0x4e
	swapNeighbours = 0xb1
)

// columns writes the reduction of each column of a matrix into acc.
func (r *fold) columns(f *file, s isa, t *table) {
	f.fun(r.name+"Rows"+s.name+" computes "+r.doc+" of each of n columns, and merges it into acc. The rows are stride\nbytes apart.",
		r.name+"Rows"+s.name, "acc, x *float32, stride, rows, n int", "")
	f.load("acc", "DI", "x", "SI", "stride", "BX", "n", "CX")
	k, one := r.kernel().enter(f, s, t)
	// down runs body for the rows of some columns.
	down := func(body func()) {
		f.op("MOVQ", "SI", "R8")
		f.op("MOVQ", f.arg("rows"), "DX")
		f.loop("DX", func() {
			body()
			f.op("ADDQ", "BX", "R8")
		})
	}
	f.sweep(k, []string{"SI", "DI"}, func() {
		k.fetch(k.in[0], "DI")
		down(func() {
			k.fetch(k.in[1], "R8")
			r.step(k, k.in[0], k.in[1])
		})
		k.store(k.in[0], "DI")
	}, nil, func() {
		acc, x := one.register(one.in[0], 0), one.register(one.in[1], 0)
		f.loadTail(s, at("DI", 0), acc)
		down(func() {
			f.loadTail(s, at("R8", 0), x)
			r.step(one, one.in[0], one.in[1])
		})
		f.storeTail(s, acc, at("DI", 0))
	})
	f.ret()
}

// choose writes the Go functions that call the kernels for the current level. The Go functions must
// not be called at level Generic.
func (r *fold) choose(f *file) {
	slices, starts, scalars := "x []float32", "&x[0]", ""
	if r.output {
		slices, starts = "dst, x []float32", "&dst[0], &x[0]"
	}
	for _, s := range r.scalars {
		slices += ", " + s + " float32"
		scalars += ", " + s
	}
	f.dispatch(dispatch{
		doc:      r.name + "Run computes " + r.doc + " over x, which is not empty.",
		function: r.name + "Run(" + slices + ")", result: "float32",
		kernels: only(r.name), args: starts + ", len(x)" + scalars,
	})
	if !r.byColumn {
		return
	}
	f.dispatch(dispatch{
		doc:      r.name + "Rows computes " + r.doc + " of each of len(acc) columns, and merges it into acc. The rows of x are\nstride elements apart.",
		function: r.name + "Rows(acc, x []float32, stride, rows int)",
		before:   "_ = x[(rows-1)*stride+len(acc)-1]",
		kernels:  only(r.name + "Rows"), args: "&acc[0], &x[0], 4*stride, rows, len(acc)",
	})
}
