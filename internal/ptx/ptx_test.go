package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// header begins the texts of tests.
const header = ".version 7.4\n.target sm_80\n.address_size 64\n"

// registers are declared in the kernels of tests.
const registers = `
	.reg .pred %p<4>;
	.reg .b16 %h<8>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .f32 %f<8>;
	.reg .f64 %fd<8>;
	.shared .align 16 .b8 tile[64];
`

// module is a module with a kernel of a parameter.
func module(body string) string {
	return header + ".visible .entry k(\n\t.param .u64 x\n)\n.reqntid 4, 1, 1\n{" + registers + body + "\n}\n"
}

// memory is an allocation at an address.
type memory struct {
	first uint64
	data  []byte
}

func (m memory) Allocation(addr uint64) (uint64, []byte, error) {
	if addr-m.first >= uint64(len(m.data)) {
		return 0, nil, fmt.Errorf("address %#x is not allocated", addr)
	}
	return m.first, m.data, nil
}

// pointer loads the parameter into %rd0.
const pointer = "ld.param.u64 %rd0, [x]; cvta.to.global.u64 %rd0, %rd0;\n"

// execute runs a kernel of 4 threads on 64 bytes.
func execute(t *testing.T, body string) ([]byte, error) {
	t.Helper()
	m, err := Parse(module(pointer + body))
	if err != nil {
		t.Fatal(err)
	}
	mem := memory{1 << 20, make([]byte, 64)}
	err = m.Launch("k", [3]int{1, 1, 1}, [3]int{4, 1, 1}, 0, []uint64{mem.first}, mem)
	return mem.data, err
}

