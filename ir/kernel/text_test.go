package kernel_test

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// tester is a test, or a drawn case of one.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// build returns the kernel that fill describes.
func build(t tester, name string, block []int, fill func(b *kernel.Builder)) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Build(name, block, fill)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// parse returns the kernel of a text.
func parse(t tester, text string) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return k
}

// everything is a text with every part of the grammar.
const everything = `// what there is to print
kernel all_of_it(%x: global f32, %y: global f32 written, %h: global u32 written, %n: i32, %a: f64) block 64, 2, 1 {
  shared %part: f32[128] written
  shared %flags: bool[3]
  %0 = thread x : i32
  %1 = block z : i32
  %2 = const -7 : i32
  %3 = const true : bool
  %4 = const 1.5 : f32
  %5 = const 0x7fc00001 : f32
  %6 = const -inf : f64
  %7 = const 0x3c00 : f16
  %8 = const 18446744073709551615 : u64
  %9 = const -0 : f32
  %10 = const 1 : i32
  %11 = const 3 : u32
  %four_0, %four_1, %four_2, %four_3 = load %x[%0] : f32
  store %part[%0], %four_0, %four_1
  barrier
  %16, %15 = for %17 = %0 to %n by %10 carry %18 = %4, %19 = %10 unroll 4 : f32, i32 {
    %20 = fma %18, %4, %9 : f32
    yield %20, %17
  }
  %21 = if %3 : f32 {
    yield %4
  } else {
    %22 = neg %4 : f32
    yield %22
  }
  if %3 {
    %23 = atomic_add %h[%0], %11 : u32
    %24 = atomic_cas %h[%10], %11, %23 : u32
  }
  %25, %26 = while carry %27 = %10, %28 = %4 : i32, f32 {
    %29 = lt %27, %n : bool
    yield %29
  } do %30, %31 {
    %32 = add %30, %10 : i32
    yield %32, %31
  }
  while {
    yield %3
  } do {
    barrier
  }
  %33 = select %3, %4, %21 : f32
  %34 = convert %33 : bf16
  %35 = bitcast %33 : u32
  %36, %37 = split %a : u32, u32
  store %y[%0], %33
}
`

// TestText asserts that a kernel with every part of the grammar is printed as it was parsed.
func TestText(t *testing.T) {
	if got := parse(t, everything).String(); got != everything {
		t.Errorf("got\n%s\nwant\n%s", got, everything)
	}
}

// TestTextKeepsBits asserts that constants keep their bits.
func TestTextKeepsBits(t *testing.T) {
	k := build(t, "constants", []int{1}, func(b *kernel.Builder) {
		p := map[ir.DType]*kernel.Value{}
		for _, d := range []ir.DType{ir.F32, ir.F64, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.Bool} {
			p[d] = b.Pointer("p"+d.String(), d)
		}
		for i, bits := range []int64{0, 1, -1, math.MinInt64, math.MaxInt64, 0x7f800000, -0x800000, 0x7fa00001, -0x3ffff5, 0x7ff0000000000000, -0x10000000000000,
			0x7ff0000000000001, -0x7ffffffffffff, 0x3f800000, 0x3eaaaaab, 0x3fb999999999999a, 0x3c00, 0x7e01} {
			at := b.Int(i)
			for _, d := range []ir.DType{ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.Bool} {
				b.Store(p[d], at, b.Whole(d, bits))
			}
			b.Store(p[ir.F32], at, b.Bitcast(ir.F32, b.Whole(ir.I32, bits)))
			b.Store(p[ir.F64], at, b.Bitcast(ir.F64, b.Whole(ir.I64, bits)))
			b.Store(p[ir.F16], at, b.Bitcast(ir.F16, b.Whole(ir.I16, bits)))
			b.Store(p[ir.BF16], at, b.Bitcast(ir.BF16, b.Whole(ir.I16, bits)))
		}
	})
	again := parse(t, k.String())
	if len(again.Body.Instrs) != len(k.Body.Instrs) {
		t.Fatalf("%d instructions, want %d", len(again.Body.Instrs), len(k.Body.Instrs))
	}
	for i, in := range k.Body.Instrs {
		if got := again.Body.Instrs[i]; got.Op != in.Op || got.Bits != in.Bits {
			t.Errorf("%s has bits %x, want %x", got, got.Bits, in.Bits)
		}
	}
}

// TestParseErrors asserts what is said of wrong texts.
func TestParseErrors(t *testing.T) {
	in := func(lines string) string {
		return "kernel k(%y: global f32 written, %n: i32) block 1, 1, 1 {\n" + lines + "\n}\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", `line 1: "kernel" expected`},
		{"kernel k(%x: f31) block 1, 1, 1 {}", `line 1: unknown element type "f31"`},
		{"kernel k() block 1, 1, one {}", `line 1: "one" is not a number`},
		{in("%0 = frob %n : i32"), `line 2: unknown operation "frob"`},
		{in("%0 = const 1 : i32\n%1 = add %0, %2 : i32"), `line 3: %2 is not defined`},
		{in("%0 = const 1 : i32\n%0 = add %n, %n : i32"), `line 3: %0 is defined twice`},
		{in("%0 = const 256 : u8"), `line 2: "256" is not a number of type u8`},
		{in("%0 = const 0x1ffffffff : f32"), `line 2: "0x1ffffffff" is not a number of type f32`},
		{in("%0 = const 1e40 : f32"), `line 2: "1e40" is not a number of type f32`},
		{in("%0 = thread w : i32"), `line 2: x, y or z expected`},
		{in(strings.Repeat("while {\n", 100)), `line 65: blocks are nested deeper than 64`},
		{in("%0 = const true : bool\nif %0 {\n%1 = add %n, %n : i32\n}\n%2 = add %1, %n : i32"), `kernel k: %2 = add %1, %n : i32: %1 is not in scope`},
		{in("") + "kernel", `line 4: the kernel has ended`},
	} {
		if _, err := kernel.Parse(c.text); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzParse asserts that what parses is printed as a text that parses to the same text, that nothing
// panics, and that threads of a verified kernel meet at their barriers.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add("kernel k() block 1, 1, 1 {}")
	f.Add("//\x00\nkernel k() block 1, 1, 1 { while { %0 = const false : bool yield %0 } do {} }")
	f.Add("kernel k(%p: global u8 written) block 1024, 1, 1 { %0 = thread x : i32 %1 = const 0xffff : f16 %2 = convert %1 : u8 store %p[%0], %2 }")
	f.Add(transposition)
	f.Add(histogram)
	f.Fuzz(func(t *testing.T, text string) {
		k, err := kernel.Parse(text)
		if err != nil {
			return
		}
		once := k.String()
		if twice := parse(t, once).String(); twice != once {
			t.Errorf("got\n%s\nwant\n%s", twice, once)
		}
		var args []kernel.Arg
		for _, p := range k.Params {
			if d := p.Type.DType; p.Type.Space == kernel.Global {
				args = append(args, kernel.Bytes(d, make([]byte, 256)))
			} else {
				args = append(args, argument(known{d, 3}))
			}
		}
		err = k.Run([3]int{2, 1, 1}, args, kernel.Options{Budget: 1 << 16})
		if err != nil && (strings.Contains(err.Error(), " has ended") || strings.Contains(err.Error(), " waits at another barrier")) {
			t.Errorf("%v\n%s", err, once)
		}
	})
}
