package main

import "fmt"

// encoding is a vector instruction of arm64 that Go's assembler lacks, with zeros for
// its operands (Arm Architecture Reference Manual, C4.1 and C7.2).
type encoding struct {
	word     uint32
	operands form
}

// form is which operands an instruction has, and where their numbers stand in it.
type form int

const (
	three   form = iota // vd.4s, vn.4s, vm.4s
	two                 // vd.4s, vn.4s
	bytes               // vd.16b, vn.16b
	element             // vd.4s, vn.4s, vm.s[i]
	right               // vd.4s, vn.4s, #i, to the right
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
	"mvn":    {0x6e205800, bytes},
	"fmla":   {0x4f801000, element},
	"sshr":   {0x4f000400, right},
}

// encode is an instruction's word, and its text in Arm's notation, destination first.
// Of m and i it takes what the instruction has.
func encode(name string, d, n, m, i int) (word uint32, text string) {
	e, ok := encodings[name]
	if !ok {
		panic("no encoding of " + name)
	}
	word = e.word | uint32(n<<5|d)
	switch text = fmt.Sprintf("%s v%d.4s, v%d.4s", name, d, n); e.operands {
	case three:
		return word | uint32(m<<16), fmt.Sprintf("%s, v%d.4s", text, m)
	case bytes:
		return word, fmt.Sprintf("%s v%d.16b, v%d.16b", name, d, n)
	case element:
		return word | uint32(i&1<<21|m<<16|i>>1<<11), fmt.Sprintf("%s, v%d.s[%d]", text, m, i)
	case right:
		return word | uint32((64-i)<<16), fmt.Sprintf("%s, #%d", text, i)
	}
	return word, text
}

// word writes an instruction that Go's assembler lacks.
func (f *file) word(name string, d, n, m, i int) {
	word, text := encode(name, d, n, m, i)
	fmt.Fprintf(&f.code, "\tWORD $%#08x // %s\n", word, text)
}
