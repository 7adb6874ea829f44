package main

import (
	"fmt"
	"strings"
)

// encoding describes a vector instruction of arm64 that Go's assembler does not have. `word` is the
// machine word, in which the bits of the operands are zeros. See Arm Architecture Reference Manual,
// C4.1 and C7.2.
type encoding struct {
	word     uint32
	operands form
}

// form says which operands an instruction has, and where the numbers of the operands are in the
// machine word.
type form int

const (
	three    form = iota // vd.4s, vn.4s, vm.4s, or with .2d
	three32              // vd.4s, vn.4s, vm.4s
	two                  // vd.4s, vn.4s, or with .2d
	bytes                // vd.16b, vn.16b
	element              // vd.4s, vn.4s, vm.s[i]
	right                // vd.4s, vn.4s, #i, or with .2d; shifts to the right by i bits
	longer               // vd.2d, vn.2s
	shorter              // vd.2s, vn.2d
	shorter2             // vd.4s, vn.2d
	widen                // vd.8h, vn.8b, #0
	widen2               // vd.8h, vn.16b, #0
	long                 // vd.4s, vn.4h, vm.h[i], m below 16
	long2                // vd.4s, vn.8h, vm.h[i], m below 16
	vectors4             // vd.4s, vn.4h, vm.4h
	vectors8             // vd.4s, vn.8h, vm.8h
)

var encodings = map[string]encoding{
	"fadd":   {0x4e20d400, three},
	"fsub":   {0x4ea0d400, three},
	"fmul":   {0x6e20dc00, three},
	"fdiv":   {0x6e20fc00, three},
	"fcmeq":  {0x4e20e400, three},
	"fcmgt":  {0x6ea0e400, three},
	"cmgt":   {0x4ea03400, three},
	"fsqrt":  {0x6ea1f800, two},
	"frintn": {0x4e218800, two},
	"frintm": {0x4e219800, two},
	"frintp": {0x4ea18800, two},
	"fcvtns": {0x4e21a800, two},
	"scvtf":  {0x4e21d800, two},
	"fcvtl":  {0x0e617800, longer},
	"fcvtn":  {0x0e616800, shorter},
	"fcvtn2": {0x4e616800, shorter2},
	"mul":    {0x4ea09c00, three32},
	"mvn":    {0x6e205800, bytes},
	"sshll":  {0x0f08a400, widen},
	"sshll2": {0x4f08a400, widen2},
	"smlal":  {0x0f402000, long},
	"smlal2": {0x4f402000, long2},

	// A suffix after a dot tells variants of an instruction apart.
	"smlal.vectors":  {0x0e608000, vectors4},
	"smlal2.vectors": {0x4e608000, vectors8},
	"fmla":           {0x4f801000, element},
	"sshr":           {0x4f000400, right},
}

// double is the suffix of an instruction's name that selects its variant for two 64-bit lanes.
const double = ".2d"

// encode returns the machine word of an instruction, and its text in Arm's notation, in which the
// destination comes first. d is the number of the destination register, and n and m are the numbers
// of the operand registers. i is the index of an element of m, or the number of bits of a shift. m
// and i are ignored if the instruction does not have them.
func encode(name string, d, n, m, i int) (word uint32, text string) {
	name, wide := strings.CutSuffix(name, double)
	e, ok := encodings[name]
	if !ok {
		panic("no encoding of " + name)
	}
	lanes, from, bits := ".4s", ".4s", 32
	if wide {
		lanes, from, bits = double, double, 64
	}
	switch e.operands {
	case bytes:
		lanes, from = ".16b", ".16b"
	case longer:
		lanes, from = double, ".2s"
	case shorter:
		lanes, from = ".2s", double
	case shorter2:
		from = double
	case widen:
		lanes, from = ".8h", ".8b"
	case widen2:
		lanes, from = ".8h", ".16b"
	case long, vectors4:
		from = ".4h"
	case long2, vectors8:
		from = ".8h"
	}
	word = e.word | uint32(n<<5|d)
	mnemonic, _, _ := strings.Cut(name, ".")
	text = fmt.Sprintf("%s v%d%s, v%d%s", mnemonic, d, lanes, n, from)
	switch e.operands {
	case three, three32, vectors4, vectors8:
		word |= uint32(m << 16)
		text += fmt.Sprintf(", v%d%s", m, from)
	case long, long2:
		if m > 15 {
			panic("an element of 16 bits is in one of the first 16 registers")
		}
		word |= uint32(i&1<<20 | i>>1&1<<21 | m<<16 | i>>2<<11)
		text += fmt.Sprintf(", v%d.h[%d]", m, i)
	case widen, widen2:
		text += ", #0"
	case element:
		word |= uint32(i&1<<21 | m<<16 | i>>1<<11)
		text += fmt.Sprintf(", v%d.s[%d]", m, i)
	case right:
		return word | uint32((2*bits-i)<<16), fmt.Sprintf("%s, #%d", text, i)
	}
	if wide {
		word |= 1 << 22
	}
	return word, text
}

// word writes an instruction that Go's assembler does not have. The parameters are as for [encode].
func (f *file) word(name string, d, n, m, i int) {
	word, text := encode(name, d, n, m, i)
	fmt.Fprintf(&f.code, "\tWORD $%#08x // %s\n", word, text)
}
