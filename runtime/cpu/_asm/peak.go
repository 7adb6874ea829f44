package main

import "fmt"

// peaks writes loops that contain only multiply-adds. They measure the peak performance of a core.
func peaks(f *file) {
	run := ""
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
		run = fmt.Sprintf("case %s:\nfma%[1]s(n)\nreturn %d * n\n", s.name, s.bytes/4) + run
	}
	f.function("multiplyAdds runs the loop of MultiplyAdds and returns its steps × lanes.",
		"multiplyAdds(n int) int", "switch level {\n"+run+"}\nreturn 0", "return 0")
}
