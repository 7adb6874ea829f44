package main

import "fmt"

// conversion is a kernel that converts a multiple of 64 elements from one type to another.
type conversion struct {
	from, to         string
	fromSize, toSize int
	// wide writes the conversion of one vector with AVX-512, and narrow with AVX2. The vector is
	// of the wider of the two types; from and to are places in memory. Either function may be nil.
	wide, narrow func(f *file, from, to string)
}

func convertFamily(f *file) {
	f.words("lowBytes", 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	for _, c := range conversions {
		if c.wide != nil {
			c.write(f, isas[1], c.wide)
		}
		if c.narrow != nil {
			c.write(f, isas[0], c.narrow)
		}
	}
	f.has("Convert")
	d := dispatch{
		doc:      "convert converts elements of operand 1 to the type of operand 0.",
		function: "convert(s *sweep, at *[4]unsafe.Pointer, n int)", by: "conversion(s.kind)",
		before: "dst, src := at[0], at[1]",
		args:   "dst, src, n",
	}
	for _, c := range conversions {
		k := kernel{when: c.from + "To" + c.to, name: c.from + "To" + c.to}
		if c.narrow == nil {
			k.lacks = isas[0].name
		}
		d.kernels = append(d.kernels, k)
	}
	f.dispatch(d)
}

func (c conversion) write(f *file, s isa, body func(f *file, from, to string)) {
	name := c.from + "To" + c.to + s.name
	f.fun(fmt.Sprintf("%s converts n elements, a multiple of 64.", name), name, "dst, src unsafe.Pointer, n int", "")
	f.load("dst", "DI", "src", "SI", "n", "CX")
	f.op("SHRQ", 6, "CX")
	lanes := s.bytes / max(c.fromSize, c.toSize)
	f.loop("CX", func() {
		for i := range 64 / lanes {
			body(f, at("SI", i*lanes*c.fromSize), at("DI", i*lanes*c.toSize))
		}
		f.op("ADDQ", 64*c.fromSize, "SI")
		f.op("ADDQ", 64*c.toSize, "DI")
	})
	f.ret()
}

// extend returns a conversion to a wider type. reg(0) is the vector register of the result. The
// instruction `load` widens elements as it loads them. The instructions in `more` then change them.
func extend(reg func(int) string, load string, more ...string) func(f *file, from, to string) {
	return func(f *file, from, to string) {
		f.op(load, from, reg(0))
		for _, m := range more {
			f.op(m, reg(0), reg(0))
		}
		f.op("VMOVUPS", reg(0), to)
	}
}

// shrink returns a conversion to a narrower type. The instruction `convert` converts register
// reg(0) to register part(0), which is then stored.
func shrink(reg, part func(int) string, convert string) func(f *file, from, to string) {
	return func(f *file, from, to string) {
		f.op("VMOVUPS", from, reg(0))
		f.op(convert, reg(0), part(0))
		f.op("VMOVUPS", part(0), to)
	}
}

var conversions = []conversion{
	{"float32", "Int32", 4, 4, extend(z, "VCVTTPS2DQ"), extend(y, "VCVTTPS2DQ")},
	{"int32", "Float32", 4, 4, extend(z, "VCVTDQ2PS"), extend(y, "VCVTDQ2PS")},
	{"float32", "Int64", 4, 8, extend(z, "VCVTTPS2QQ"), nil},
	{"int64", "Float32", 8, 4, shrink(z, y, "VCVTQQ2PS"), nil},
	{"float32", "Float64", 4, 8, extend(z, "VCVTPS2PD"), extend(y, "VCVTPS2PD")},
	{"float64", "Float32", 8, 4, shrink(z, y, "VCVTPD2PS"), shrink(y, x, "VCVTPD2PSY")},
	{"float16", "Float32", 2, 4, extend(z, "VCVTPH2PS"), extend(y, "VCVTPH2PS")},
	{"float32", "Float16", 4, 2, halve(z), halve(y)},
	{"uint8", "Float32", 1, 4, extend(z, "VPMOVZXBD", "VCVTDQ2PS"), extend(y, "VPMOVZXBD", "VCVTDQ2PS")},
	{"int8", "Float32", 1, 4, extend(z, "VPMOVSXBD", "VCVTDQ2PS"), extend(y, "VPMOVSXBD", "VCVTDQ2PS")},
	{
		"float32", "Int8", 4, 1,
		func(f *file, from, to string) {
			f.op("VCVTTPS2DQ", from, z(0))
			f.op("VPMOVDB", z(0), to)
		},
		func(f *file, from, to string) {
			f.op("VCVTTPS2DQ", from, y(0))
			f.op("VPAND", "lowBytes<>(SB)", y(0), y(0))
			f.op("VEXTRACTI128", 1, y(0), x(1))
			f.op("VPACKUSDW", x(1), x(0), x(0))
			f.op("VPACKUSWB", x(0), x(0), x(0))
			f.op("VMOVQ", x(0), to)
		},
	},
	{"uint8", "Int32", 1, 4, extend(z, "VPMOVZXBD"), extend(y, "VPMOVZXBD")},
	{"uint8", "Int64", 1, 8, extend(z, "VPMOVZXBQ"), extend(y, "VPMOVZXBQ")},
	{"int32", "Int64", 4, 8, extend(z, "VPMOVSXDQ"), extend(y, "VPMOVSXDQ")},
	{
		"int64", "Int32", 8, 4, shrink(z, y, "VPMOVQD"),
		func(f *file, from, to string) {
			f.op("VMOVDQU", from, y(0))
			f.op("VEXTRACTI128", 1, y(0), x(1))
			f.op("VSHUFPS", 0x88, x(1), x(0), x(0))
			f.op("VMOVDQU", x(0), to)
		},
	},
}

// halve returns the conversion to float16, rounded to nearest even.
func halve(reg func(int) string) func(f *file, from, to string) {
	return func(f *file, from, to string) {
		f.op("VMOVUPS", from, reg(0))
		f.op("VCVTPS2PH", 0, reg(0), to)
	}
}
