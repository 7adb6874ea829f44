package main

import "fmt"

// compareFamily writes the kernels for comparisons, and for the choice between elements. A kernel
// handles 32 elements at a time. An operand that is the same for all elements is given as 32
// copies. The distance from these copies to the next 32 elements is then 0, so that the kernel
// reads them each time.
func compareFamily(f *file) {
	f.words("byteOrder", 0, 4, 1, 5, 2, 6, 3, 7)
	f.words("byteOnes", 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101)
	for _, t := range comparables {
		t.wide(f)
		t.narrow(f)
	}
	for _, size := range []int{4, 8} {
		for _, s := range isas {
			where(f, s, size)
		}
	}
	compareDispatch(f)
}

// compareDispatch writes the Go functions that call the kernels of comparisons and choices. Their
// parameter has the type sweep of package cpu, which describes the operands.
func compareDispatch(f *file) {
	const params, steps = "(s *sweep, at *[4]unsafe.Pointer, n int)", "int(32*s.size[1]), int(32*s.size[2])"
	f.has("Compare")
	for _, t := range comparables {
		f.dispatch(dispatch{
			doc:      "compare" + t.name + " compares elements of operands 1 and 2.",
			function: "compare" + t.name + params,
			before:   fmt.Sprintf("dst, a, b, aStep, bStep := (*bool)(at[0]), (%[1]s)(at[1]), (%[1]s)(at[2]), %[2]s", t.pointer, steps),
			kernels:  only("compare" + t.name), args: "dst, a, b, aStep, bStep, n, s.kind",
		})
	}
	for _, size := range []string{"32", "64"} {
		f.dispatch(dispatch{
			doc:      "where" + size + " chooses between elements of operands 1 and 2 by the elements of operand 3.",
			function: "where" + size + params,
			before:   "cond, xStep, yStep := (*bool)(at[3]), " + steps,
			kernels:  only("where" + size), args: "at[0], cond, at[1], at[2], xStep, yStep, n",
		})
	}
}

// relations lists the comparisons in the order of package cpu's constants. floats and integer are
// the immediate operands that select a comparison of floats and of integers.
var relations = []struct {
	name            string
	floats, integer int
}{{"less", 0x11, 1}, {"lessOrEqual", 0x12, 2}, {"equal", 0, 0}, {"unequal", 4, 4}}

type comparable struct {
	name, pointer string
	size          int
	compare       string // instruction with an immediate for the relation
	move          string
	greater, same string // instructions for AVX2 integers
}

var comparables = []comparable{
	{name: "Float32", pointer: "*float32", size: 4, compare: "VCMPPS", move: "VMOVUPS"},
	{name: "Int32", pointer: "*int32", size: 4, compare: "VPCMPD", move: "VMOVDQU32", greater: "VPCMPGTD", same: "VPCMPEQD"},
	{name: "Int64", pointer: "*int64", size: 8, compare: "VPCMPQ", move: "VMOVDQU64", greater: "VPCMPGTQ", same: "VPCMPEQQ"},
}

// begin writes a kernel except for the comparison itself: its start, a jump to the loop for the
// relation, and a loop for each relation. `enter` writes the code before the jump. `body` writes
// the comparison of 32 elements.
func (t comparable) begin(f *file, isa string, enter func(), body func(relation int)) {
	name := "compare" + t.name + isa
	f.fun(name+` compares a[i] with b[i] and stores the result in dst[i], for a multiple of 32 elements. aStep and
bStep are the distances in bytes from 32 elements of a and b to the next.`,
		name, fmt.Sprintf("dst *bool, a, b %s, aStep, bStep, n, relation int", t.pointer), "")
	f.load("dst", "DI", "a", "SI", "b", "DX", "aStep", "R8", "bStep", "R9", "n", "CX", "relation", "AX")
	f.op("SHRQ", 5, "CX")
	enter()
	for i := range relations[1:] {
		f.op("CMPQ", "AX", i+1)
		f.op("JEQ", relations[i+1].name)
	}
	for i, r := range relations {
		f.mark(r.name)
		top := f.fresh("loop")
		f.mark(top)
		body(i)
		f.op("ADDQ", 32, "DI")
		f.op("ADDQ", "R8", "SI")
		f.op("ADDQ", "R9", "DX")
		f.op("DECQ", "CX")
		f.op("JNZ", top)
		f.ret()
	}
}

