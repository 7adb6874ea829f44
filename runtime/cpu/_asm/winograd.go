package main

import "fmt"

// winogradSrc are the registers that point to the operands of a transform. AX holds an offset that
// is added to each. DI points to the results. In the last transform, R13 points to the residuals.
var winogradSrc = [6]string{"SI", "R8", "R9", "R10", "R11", "R12"}

// winogradDst returns the memory operand of result k, plus disp bytes. The register base points to
// result 0. DX, BX and R13 hold one, three and five times the distance between results, in bytes.
func winogradDst(base string, k, disp int) string {
	switch k {
	case 0:
		return at(base, disp)
	case 3:
		return indexed(base, disp, "BX", 1)
	case 5:
		return indexed(base, disp, "R13", 1)
	}
	return indexed(base, disp, "DX", k)
}

var winogradBy = []float32{2, 4, 5, 8}

// winogradTransform is one factor of a transform of F(tile,3).
type winogradTransform struct {
	name   string
	factor string // of package cpu
	doc    string
	tile   int
	by     []float32
	// body writes the transform of the points' operands in registers d. t are four free registers, and by holds the
	// operands of the constants. It overwrites d and t and returns the registers of the results.
	body func(f *file, d, t []string, by map[float32]string) []string
	last bool // whether the results go through the epilogue
}

var winogradTransforms = []winogradTransform{
	{"winogradSpread2", "spreadInputs", "a factor of the transform of inputs", 2, nil, winogradSpread2, false},
	{"winogradGather2", "gatherProducts", "the first factor of the transform of products", 2, nil, winogradGather2, false},
	{"winogradFinish2", "finishProducts", "the second factor of the transform of products", 2, nil, winogradGather2, true},
	{"winogradSpread4", "spreadInputs", "a factor of the transform of inputs", 4, []float32{2, 4, 5}, winogradSpread4, false},
	{"winogradGather4", "gatherProducts", "the first factor of the transform of products", 4, []float32{2, 4, 8}, winogradGather4, false},
	{"winogradFinish4", "finishProducts", "the second factor of the transform of products", 4, []float32{2, 4, 8}, winogradGather4, true},
}

func winogradFamily(f *file) {
	tables := map[float32]string{}
	for _, v := range winogradBy {
		lanes := make([]float32, 16)
		for i := range lanes {
			lanes[i] = v
		}
		tables[v] = f.floats(fmt.Sprintf("winograd%v", v), lanes...)
	}
	for _, s := range f.sets() {
		for _, t := range winogradTransforms {
			f.winograd(s, t, tables)
		}
	}
	d := dispatch{
		doc:      "runTransform computes a factor of F(tile,3) with the level's kernel.",
		function: "runTransform(f winogradFactor, tile int, t *transform)",
		args:     "t", otherwise: "transformRef(f, tile, t)",
	}
	for _, t := range winogradTransforms {
		d.kernels = append(d.kernels, kernel{when: fmt.Sprintf("tile == %d && f == %s", t.tile, t.factor), name: t.name})
	}
	d.kernels[len(d.kernels)-1].when = ""
	f.dispatch(d)
}

// winograd writes the kernel of one transform. The kernel transforms lines; a line is a sequence of
// vectors. CX counts the vectors of a line, and a slot of the stack frame counts the lines.
func (f *file) winograd(s isa, t winogradTransform, tables map[float32]string) {
	points := t.tile + 2
	name := t.name + s.name
	f.framed(8, fmt.Sprintf("%s computes what transformRef does for %s of F(%d,3).", name, t.doc, t.tile), name, "t *transform", "")
	f.load("t", "R14")
	used := points + 4
	fresh := func() string { used++; return s.reg(used - 1) }
	by := map[float32]string{}
	for _, v := range t.by {
		if by[v] = tables[v]; s.regs > 16 {
			by[v] = fresh()
			f.op("VMOVUPS", tables[v], by[v])
		}
	}
	for i := range points {
		f.op("MOVQ", fmt.Sprintf("transform_src+%d(R14)", 8*i), winogradSrc[i])
	}
	f.op("MOVQ", "transform_dst(R14)", "DI")
	f.op("MOVQ", "transform_next(R14)", "DX")
	f.op("LEAQ", "(DX)(DX*2)", "BX")
	f.op("LEAQ", "(DX)(DX*4)", "R13")
	var lo, hi string
	bias := make([]string, s.perTile)
	if t.last {
		lo, hi = fresh(), fresh()
		f.op("VBROADCASTSS", "transform_lo(R14)", lo)
		f.op("VBROADCASTSS", "transform_hi(R14)", hi)
		f.op("MOVQ", "transform_bias(R14)", "AX")
		for i := range bias {
			bias[i] = fresh()
			f.op("VMOVUPS", at("AX", i*s.bytes), bias[i])
		}
		f.op("MOVQ", "transform_residual(R14)", "R13")
	}
	f.op("MOVQ", "transform_lines(R14)", "AX")
	f.op("MOVQ", "AX", "lines-8(SP)")
	f.op("XORQ", "AX", "AX")
	line := f.fresh("line")
	f.mark(line)
	f.op("MOVQ", "transform_count(R14)", "CX")
	advance := func(kind string) {
		f.op("ADDQ", "transform_"+kind+"Src(R14)", "AX")
		f.op("ADDQ", "transform_"+kind+"Dst(R14)", "DI")
		if t.last {
			f.op("ADDQ", "transform_"+kind+"Dst(R14)", "R13")
		}
	}
	f.loop("CX", func() {
		for half := range s.perTile {
			disp := half * s.bytes
			regs := make([]string, points+4)
			for i := range regs {
				regs[i] = s.reg(i)
			}
			for i, src := range winogradSrc[:points] {
				f.op("VMOVUPS", indexed(src, disp, "AX", 1), regs[i])
			}
			results := t.body(f, regs[:points], regs[points:], by)
			if t.last {
				f.winogradEpilogue(results, disp, lo, hi, bias[half])
				continue
			}
			for i, r := range results {
				f.op("VMOVUPS", r, winogradDst("DI", i, disp))
			}
		}
		advance("step")
	})
	advance("gap")
	f.op("DECQ", "lines-8(SP)")
	f.op("JNZ", line)
	f.ret()
}