// TestInstructions asserts what the manual says where writers could be wrong in the same way as this
// package: what is out of range, and what is not a number.
func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		body string // leaves its result in %rd1
		want uint64
	}{
		{"mov.u32 %r1, 0x80; cvt.s32.s8 %r2, %r1; cvt.s64.s32 %rd1, %r2;", 0xffffffffffffff80},
		{"mov.u32 %r1, 0x1ff; cvt.u32.u8 %r2, %r1; cvt.u64.u32 %rd1, %r2;", 0xff},
		{"mov.u32 %r1, -1; cvt.u64.u32 %rd1, %r1;", 0xffffffff},
		{"mov.u32 %r1, 0x12345678; bfe.u32 %r2, %r1, 8, 12; cvt.u64.u32 %rd1, %r2;", 0x456},
		{"mov.u32 %r1, 0x12345678; bfe.u32 %r2, %r1, 28, 12; cvt.u64.u32 %rd1, %r2;", 1},
		{"mov.u32 %r1, 0x00008000; bfe.s32 %r2, %r1, 8, 8; cvt.u64.u32 %rd1, %r2;", 0xffffff80},
		{"mov.u32 %r1, 0x80000000; bfe.s32 %r2, %r1, 30, 8; cvt.u64.u32 %rd1, %r2;", 0xfffffffe},
		{"mov.u32 %r1, 0x80000000; bfe.s32 %r2, %r1, 0, 0; cvt.u64.u32 %rd1, %r2;", 0},
		{"mov.u32 %r1, 0xabcd; mov.u32 %r2, 0x11111111; bfi.b32 %r3, %r1, %r2, 8, 8; cvt.u64.u32 %rd1, %r3;", 0x1111cd11},
		{"mov.u32 %r1, 0xabcd; mov.u32 %r2, 0x11111111; bfi.b32 %r3, %r1, %r2, 24, 16; cvt.u64.u32 %rd1, %r3;", 0xcd111111},
		{"mov.u32 %r1, 1; shl.b32 %r2, %r1, 32; cvt.u64.u32 %rd1, %r2;", 0},
		{"mov.u32 %r1, 0x80000000; shr.s32 %r2, %r1, 40; cvt.u64.u32 %rd1, %r2;", 0xffffffff},
		{"mov.u32 %r1, 0x80000000; shr.u32 %r2, %r1, 31; cvt.u64.u32 %rd1, %r2;", 1},
		{"mov.u32 %r1, -2; mul.wide.s32 %rd1, %r1, 3;", 0xfffffffffffffffa},
		{"mov.u32 %r1, -2; mul.wide.u32 %rd1, %r1, 3;", 0x2fffffffa},
		{"mov.u32 %r1, -2; mad.wide.s32 %rd1, %r1, 4, 10;", 2},
		{"mov.f32 %f1, 0f7FC00000; cvt.rzi.s32.f32 %r1, %f1; cvt.u64.u32 %rd1, %r1;", 0},
		{"mov.f32 %f1, 0f7FC00000; cvt.rzi.s64.f32 %rd1, %f1;", 1 << 63},
		{"mov.f32 %f1, 0f7FC00000; cvt.rzi.u64.f32 %rd1, %f1;", 1 << 63},
		{"mov.f64 %fd1, 0d7FF8000000000000; cvt.rzi.u32.f64 %r1, %fd1; cvt.u64.u32 %rd1, %r1;", 1 << 31},
		{"mov.f32 %f1, 0fBFC00000; cvt.rzi.u32.f32 %r1, %f1; cvt.u64.u32 %rd1, %r1;", 0},
		{"mov.f32 %f1, 0f7F800000; cvt.rzi.s32.f32 %r1, %f1; cvt.u64.u32 %rd1, %r1;", 0x7fffffff},
		{"mov.f32 %f1, 0fBFC00000; cvt.rmi.f32.f32 %f2, %f1; mov.b32 %r1, %f2; cvt.u64.u32 %rd1, %r1;", 0xc0000000},
		{"mov.f32 %f1, 0fBF000000; cvt.rni.f32.f32 %f2, %f1; mov.b32 %r1, %f2; cvt.u64.u32 %rd1, %r1;", 0x80000000},
		{"mov.u64 %rd2, 0xffffffffffffffff; cvt.rz.f32.u64 %f1, %rd2; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;", 0x5f7fffff},
		{"mov.u64 %rd2, 0xffffffffffffffff; cvt.rn.f32.u64 %f1, %rd2; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;", 0x5f800000},
		{"mov.u64 %rd2, 0x8000000000000001; cvt.rn.f64.s64 %fd1, %rd2; mov.b64 %rd1, %fd1;", 0xc3e0000000000000},
		{"mov.u32 %r1, 70000; cvt.rn.f16.s32 %h1, %r1; cvt.u32.u16 %r2, %h1; cvt.u64.u32 %rd1, %r2;", 0x7c00},
		{"mov.f32 %f1, 0f3F808000; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r2, %h1; cvt.u64.u32 %rd1, %r2;", 0x3f80},
		{"mov.f32 %f1, 0f3F818000; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r2, %h1; cvt.u64.u32 %rd1, %r2;", 0x3f82},
		{"mov.f32 %f1, 0f3F818000; mov.f32 %f2, 0f3F808000; cvt.rn.bf16x2.f32 %r1, %f1, %f2; cvt.u64.u32 %rd1, %r1;", 0x3f823f80},
		{"mov.f32 %f1, 0f477FE000; mov.f32 %f2, 0f477FF000; cvt.rn.f16x2.f32 %r1, %f1, %f2; cvt.u64.u32 %rd1, %r1;", 0x7bff7c00},
		{"mov.f32 %f1, 0f7FC00000; mov.f32 %f2, 0fFF800000; max.f32 %f3, %f1, %f2; mov.b32 %r1, %f3; cvt.u64.u32 %rd1, %r1;", 0xff800000},
		{"mov.f32 %f1, 0f7FC00000; mov.f32 %f2, 0f3F800000; min.f32 %f3, %f2, %f1; mov.b32 %r1, %f3; cvt.u64.u32 %rd1, %r1;", 0x3f800000},
		{"mov.f32 %f1, 0f41000000; ex2.approx.ftz.f32 %f2, %f1; mov.b32 %r1, %f2; cvt.u64.u32 %rd1, %r1;", 0x43800000},
		{"mov.f32 %f1, 0fC2FE0000; ex2.approx.ftz.f32 %f2, %f1; mov.b32 %r1, %f2; cvt.u64.u32 %rd1, %r1;", 0},
		{"mov.f32 %f1, 0f7FC00000; setp.ne.f32 %p1, %f1, %f1; selp.b64 %rd1, 1, 2, %p1;", 2},
		{"mov.f32 %f1, 0f7FC00000; setp.neu.f32 %p1, %f1, %f1; selp.b64 %rd1, 1, 2, %p1;", 1},
		{"mov.f32 %f1, 0f7FC00000; setp.nan.f32 %p1, %f1, %f1; selp.b64 %rd1, 1, 2, %p1;", 1},
		{"mov.f32 %f1, 0f00000000; setp.num.f32 %p1, %f1, %f1; selp.b64 %rd1, 1, 2, %p1;", 1},
		{"mov.f32 %f1, 0f00000000; setp.gtu.f32 %p1, %f1, %f1; selp.b64 %rd1, 1, 2, %p1;", 2},
		{"mov.u32 %r1, 7; mov.u32 %r2, 0; div.u32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r3;", 0xffffffff},
		{"mov.u32 %r1, 0x80000000; mov.u32 %r2, -1; div.s32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r3;", 0x80000000},
		{"mov.u32 %r1, -7; mov.u32 %r2, 2; rem.s32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r3;", 0xffffffff},
		{"mov.b32 %r1, 0x12345678; mov.b32 {%h1, %h2}, %r1; mov.b32 %r2, {%h2, %h1}; cvt.u64.u32 %rd1, %r2;", 0x56781234},
		{"mov.b64 %rd2, 0x1122334455667788; mov.b64 {%r1, %r2}, %rd2; mov.b64 %rd1, {%r2, %r1};", 0x5566778811223344},
		{"mov.pred %p1, 1; mov.u64 %rd1, 5; @!%p1 mov.u64 %rd1, 6;", 5},
		{"mov.pred %p1, 0; mov.u64 %rd1, 5; @!%p1 mov.u64 %rd1, 6;", 6},
		{"mov.u32 %r1, tile; st.shared.u32 [%r1+8], 9; ld.shared.u32 %r2, [tile+8]; cvt.u64.u32 %rd1, %r2;", 9},
		{"mov.u32 %r1, tile; mov.u32 %r3, 1; st.shared.u8 [%r1], %r3; ld.shared.s8 %r2, [tile+1]; cvt.s64.s32 %rd1, %r2;", math.MaxUint64}, // not written before
		{"mov.u32 %r1, %ntid.x; mov.u32 %r2, %nctaid.y; mad.lo.u32 %r3, %r1, 10, %r2; cvt.u64.u32 %rd1, %r3;", 41},
	} {
		data, err := execute(t, c.body+"\nst.global.u64 [%rd0+16], %rd1;\nret;")
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
		} else if got := binary.LittleEndian.Uint64(data[16:]); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.body, got, c.want)
		}
	}
}

