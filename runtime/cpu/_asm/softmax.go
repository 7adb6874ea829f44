package main

import "math"

// softmaxFamily writes the softmax of rows.
func softmaxFamily(f *file) {
	t := &table{name: "softmaxConstants"}
	indices(f)
	for _, s := range isas {
		softmaxRows(f, s, t)
	}
	t.write(f)
}

// softmaxRows passes over a row three times: for the greatest element, for the
// exponentials and their sum, and to scale them. The greatest may miss a NaN, but
// the sum does not. R8 and R9 are a row of dst and x, R10 counts rows, and R11 is
// their length.
func softmaxRows(f *file, s isa, t *table) {
	f.fun("softmaxRows"+s.name+" computes the softmax of rows of n elements, both at least 1.",
		"softmaxRows"+s.name, "dst, x *float32, rows, n int", "")
	f.load("dst", "R8", "x", "R9", "rows", "R10", "n", "R11")
	step := exponential("", "", true)
	k, one := step.kernel().enter(f, s, t)
	acc, x := one.in[0], one.in[1]
	top, least := k.scalars[0], k.pin(math.Inf(-1))
	load := func(from string) {
		f.loadTailOr(s, at(from, 0), least, one.register(x, 0))
	}

	row := f.fresh("row")
	f.mark(row)
	f.op("MOVQ", "R9", "SI")
	f.op("MOVQ", "R11", "CX")
	k.do("VMOVAPS", least, k.in[0])
	greatest := func(k *vectors, acc value, other any) { k.do("VMAXPS", other, acc, acc) }
	f.sweep(k, []string{"SI"}, func() {
		k.fetch(k.in[1], "SI")
		greatest(k, k.in[0], k.in[1])
	}, func() {
		one.mergeAll(k, acc, greatest)
	}, func() {
		load("SI")
		greatest(one, acc, x)
	})
	one.mergeLanes(acc, greatest)
	one.do("VMOVAPS", acc, top)

	f.op("MOVQ", "R9", "SI")
	f.op("MOVQ", "R8", "DI")
	f.op("MOVQ", "R11", "CX")
	k.do("VMOVAPS", step.start(k), k.in[0])
	f.sweep(k, []string{"SI", "DI"}, func() {
		k.fetch(k.in[1], "SI")
		step.step(k, k.in[0], k.in[1])
		k.store(k.in[1], "DI")
	}, func() {
		one.mergeAll(k, acc, addTo)
	}, func() {
		load("SI")
		step.step(one, acc, x)
		f.storeTail(s, one.register(x, 0), at("DI", 0))
	})
	one.mergeLanes(acc, addTo)
	one.do("VMOVAPS", one.c(1), x)
	factor := top
	one.do("VDIVPS", acc, x, factor)

	f.op("MOVQ", "R8", "DI")
	f.op("MOVQ", "R11", "CX")
	f.sweep(k, []string{"DI"}, func() {
		k.fetch(k.in[1], "DI")
		k.do("VMULPS", factor, k.in[1], k.in[1])
		k.store(k.in[1], "DI")
	}, nil, func() {
		load("DI")
		one.do("VMULPS", factor, x, x)
		f.storeTail(s, one.register(x, 0), at("DI", 0))
	})
	f.op("LEAQ", "(R8)(R11*4)", "R8")
	f.op("LEAQ", "(R9)(R11*4)", "R9")
	f.op("DECQ", "R10")
	f.op("JNZ", row)
	f.ret()
}
