package main

func poolGrads(f *file) {
	numbers := f.floats("poolGradNumbers", 1)
	for _, s := range f.sets() {
		f.fun("poolGrad"+s.name+` finds, for each channel j, the first greatest x[i][j] of a window of rows·columns cells,
or the first NaN, and adds grad[j] to dst[i][j]. below and beside are the distances in bytes from a cell
to the next one down and to the right.`,
			"poolGrad"+s.name, "dst, x, grad *float32, rows, columns, below, beside int", "")
		for i := range s.perTile {
			k := &vectors{file: f, isa: s, interleaved: 1}
			f.load("dst", "DI", "x", "SI", "grad", "R9", "rows", "CX", "below", "BX", "beside", "R10")
			if i > 0 {
				for _, p := range []string{"DI", "SI", "R9"} {
					f.op("ADDQ", i*s.bytes, p)
				}
			}
			grad, most, best, count, one := k.temp(), k.temp(), k.temp(), k.temp(), k.temp()
			x, larger, place := k.temp(), k.temp(), k.temp()
			// cells runs body for the window's cells, from a position on.
			cells := func(from string, body func()) {
				k.do(s.clear, count, count, count)
				f.loop("CX", func() {
					f.op("MOVQ", from, "R8")
					f.op("MOVQ", f.arg("columns"), "DX")
					f.loop("DX", func() {
						body()
						k.do("VADDPS", one, count, count)
						f.op("ADDQ", "R10", "R8")
					})
					f.op("ADDQ", "BX", from)
				})
			}
			f.op("VBROADCASTSS", numbers, k.register(one, 0))
			k.fetch(grad, "R9")
			k.fetch(most, "SI")
			k.do(s.clear, best, best, best)
			cells("SI", func() {
				k.fetch(x, "R8")
				for _, change := range []struct{ now, of, to value }{{best, count, place}, {most, x, larger}} {
					k.choose(k.compare(greater, x, most), change.of, change.now, change.to)
					k.choose(k.compare(unordered, x, x), change.of, change.to, change.to)
					k.choose(k.compare(unordered, most, most), change.now, change.to, change.to)
				}
				k.do("VMOVAPS", place, best)
				k.do("VMOVAPS", larger, most)
			})
			f.op("MOVQ", f.arg("rows"), "CX")
			cells("DI", func() {
				k.only(k.compare(equal, best, count), grad, place)
				k.fetch(x, "R8")
				k.do("VADDPS", place, x, x)
				k.store(x, "R8")
			})
		}
		f.ret()
	}
	f.dispatch(dispatch{
		doc:      "poolGradWindow is poolGradWindowRef in assembly.",
		function: "poolGradWindow(dst, x []float32, g *[16]float32, rows, columns, below, beside int)",
		kernels:  only("poolGrad"), args: "&dst[0], &x[0], &g[0], rows, columns, 4*below, 4*beside",
		otherwise: "poolGradWindowRef(dst, x, g, rows, columns, below, beside)",
	})
}