// TestFma32 asserts single rounding: the product is between two numbers of 32 bits, and what is added
// is too small for 64 bits but decides.
func TestFma32(t *testing.T) {
	x, little := float32(1+1.0/4096), float32(math.Ldexp(1, -60))
	down := float32(1 + 1.0/2048)
	up := math.Nextafter32(down, 2)
	for _, c := range []struct{ x, y, z, want float32 }{{x, x, little, up}, {x, x, -little, down}, {x, -x, little, -down}, {x, -x, -little, -up}, {x, x, 0, down}} {
		if got := fma32(c.x, c.y, c.z); got != c.want {
			t.Errorf("%v · %v + %v is %v, want %v", c.x, c.y, c.z, got, c.want)
		}
	}
}

// TestCheck asserts what is wrong with texts.
func TestCheck(t *testing.T) {
	body := func(s string) string { return module(s + "\nret;") }
	for _, c := range []struct{ text, want string }{
		{"", `line 1: "" where ".version" is expected`},
		{".version x", `"x" is not a version`},
		{".version 7.4\n.target gfx90", `line 2: "gfx90" is not a target`},
		{strings.Replace(header, "64", "32", 1), `"32" where "64" is expected`},
		{header + "int", `unexpected "int"`},
		{header + ".entry k()\n{\n\tret;\n}\n.entry k() { ret; }", "line 8: k is declared twice"},
		{header + ".entry add() { ret; }", `"add" names an instruction`},
		{header + ".entry 9k() { ret; }", `"9k" is not a name`},
		{header + ".entry k(.param .u64 x, .param .u32 x) { ret; }", "x is declared twice"},
		{header + ".entry k(.param .pred x) { ret; }", "a parameter cannot be a predicate"},
		{header + ".entry k() .reqntid 64, 32 { ret; }", "blocks of 2048 threads"},
		{header + ".entry k() { }", "kernel k does not end with ret"},
		{header + ".entry k() { ret; ", "the text ends too early"},
		{header + "// ×", "a comment is not in ASCII"},
		{header + "§", "unexpected character"},
		{body(".reg .b32 %r1;"), "%r1 is declared twice"},
		{body(".reg .b32 r9;"), `"r9" cannot name a register`},
		{body(".reg .b32 %tid.x;"), `"%tid.x" cannot name a register`},
		{body(".reg .b8 %x;"), "a register cannot be .b8"},
		{body(".reg .b32 %x<99999999>;"), "a number from 1 to 65536 is expected"},
		{body(".shared .align 3 .b8 s[4];"), "alignment 3 is not a power of 2"},
		{body(".shared .b8 s[0];"), "a number from 1 to"},
		{body(`.pragma "unroll";`), "unknown pragma"},
		{body("frob.s32 %r1, %r2;"), "unknown instruction"},
		{body("add.s32 %r1, %r2;"), "2 operands, want 3"},
		{body("add.s32 %r1, 1, %f1;"), "%f1 is .f32, want .s32"},
		{body("add.rn.f32 %f1, 0f00000000, %r1;"), "a register may be read before it is written"}, // bits fit
		{body("add.s32 %rd1, 1, 1;"), "%rd1 is .b64, want .s32"},
		{body("add.s32 %r1, 1, %r9;"), "%r9 is not a declared register"},
		{body("add.s32 %r1, 1, tile;"), "tile is not a declared register"},
		{body("add.rn.s32 %r1, 1, 1;"), "the name needs one of .f32 .f64"},
		{body("add.b32 %r1, 1, 1;"), "the name needs one of"},
		{body("add.s32.sat %r1, 1, 1;"), ".sat has no meaning here"},
		{body("add.s32 %r1, 1, 0f00000000;"), "a float is not a constant of .s32"},
		{body("add.rn.f32 %f1, 0f00000000, 1;"), "1 is not a constant of .f32"},
		{body("add.rn.f64 %fd1, 0d0000000000000000, 0f00000000;"), "a float is not a constant of .f64"},
		{body("add.rn.f32 %f1, 0f000, 0f000;"), `a float of "000", want 8 digits`},
		{body("add.s32 %r1, 1, 4294967296;"), "4294967296 is not a constant of .s32"},
		{body("add.s32 %r1, 1, -2147483649;"), "-2147483649 is not a constant of .s32"},
		{body("add.s32 %r1, 1, - %r1;"), `"%r1" is not an integer`},
		{body("add.s32 %r1, 1, 12x;"), `"12x" is not an integer`},
		{body("div.f32 %f1, 0f00000000, 0f00000000;"), "the name needs one of .s32"},
		{body("sqrt.f32 %f1, 0f00000000;"), "the name needs one of .rn"},
		{body("shl.b64 %rd1, 1, %rd2;"), "%rd2 is .b64, want .u32"},
		{body("setp.lt.b32 %p1, 1, 2;"), "the name needs one of"},
		{body("setp.lt.s32 %r1, 1, 2;"), "%r1 is .b32, want .pred"},
		{body("selp.b32 %r1, 1, 2, %r2;"), "%r2 is .b32, want .pred"},
		{body("mov.pred %p1, 2;"), "2 is not a constant of .pred"},
		{body("mov.u64 %rd1, %tid.x;"), "%tid.x is .u32"},
		{body("mov.b16 %h1, tile;"), "the address of an array is .u32 or .u64"},
		{body("mov.b32 {%h1, %h2, %h3}, 1;"), "two registers make .b32 or .b64"},
		{body("mov.b32 {%r1, %r2}, 1;"), "%r1 is .b32, want .b16"},
		{body("mov.b32 %f1, 1; mov.b16 %h1, 1; cvt.f32.f64 %f2, %f1;"), "%f1 is .f32, want .f64"},
		{body("mov.f32 %f1, 0f00000000; cvt.s32.f32 %r1, %f1;"), `the mode of rounding "" does not belong`},
		{body("mov.f32 %f1, 0f00000000; cvt.rn.s32.f32 %r1, %f1;"), `the mode of rounding "rn" does not belong`},
		{body("mov.f32 %f1, 0f00000000; cvt.rn.f64.f32 %fd1, %f1;"), `the mode of rounding "rn" does not belong`},
		{body("mov.f32 %f1, 0f00000000; cvt.rn.f32.f32 %f2, %f1;"), "a conversion to the same type rounds to an integer"},
		{body("mov.u32 %r1, 1; cvt.f32.s32 %f2, %r1;"), `the mode of rounding "" does not belong`},
		{body("mov.u32 %r1, 1; cvt.rzi.s64.s32 %rd1, %r1;"), "conversions of integers do not round"},
		{body("mov.u32 %r1, 1; cvt.rn.bf16.s32 %h1, %r1;"), "bf16 needs"},
		{strings.Replace(body("mov.f32 %f1, 0f00000000; cvt.rn.bf16.f32 %h1, %f1;"), "sm_80", "sm_75", 1), "bf16 needs"},
		{body("cvt..f32 %f1, %f2;"), "the name needs one of"},
		{body("cvt.u64.u32 %rd1, 1;"), "the operand is not a register"},
		{body("mov.u64 %rd1, 1; cvt.u32.u64 %h1, %rd1;"), "%h1 is .b16, want .u32"},
		{body("ld.global.u32 %r1, %rd0;"), "operand 2 is not an address"},
		{body("ld.global.u32 %r1, [%r2];"), "%r2 is .b32, want .u64"},
		{body("ld.global.u32 %r1, [tile];"), "tile is not a declared register"},
		{body("ld.shared.u32 %f1, [tile];"), "%f1 is .f32, want .u32"},
		{body("ld.shared.u64 %r1, [tile];"), "%r1 is .b32, want .u64"},
		{body("ld.shared.f32 %rd1, [tile];"), "%rd1 is .b64, want .f32"},
		{body("ld.shared.v2.u32 {%r1}, [tile];"), "1 registers, want 2"},
		{body("ld.shared.v3.u32 {%r1, %r2, %r3}, [tile];"), "the name needs one of"},
		{body("ld.shared.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [tile];"), "more than 16 bytes"},
		{body("ld.shared.u32 %r1, [tile+99999999999];"), "not an integer of 32 bits"},
		{body("ld.param.u64 %rd1, [y];"), "no parameter is called y"},
		{body("ld.const.u64 %rd1, [x];"), "the name needs one of .param .global .shared"},
		{body("st.param.u64 [x], 1;"), "the name needs one of .global .shared"},
		{body("atom.shared.add.s64 %rd1, [tile], 1;"), "the name needs one of .u32 .s32 .u64"},
		{body("atom.shared.cas.b32 %r1, [tile], 1;"), "3 operands, want 4"},
		{body("bra nowhere;"), "no label is called nowhere"},
		{body("bra tile;"), "no label is called tile"},
		{module("bra behind;\nbehind:"), "no instruction follows label behind"},
		{body("again:\nagain:"), "again is declared twice"},
		{body("tile:"), "tile is declared twice"},
		{body("ret:"), `"ret" names an instruction`},
		{body("bar.sync 1;"), "only barrier 0 exists"},
		{body("@%r1 ret;"), "%r1 is .b32, want .pred"},
		{body("@%p1 ret;"), "a register may be read before it is written"},
		{body("mov.pred %p1, 1; @%p1 mov.u32 %r1, 1; add.s32 %r2, %r1, 1;"), "add.s32 %r2, %r1, 1: a register may be read before"},
		{body("mov.pred %p1, 1; @%p1 bra over; mov.u32 %r1, 1;\nover: add.s32 %r2, %r1, 1;"), "a register may be read before"},
		{module("mov.pred %p1, 1; @%p1 ret;"), "kernel k does not end with ret"},
	} {
		if err := Check(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q, of\n%s", err, c.want, c.text)
		}
	}
	for _, good := range []string{
		body(""),
		body("mov.pred %p1, 1; mov.u32 %r1, 0; @%p1 bra over; mov.u32 %r1, 1;\nover: add.s32 %r2, %r1, 1;"),
		body("mov.u32 %r1, 9;\nagain: sub.s32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra again; mov.u32 %r2, %r1;"),
		body("bra over;\nadd.s32 %r1, %r2, %r3;\nover:"), // what no path leads to
		header + ".extern .shared .align 16 .b8 more[];\n.entry k() .maxntid 64 .minnctapersm 2 { .reg .b32 %r; mov.u32 %r, more; ret; }",
	} {
		if err := Check(good); err != nil {
			t.Errorf("%v, of\n%s", err, good)
		}
	}
}