func (t comparable) wide(f *file) {
	lanes := 64 / t.size
	begin := func() { f.op("VMOVDQU", "byteOnes<>(SB)", y(15)) }
	t.begin(f, "AVX512", begin, func(relation int) {
		immediate := relations[relation].integer
		if t.greater == "" {
			immediate = relations[relation].floats
		}
		for i := range 32 / lanes {
			f.op(t.move, at("SI", 64*i), z(i))
			f.op(t.compare, immediate, at("DX", 64*i), z(i), fmt.Sprintf("K%d", i+1))
		}
		if lanes == 8 {
			f.op("KUNPCKBW", "K1", "K2", "K1")
			f.op("KUNPCKBW", "K3", "K4", "K2")
		}
		f.op("KUNPCKWD", "K1", "K2", "K1")
		f.op("VMOVDQU8.Z", y(15), "K1", y(0))
		f.op("VMOVDQU", y(0), at("DI", 0))
	})
}

func (t comparable) narrow(f *file) {
	lanes := 32 / t.size
	begin := func() {
		f.op("VMOVDQU", "byteOnes<>(SB)", y(15))
		f.op("VMOVDQU", "byteOrder<>(SB)", y(14))
	}
	t.begin(f, "AVX2", begin, func(relation int) {
		inverted := false
		// compare sets register i to the result for vector i.
		compare := func(i int) {
			if t.greater == "" {
				f.op("VMOVUPS", at("SI", 32*i), y(i))
				f.op("VCMPPS", relations[relation].floats, at("DX", 32*i), y(i), y(i))
				return
			}
			switch relations[relation].name {
			case "less":
				f.op("VMOVDQU", at("DX", 32*i), y(i))
				f.op(t.greater, at("SI", 32*i), y(i), y(i))
			case "lessOrEqual":
				inverted = true
				f.op("VMOVDQU", at("SI", 32*i), y(i))
				f.op(t.greater, at("DX", 32*i), y(i), y(i))
			default:
				inverted = relations[relation].name == "unequal"
				f.op("VMOVDQU", at("SI", 32*i), y(i))
				f.op(t.same, at("DX", 32*i), y(i), y(i))
			}
		}
		for i := range 32 / lanes {
			compare(i)
		}
		vectors := 32 / lanes
		if lanes == 4 {
			// The even words of two vectors, put in order again.
			for i := range vectors / 2 {
				f.op("VSHUFPS", 0x88, y(2*i+1), y(2*i), y(i))
				f.op("VPERMQ", 0xd8, y(i), y(i))
			}
		}
		f.op("VPACKSSDW", y(1), y(0), y(0))
		f.op("VPACKSSDW", y(3), y(2), y(2))
		f.op("VPACKSSWB", y(2), y(0), y(0))
		f.op("VPERMD", y(0), y(14), y(0))
		if inverted {
			f.op("VPANDN", y(15), y(0), y(0))
		} else {
			f.op("VPAND", y(15), y(0), y(0))
		}
		f.op("VMOVDQU", y(0), at("DI", 0))
	})
}

func where(f *file, s isa, size int) {
	name := fmt.Sprintf("where%d%s", 8*size, s.name)
	f.fun(name+` computes dst[i] = x[i] where cond[i], else y[i], for a multiple of 32 elements. The steps are
from 32 elements of x and y to the next, in bytes.`,
		name, "dst unsafe.Pointer, cond *bool, x, y unsafe.Pointer, xStep, yStep, n int", "")
	f.load("dst", "DI", "cond", "BX", "x", "SI", "y", "DX", "xStep", "R8", "yStep", "R9", "n", "CX")
	f.op("SHRQ", 5, "CX")
	lanes := s.bytes / size
	if !s.wide() {
		f.op("VPXOR", y(15), y(15), y(15))
	}
	f.loop("CX", func() {
		for i := range 32 / lanes {
			from, r := s.bytes*i, s.reg(i)
			extend := map[int]string{4: "VPMOVZXBD", 8: "VPMOVZXBQ"}[size]
			if s.wide() {
				test := map[int]string{4: "VPTESTMD", 8: "VPTESTMQ"}[size]
				blend := map[int]string{4: "VBLENDMPS", 8: "VBLENDMPD"}[size]
				f.op(extend, at("BX", lanes*i), r)
				f.op(test, r, r, "K1")
				f.op("VMOVUPS", at("DX", from), r)
				f.op(blend, at("SI", from), r, "K1", r)
			} else {
				greater := map[int]string{4: "VPCMPGTD", 8: "VPCMPGTQ"}[size]
				blend := map[int]string{4: "VBLENDVPS", 8: "VBLENDVPD"}[size]
				f.op(extend, at("BX", lanes*i), y(14))
				f.op(greater, y(15), y(14), y(14))
				f.op("VMOVUPS", at("DX", from), r)
				f.op(blend, y(14), at("SI", from), r, r)
			}
			f.op("VMOVUPS", r, at("DI", from))
		}
		f.op("ADDQ", 32, "BX")
		f.op("ADDQ", 32*size, "DI")
		f.op("ADDQ", "R8", "SI")
		f.op("ADDQ", "R9", "DX")
	})
	f.ret()
}