// winogradEpilogue applies the epilogue to a column of pixels and stores the pixels. The column has
// one pixel for each row of the transform's results.
func (f *file) winogradEpilogue(results []string, disp int, lo, hi, bias string) {
	rows := func(body func(k int, r string)) {
		done := f.fresh("done")
		for k, r := range results {
			if k > 0 {
				f.op("CMPQ", "transform_rows(R14)", k)
				f.op("JLE", done)
			}
			body(k, r)
		}
		f.mark(done)
	}
	for _, r := range results {
		f.op("VADDPS", bias, r, r)
	}
	alone := f.fresh("alone")
	f.op("CMPQ", "transform_residual(R14)", 0)
	f.op("JEQ", alone)
	rows(func(k int, r string) { f.op("VADDPS", winogradDst("R13", k, disp), r, r) })
	f.mark(alone)
	for _, r := range results {
		// The result is the second operand in Intel's order, so that NaN and −0 are kept.
		f.op("VMAXPS", r, lo, r)
		f.op("VMINPS", r, hi, r)
	}
	rows(func(k int, r string) { f.op("VMOVUPS", r, winogradDst("DI", k, disp)) })
}

// add, sub, addBy and subBy write dst = a+b, dst = a−b, dst = dst+by·a and dst = dst−by·a.
func (f *file) add(a, b, dst string)    { f.op("VADDPS", b, a, dst) }
func (f *file) sub(a, b, dst string)    { f.op("VSUBPS", b, a, dst) }
func (f *file) addBy(by, a, dst string) { f.op("VFMADD231PS", by, a, dst) }
func (f *file) subBy(by, a, dst string) { f.op("VFNMADD231PS", by, a, dst) }

func winogradSpread2(f *file, d, t []string, _ map[float32]string) []string {
	f.sub(d[0], d[2], t[0])
	f.add(d[1], d[2], t[1])
	f.sub(d[2], d[1], t[2])
	f.sub(d[1], d[3], t[3])
	return t
}

func winogradGather2(f *file, m, t []string, _ map[float32]string) []string {
	f.add(m[1], m[2], t[0])
	f.sub(m[1], m[2], t[1])
	f.add(m[0], t[0], t[0])
	f.sub(t[1], m[3], t[1])
	return t[:2]
}

func winogradSpread4(f *file, d, t []string, by map[float32]string) []string {
	f.op("VMOVAPS", d[4], t[0])
	f.subBy(by[4], d[2], t[0])
	f.op("VMOVAPS", d[3], t[1])
	f.subBy(by[4], d[1], t[1])
	f.sub(d[4], d[2], t[2])
	f.sub(d[3], d[1], t[3])
	f.subBy(by[5], d[2], d[4])
	f.addBy(by[4], d[0], d[4])
	f.subBy(by[5], d[3], d[5])
	f.addBy(by[4], d[1], d[5])
	f.add(t[0], t[1], d[1])
	f.sub(t[0], t[1], d[2])
	f.op("VMOVAPS", t[2], d[3])
	f.addBy(by[2], t[3], d[3])
	f.subBy(by[2], t[3], t[2])
	return []string{d[4], d[1], d[2], d[3], t[2], d[5]}
}

func winogradGather4(f *file, m, t []string, by map[float32]string) []string {
	f.add(m[1], m[2], t[0])
	f.sub(m[1], m[2], t[1])
	f.add(m[3], m[4], t[2])
	f.sub(m[3], m[4], t[3])
	f.add(m[0], t[0], m[0])
	f.add(m[0], t[2], m[0])
	f.addBy(by[4], t[2], t[0])
	f.add(m[5], t[1], m[5])
	f.addBy(by[8], t[3], m[5])
	f.addBy(by[2], t[3], t[1])
	return []string{m[0], t[1], t[0], m[5]}
}