// TestFaults asserts which kernels stop with an error, and that it names the instruction.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"ld.global.u32 %r1, [%rd0+64]; ret;", "ld.global.u32 %r1, [%rd0+64]: block [0 0 0], thread [0 0 0]: address 0x100040 is not allocated"},
		{"ld.global.u32 %r1, [%rd0+-4]; ret;", "address 0xffffc is not allocated"},
		{"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0+4]; ret;", "address 0x100004 is not a multiple of 16"},
		{"st.global.u64 [%rd0+60], %rd0; ret;", "address 0x10003c is not a multiple of 8"},
		{"st.shared.u32 [tile+64], 1; ret;", "shared address 64 is outside of 64 bytes"},
		{"st.shared.u32 [tile+-4], 1; ret;", "shared address 4294967292 is outside of 64 bytes"},
		{"st.shared.u32 [tile+2], 1; ret;", "shared address 2 is not a multiple of 4"},
		{"mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 32; add.s64 %rd1, %rd0, %rd1; ld.global.u32 %r2, [%rd1]; ret;", "thread [2 0 0]"},
		{"mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 2; @%p1 ret; bar.sync 0; ret;", "waits at the barrier in line 17, but other threads have ended"},
		{"mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 2; @%p1 bra other; bar.sync 0; ret;\nother: bar.sync 0; ret;", "thread [1 0 0] waits at the barrier in line 17, and thread [2 0 0] at that in line 18"},
	} {
		if _, err := execute(t, c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.body, err, c.want)
		}
	}
}

