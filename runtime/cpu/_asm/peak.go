package main

// peaks writes loops of nothing but multiply-adds, which tell what a core can do at most.
func peaks(f *file) {
	for _, s := range f.sets() {
		const chains = 12
		f.fun("fma"+s.name+" runs n times twelve independent multiply-adds of whole registers.",
			"fma"+s.name, "n int", "")
		f.load("n", "CX")
		for i := range chains + 1 {
			f.op(s.clear, s.reg(i), s.reg(i), s.reg(i))
		}
		f.loop("CX", func() {
			for i := range chains {
				f.op("VFMADD231PS", s.reg(chains), s.reg(chains), s.reg(i))
			}
		})
		f.ret()
	}
}
