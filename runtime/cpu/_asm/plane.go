package main

import "math"

func planeFamily(f *file) {
	t := &table{name: "planeConstants"}
	indices(f)
	for _, s := range isas {
		planeWindows(f, s, t, "Sum", "scale[x]·Σ", 0, addTo)
		planeWindows(f, s, t, "Most", "max", math.Inf(-1), extremum("VMAXPS"))
		splitPairs(f, s)
	}
	f.words("evens", 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
	f.words("odds", 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
	t.write(f)
	f.has("Plane")
	f.dispatch(dispatch{
		doc: `runPlane computes n elements of rows of a pool; count taps and the distances of rows are in bytes.
	dst[y][x] = scale[x]·Σ src[y][x + taps[…]], or the largest of them`,
		function: "runPlane(op windowOp, dst, src, scale *float32, taps *int, count, rows, n, dstRow, srcRow int)", by: "op",
		kernels: []kernel{{when: "largest", name: "planeMost"}, {name: "planeSum"}},
		args:    "dst, src, scale, taps, count, rows, n, dstRow, srcRow",
	})
	f.dispatch(dispatch{
		doc:      "pairsOf separates n times 16 pairs: even[i], odd[i] = src[2·i], src[2·i+1].",
		function: "pairsOf(even, odd, src []float32, n int)",
		kernels:  only("splitPairs"), args: "&even[0], &odd[0], &src[0], n", otherwise: "pairsOfRef(even, odd, src[:32*n])",
	})
}

// planeWindows writes a pool over rows of a plane. All windows have the same taps, which are
// offsets from the position of the element. For each element, acc starts as `neutral`, and `step`
// combines it with the input x at each tap. The kernel for sums multiplies each sum by an element
// of scale. DI, SI and R8 point into a row of dst, src and scale. R12 and R13 point to the starts
// of the rows of dst and src.
func planeWindows(f *file, s isa, t *table, name, doc string, neutral float64, step func(k *vectors, acc value, x any)) {
	f.fun("plane"+name+s.name+` pools windows of count taps, for n elements in each of several rows. taps are offsets
in bytes, and dstRow and srcRow are the distances between rows in bytes.
	dst[y][x] = `+doc+` src[y][x + taps[…]]`,
		"plane"+name+s.name, "dst, src, scale *float32, taps *int, count, rows, n, dstRow, srcRow int", "")
	f.load("dst", "R12", "src", "R13", "taps", "R9", "count", "R10", "rows", "BX")
	k := &vectors{file: f, isa: s, interleaved: 2, table: t}
	one := &vectors{file: f, isa: s, interleaved: 1, table: t}
	acc, x := k.temp(), k.temp()
	one.temp()
	one.temp()
	taps := func(k *vectors, load func(from string, vector int)) {
		k.do("VMOVUPS", k.c(neutral), acc)
		f.op("XORL", "R11", "R11")
		top := f.fresh("tap")
		f.mark(top)
		f.op("MOVQ", indexed("R9", 0, "R11", 8), "DX")
		for vector := range k.interleaved {
			load(indexed("SI", vector*s.bytes, "DX", 1), vector)
		}
		step(k, acc, x)
		f.op("INCQ", "R11")
		f.op("CMPQ", "R11", "R10")
		f.op("JLT", top)
	}
	row := f.fresh("row")
	f.mark(row)
	f.load("scale", "R8", "n", "CX")
	f.op("MOVQ", "R12", "DI")
	f.op("MOVQ", "R13", "SI")
	f.sweep(k, []string{"DI", "SI", "R8"}, func() {
		taps(k, func(from string, vector int) { f.op("VMOVUPS", from, k.register(x, vector)) })
		if name == "Sum" {
			k.fetch(x, "R8")
			k.do("VMULPS", x, acc, acc)
		}
		k.store(acc, "DI")
	}, nil, func() {
		taps(one, func(from string, vector int) { f.loadTail(s, from, one.register(x, 0)) })
		if name == "Sum" {
			f.loadTail(s, "(R8)", one.register(x, 0))
			one.do("VMULPS", x, acc, acc)
		}
		f.storeTail(s, one.register(acc, 0), "(DI)")
	})
	f.op("ADDQ", f.arg("dstRow"), "R12")
	f.op("ADDQ", f.arg("srcRow"), "R13")
	f.op("DECQ", "BX")
	f.op("JNZ", row)
	f.ret()
}

func splitPairs(f *file, s isa) {
	f.fun("splitPairs"+s.name+` does n times 32 elements.
	even[i], odd[i] = src[2·i], src[2·i + 1]`,
		"splitPairs"+s.name, "even, odd, src *float32, n int", "")
	f.load("even", "DI", "odd", "R8", "src", "SI", "n", "CX")
	if s.wide() {
		f.op("VMOVDQU32", "evens<>(SB)", z(4))
		f.op("VMOVDQU32", "odds<>(SB)", z(5))
	}
	f.loop("CX", func() {
		if s.wide() {
			f.op("VMOVUPS", at("SI", 0), z(0))
			f.op("VMOVUPS", at("SI", 64), z(1))
			f.op("VMOVAPS", z(0), z(2))
			f.op("VPERMT2PS", z(1), z(4), z(0))
			f.op("VPERMT2PS", z(1), z(5), z(2))
			f.op("VMOVUPS", z(0), at("DI", 0))
			f.op("VMOVUPS", z(2), at("R8", 0))
		} else {
			for half := range 2 {
				f.op("VMOVUPS", at("SI", 64*half), y(0))
				f.op("VMOVUPS", at("SI", 64*half+32), y(1))
				for i, to := range []string{"DI", "R8"} {
					f.op("VSHUFPS", []int{0x88, 0xdd}[i], y(1), y(0), y(2))
					f.op("VPERMPD", 0xd8, y(2), y(2))
					f.op("VMOVUPS", y(2), at(to, 32*half))
				}
			}
		}
		f.op("ADDQ", 128, "SI")
		f.op("ADDQ", 64, "DI")
		f.op("ADDQ", 64, "R8")
	})
	f.ret()
}