// TestLaunchErrors asserts which launches are refused.
func TestLaunchErrors(t *testing.T) {
	m, err := Parse(module("ret;"))
	if err != nil {
		t.Fatal(err)
	}
	one, four := [3]int{1, 1, 1}, [3]int{4, 1, 1}
	for _, c := range []struct {
		kernel      string
		grid, block [3]int
		shared      int
		params      []uint64
		want        string
	}{
		{"none", one, four, 0, []uint64{0}, `no kernel is called "none"`},
		{"k", one, one, 0, []uint64{0}, "blocks of [1 1 1] threads, want [4 1 1]"},
		{"k", [3]int{1, 0, 1}, four, 0, []uint64{0}, "a grid of [1 0 1] blocks"},
		{"k", one, [3]int{4, -1, 1}, 0, []uint64{0}, "blocks of [4 -1 1] threads"},
		{"k", one, four, -1, []uint64{0}, "-1 bytes of shared memory"},
		{"k", one, four, 0, nil, "0 parameters, want 1"},
		{"k", one, four, 0, []uint64{0}, ""},
	} {
		err := m.Launch(c.kernel, c.grid, c.block, c.shared, c.params, memory{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	m, err = Parse(header + ".entry k() .maxntid 64 { ret; }")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Launch("k", one, [3]int{65, 1, 1}, 0, nil, memory{}); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Errorf("error %v, want that at most 64 threads are possible", err)
	}
}

// TestDynamic asserts that dynamic shared memory is after the arrays of a kernel, and as long as the
// launch says.
func TestDynamic(t *testing.T) {
	m, err := Parse(header + `.extern .shared .align 16 .b8 more[];
.entry k(.param .u64 x) {
	.reg .b32 %r<3>;
	.reg .b64 %rd;
	.shared .b8 own[4];
	ld.param.u64 %rd, [x];
	st.shared.u32 [own], 3;
	st.shared.u32 [more+4], 4;
	ld.shared.u32 %r0, [own];
	mov.u32 %r1, more;
	ld.shared.u32 %r2, [%r1+4];
	mad.lo.s32 %r0, %r0, 10, %r2;
	st.global.u32 [%rd], %r0;
	ret;
}`)
	if err != nil {
		t.Fatal(err)
	}
	mem := memory{512, make([]byte, 4)}
	one := [3]int{1, 1, 1}
	if err := m.Launch("k", one, one, 8, []uint64{512}, mem); err != nil || mem.data[0] != 34 {
		t.Errorf("%d and %v, want 34", mem.data[0], err)
	}
	if err := m.Launch("k", one, one, 4, []uint64{512}, mem); err == nil || !strings.Contains(err.Error(), "shared address 20 is outside of 20 bytes") {
		t.Errorf("error %v, want one of the address", err)
	}
}

// TestPhases asserts that a missing barrier shows: threads run in the other order after each one.
func TestPhases(t *testing.T) {
	const exchange = `mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile; add.s32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;
BARRIER
mov.u32 %r4, 12; sub.s32 %r4, %r4, %r2; mov.u32 %r5, tile; add.s32 %r5, %r5, %r4; ld.shared.u32 %r6, [%r5];
mul.wide.u32 %rd1, %r2, 1; add.s64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r6; ret;`
	for _, c := range []struct {
		barrier string
		right   bool
	}{{"bar.sync 0;", true}, {"", false}} {
		data, err := execute(t, strings.Replace(exchange, "BARRIER", c.barrier, 1))
		if err != nil {
			t.Fatal(err)
		}
		right := true
		for i := range 4 {
			right = right && binary.LittleEndian.Uint32(data[4*i:]) == uint32(3-i)
		}
		if right != c.right {
			t.Errorf("with %q the result is right: %t", c.barrier, right)
		}
	}
}

// FuzzParse asserts that no text stops the reader but with an error, and that what it takes can be
// launched.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../gen/target/gpu/ptx/testdata/*.ptx")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(module(pointer + "mov.u32 %r1, tile; atom.shared.cas.b32 %r2, [%r1], 1, -2; bfi.b32 %r3, %r1, %r2, 8, 0x8; bar.sync 0; ret;"))
	f.Add(header + ".extern .shared .align 16 .b8 more[];\n.entry k() .maxntid 64 { .reg .pred %p; $a: mov.pred %p, 1; @!%p bra $a; ret; }")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if (m == nil) == (err == nil) {
			t.Fatalf("module %v and error %v", m, err)
		}
		if m == nil {
			return
		}
		for _, name := range m.Kernels() {
			if strings.Contains(text, "bra") {
				return // it may run for ever
			}
			n, err := m.Params(name)
			if err != nil {
				t.Fatal(err)
			}
			block := m.entries[name].threads
			if block == [3]int{} {
				block = [3]int{1, 1, 1}
			}
			_ = m.Launch(name, [3]int{1, 1, 1}, block, 0, make([]uint64, n), memory{0, make([]byte, 256)})
		}
	})
}

// BenchmarkLaunch counts to a million in simple instructions.
func BenchmarkLaunch(b *testing.B) {
	m, err := Parse(module("mov.u32 %r1, 0; mov.f32 %f1, 0f3F800000;\nagain: add.rn.f32 %f1, %f1, %f1; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 62500; @%p1 bra again; ret;"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := m.Launch("k", [3]int{1, 1, 1}, [3]int{4, 1, 1}, 0, []uint64{0}, memory{}); err != nil {
			b.Fatal(err)
		}
	}
}
