package main

// channels writes the kernels for blocks of 16 channels. They sum over the pixels of each channel, or
// combine two tensors with factors for each channel.
func channels(f *file) {
	for _, s := range f.sets() {
		v := s.perTile
		of := func(which int) func(i int) string { return func(i int) string { return s.reg(which*v + i) } }
		load := func(from string, to func(i int) string) {
			for i := range v {
				f.op("VMOVUPS", at(from, i*s.bytes), to(i))
			}
		}
		store := func(from func(i int) string, to string, offset int) {
			for i := range v {
				f.op("VMOVUPS", from(i), at(to, offset+i*s.bytes))
			}
		}
		next := func(pointers ...string) {
			for _, p := range pointers {
				f.op("ADDQ", 64, p)
			}
		}

		f.fun("channelSums"+s.name+` writes sums over n pixels.
	sums[j] = Σ grad[i][j]
	sums[16+j] = Σ grad[i][j]·(x[i][j] − mean[j])`,
			"channelSums"+s.name, "sums, grad, x, mean *float32, n int", "")
		f.load("sums", "DI", "grad", "SI", "x", "R8", "mean", "R9", "n", "CX")
		plain, product, mean, g, x := of(0), of(1), of(2), of(3), of(4)
		for i := range v {
			f.op(s.clear, plain(i), plain(i), plain(i))
			f.op(s.clear, product(i), product(i), product(i))
		}
		load("R9", mean)
		f.loop("CX", func() {
			load("SI", g)
			load("R8", x)
			for i := range v {
				f.op("VADDPS", g(i), plain(i), plain(i))
				f.op("VSUBPS", mean(i), x(i), x(i))
				f.op("VFMADD231PS", g(i), x(i), product(i))
			}
			next("SI", "R8")
		})
		store(plain, "DI", 0)
		store(product, "DI", 64)
		f.ret()

		f.fun("channelSquares"+s.name+` writes sums over n pixels.
	sums[j] = Σ (x[i][j] − mean[j])²`,
			"channelSquares"+s.name, "sums, x, mean *float32, n int", "")
		f.load("sums", "DI", "x", "R8", "mean", "R9", "n", "CX")
		for i := range v {
			f.op(s.clear, plain(i), plain(i), plain(i))
		}
		load("R9", mean)
		f.loop("CX", func() {
			load("R8", x)
			for i := range v {
				f.op("VSUBPS", mean(i), x(i), x(i))
				f.op("VFMADD231PS", x(i), x(i), plain(i))
			}
			next("R8")
		})
		store(plain, "DI", 0)
		f.ret()

		f.fun("channelMix"+s.name+` computes n pixels of 16 channels with factors of 48 numbers.
	dst[i][j] = factors[j]·grad[i][j] + factors[16+j]·x[i][j] + factors[32+j]`,
			"channelMix"+s.name, "dst, grad, x, factors *float32, n int", "")
		f.load("dst", "DI", "grad", "SI", "x", "R8", "factors", "R9", "n", "CX")
		a, b, c, sum, t := of(0), of(1), of(2), of(3), of(4)
		for k, factor := range []func(i int) string{a, b, c} {
			for i := range v {
				f.op("VMOVUPS", at("R9", 64*k+i*s.bytes), factor(i))
			}
		}
		f.loop("CX", func() {
			load("SI", sum)
			load("R8", t)
			for i := range v {
				f.op("VMULPS", a(i), sum(i), sum(i))
				f.op("VADDPS", c(i), sum(i), sum(i))
				f.op("VFMADD231PS", b(i), t(i), sum(i))
			}
			store(sum, "DI", 0)
			next("SI", "R8", "DI")
		})
		f.ret()
	}
	f.dispatch(dispatch{
		doc:      "channelSums is channelSumsRef in assembly.",
		function: "channelSums(sums *[32]float32, g, x []float32, mean *[16]float32)",
		kernels:  only("channelSums"), args: "&sums[0], &g[0], &x[0], &mean[0], len(g)/16",
		otherwise: "channelSumsRef(sums, g, x, mean)",
	})
	f.dispatch(dispatch{
		doc:      "channelSquares is channelSquaresRef in assembly.",
		function: "channelSquares(sums *[16]float32, x []float32, mean *[16]float32)",
		kernels:  only("channelSquares"), args: "&sums[0], &x[0], &mean[0], len(x)/16",
		otherwise: "channelSquaresRef(sums, x, mean)",
	})
	f.dispatch(dispatch{
		doc:      "channelMix is channelMixRef in assembly.",
		function: "channelMix(dst, g, x []float32, factors *[48]float32)",
		kernels:  only("channelMix"), args: "&dst[0], &g[0], &x[0], &factors[0], len(dst)/16",
		otherwise: "channelMixRef(dst, g, x, factors)",
	})
}
