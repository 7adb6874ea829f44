package main

import (
	"fmt"
	"math"
	"strings"
)

// fold is a kernel that reduces a run of elements, or the columns of a matrix, with
// an accumulator per lane.
type fold struct {
	name     string
	doc      string // what is reduced
	scalars  []string
	step     func(k *vectors, acc, x value) // takes x into acc; may change x
	merge    func(k *vectors, acc value, other any)
	start    func(k *vectors) string // what a reduction starts with, as an operand
	fill     func(k *vectors) string // register of an element that changes nothing
	output   bool                    // x goes to dst after the step
	byColumn bool                    // there is a kernel for columns, too
}

// foldFamily writes the reductions.
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
		r.dispatch(f)
	}
	t.write(f)
}

func zeros(k *vectors) string { return k.c(0) }

// noElement is zeros in a register.
func noElement(k *vectors) string { return k.pin(0) }

func addTo(k *vectors, acc value, x any) { k.do("VADDPS", x, acc, acc) }

var folds = []fold{
	{
		name: "sum", doc: "x[i]", merge: addTo, start: zeros, fill: noElement, byColumn: true,
		step: func(k *vectors, acc, x value) { addTo(k, acc, x) },
	},
	{
		name: "squares", doc: "x[i]²", merge: addTo, start: zeros, fill: noElement, byColumn: true,
		step: func(k *vectors, acc, x value) { k.do("VFMADD231PS", x, x, acc) },
	},
	{
		name: "magnitudes", doc: "|x[i]|", merge: addTo, start: zeros, fill: noElement, byColumn: true,
		step: func(k *vectors, acc, x value) {
			k.do("VANDPS", k.word(magnitude), x, x)
			addTo(k, acc, x)
		},
	},
	{
		name: "deviation", doc: "(x[i] − mean)²", scalars: []string{"mean"}, merge: addTo, start: zeros,
		fill: func(k *vectors) string { return k.scalars[0] },
		step: func(k *vectors, acc, x value) {
			k.do("VSUBPS", k.scalars[0], x, x)
			k.do("VFMADD231PS", x, x, acc)
		},
	},
	extreme("highest", "VMAXPS", math.Inf(-1)),
	extreme("lowest", "VMINPS", math.Inf(1)),
	exponential("expSum", "dst[i] = exp(x[i] − top)", true),
	exponential("expTotal", "exp(x[i] − top)", false),
}

// extreme is the greatest or the least element, or NaN.
func extreme(name, instruction string, neutral float64) fold {
	merge := extremum(instruction)
	start := func(k *vectors) string { return k.pin(neutral) }
	return fold{
		name: name, doc: name, merge: merge, start: start, fill: start, byColumn: true,
		step: func(k *vectors, acc, x value) { merge(k, acc, x) },
	}
}

// exponential sums exponentials of what is not positive, those that are subnormal
// taken for zero.
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

// kernel is the step as a body with the accumulator and the element for inputs.
func (r *fold) kernel() *pointwise {
	return &pointwise{
		name: r.name, inputs: []string{"acc", "x"}, scalars: r.scalars,
		body: func(k *vectors) value {
			r.start(k)
			r.fill(k)
			r.step(k, k.in[0], k.in[1])
			return k.in[0]
		},
	}
}

// run writes the reduction of neighbouring elements.
func (r *fold) run(f *file, s isa, t *table) {
	params := "x *float32, n int"
	if r.output {
		params = "dst, " + params
	}
	if len(r.scalars) > 0 {
		params += ", " + strings.Join(r.scalars, ", ") + " float32"
	}
	f.fun(r.name+s.name+" reduces "+r.doc+" for i < n.", r.name+s.name, params, "result float32")
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

// mergeAll merges the vectors of many's accumulator into its first. That is value
// 0, so its first vector has the same register in k, which has single vectors.
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

// mergeLanes merges the lanes of acc; all get the result.
func (k *vectors) mergeLanes(acc value, merge func(k *vectors, acc value, other any)) {
	half := k.temp()
	for _, swap := range k.swaps() {
		swap(k, acc, half)
		merge(k, acc, half)
	}
	k.free(half)
}

// swaps exchange the halves of a vector, then those of the halves, and so on.
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

// Orders of VPERMILPS.
const (
	swapHalves     = 0x4e
	swapNeighbours = 0xb1
)

// columns writes the reduction of each column of a matrix into acc.
func (r *fold) columns(f *file, s isa, t *table) {
	f.fun(r.name+"Rows"+s.name+" takes "+r.doc+" of the elements of each of n columns into acc; stride is the distance of the rows in bytes.",
		r.name+"Rows"+s.name, "acc, x *float32, stride, rows, n int", "")
	f.load("acc", "DI", "x", "SI", "stride", "BX", "n", "CX")
	k, one := r.kernel().enter(f, s, t)
	// down walks the rows of some columns.
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

// dispatch writes the Go functions that run the kernels at the current level, which
// is not Generic.
func (r *fold) dispatch(f *file) {
	slices, starts, scalars := "x []float32", "&x[0]", ""
	if r.output {
		slices, starts = "dst, x []float32", "&dst[0], &x[0]"
	}
	for _, s := range r.scalars {
		slices += ", " + s + " float32"
		scalars += ", " + s
	}
	fmt.Fprintf(&f.decls, `
// %[1]sRun reduces %[2]s over x, which is not empty.
func %[1]sRun(%[3]s) float32 {
	var result float32
	%[4]s
	return result
}
`, r.name, r.doc, slices, f.atLevel("result = "+r.name, starts+", len(x)"+scalars))
	if !r.byColumn {
		return
	}
	fmt.Fprintf(&f.decls, `
// %[1]sRows takes %[2]s of len(acc) columns into acc; rows of x are stride apart.
func %[1]sRows(acc, x []float32, stride, rows int) {
	_ = x[(rows-1)*stride+len(acc)-1]
	%[3]s
}
`, r.name, r.doc, f.atLevel(r.name+"Rows", "&acc[0], &x[0], 4*stride, rows, len(acc)"))
}
