package kernel_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestVerify asserts what is said of kernels whose text is right but not what it says.
func TestVerify(t *testing.T) {
	const head = "kernel k(%x: global f32, %y: global f32 written, %h: global u32 written, %n: i32, %a: f32) block 32, 1, 1 {\nshared %s: f32[4] written\n"
	for _, c := range []struct{ text, want string }{
		{"kernel 1k() block 1, 1, 1 {}", "kernel 1k: its name is not an identifier"},
		{"kernel k(%1: i32) block 1, 1, 1 {}", "kernel k: the name of %1 is not an identifier"},
		{"kernel k(%n: i8) block 1, 1, 1 {}", "kernel k: parameter %n is of type i8"},
		{"kernel k(%n: bool) block 1, 1, 1 {}", "kernel k: parameter %n is of type bool"},
		{"kernel k(%n: i32 written) block 1, 1, 1 {}", "kernel k: parameter %n is of type i32 written"},
		{"kernel k(%n: global string) block 1, 1, 1 {}", "kernel k: parameter %n is of type global string"},
		{"kernel k() block 32, 33, 1 {}", "kernel k: blocks of 32 × 33 × 1 threads, more than 1024"},
		{"kernel k() block 32, 0, 1 {}", "kernel k: blocks of 32 × 0 × 1 threads"},
		{"kernel k() block 1, 1, 1 {\nshared %s: f32[0]\n}", "kernel k: array %s is of type shared f32[0]"},
		{"kernel k() block 1, 1, 1 {\nshared %s: f64[6144]\nshared %t: u8[1]\n}", "kernel k: more than 49152 bytes of shared memory"},
		{head + "%0 = add %n, %a : i32\n}", "kernel k: %0 = add %n, %a : i32: %a is of type f32, want i32"},
		{head + "%0 = add %n, %n : f32\n}", "kernel k: %0 = add %n, %n : f32: %0 is of type f32, want i32"},
		{head + "%0 = add %x, %x : f32\n}", "kernel k: %0 = add %x, %x : f32: %x is of type global f32"},
		{head + "%0 = rem %a, %a : f32\n}", "kernel k: %0 = rem %a, %a : f32: it does not compute on f32"},
		{head + "%0 = lt %a, %a : f32\n}", "kernel k: %0 = lt %a, %a : f32: %0 is of type f32, want bool"},
		{head + "%0 = convert %a : f16\n%1 = neg %0 : f16\n}", "kernel k: %1 = neg %0 : f16: it does not compute on f16"},
		{head + "%0 = convert %a : f32\n}", "kernel k: %0 = convert %a : f32: it changes nothing"},
		{head + "%0 = bitcast %a : f64\n}", "kernel k: %0 = bitcast %a : f64: f32 and f64 are not of the same width"},
		{head + "%0, %1 = split %a : u32, u32\n}", "kernel k: %0, %1 = split %a : u32, u32: it does not split f32"},
		{head + "%0 = thread x : i64\n}", "kernel k: %0 = thread x : i64: %0 is of type i64, want i32"},
		{head + "%0 = select %n, %a, %a : f32\n}", "kernel k: %0 = select %n, %a, %a : f32: %n is of type i32, want bool"},
		{head + "%0 = load %x[%a] : f32\n}", "kernel k: %0 = load %x[%a] : f32: an index of type f32"},
		{head + "%0 = load %n[%n] : i32\n}", "kernel k: %0 = load %n[%n] : i32: %n is not a pointer"},
		{head + "%0 = load %x[%n] : i32\n}", "kernel k: %0 = load %x[%n] : i32: %0 is of type i32, want f32"},
		{head + "%0, %1, %2 = load %x[%n] : f32\n}", "kernel k: %0, %1, %2 = load %x[%n] : f32: 3 adjacent elements of f32"},
		{head + "store %x[%n], %a\n}", "kernel k: store %x[%n], %a: %x is not marked as written"},
		{head + "store %y[%n], %n\n}", "kernel k: store %y[%n], %n: %n is of type i32, want f32"},
		{head + "store %y[%n], %a, %a, %a, %a, %a, %a, %a, %a\n}", "kernel k: store %y[%n], %a, %a, %a, %a, %a, %a, %a, %a: 8 adjacent elements of f32"},
		{head + "store %y[%n]\n}", "kernel k: store %y[%n]: 2 operands, 0 results and 0 blocks, want 3, 0 and 0"},
		{head + "%0 = atomic_add %y[%n], %a : f32\n}", "kernel k: %0 = atomic_add %y[%n], %a : f32: it does not compute on f32"},
		{head + "%0 = atomic_cas %h[%n], %n : u32\n}", "kernel k: %0 = atomic_cas %h[%n], %n : u32: 3 operands, 1 results and 0 blocks, want 4, 1 and 0"},
		{head + "%0 = for %1 = %n to %n by %n : i32 {\n}\n}", "kernel k: %0 = for %1 = %n to %n by %n : i32: 3 operands, 1 results and 1 blocks, want 3, 0 and 1"},
		{head + "%0 = for %1 = %n to %n by %n carry %2 = %a : f32 {\n}\n}", "kernel k: %0 = for %1 = %n to %n by %n carry %2 = %a : f32: 0 values for 1"},
		{head + "%0 = for %1 = %n to %n by %n carry %2 = %a : f32 {\nyield %1\n}\n}", "kernel k: %0 = for %1 = %n to %n by %n carry %2 = %a : f32: %1 is of type i32, want f32"},
		{head + "%0 = const 0 : i32\nfor %1 = %n to %n by %0 {\n}\n}", "kernel k: for %1 = %n to %n by %0: the step is 0"},
		{head + "if %n {\n}\n}", "kernel k: if %n: %n is of type i32, want bool"},
		{head + "while {\n} do {\n}\n}", "kernel k: while: 0 values for 1"},
		{head + "while {\nyield %n\n} do {\n}\n}", "kernel k: while: %n is of type i32, want bool"},
		{head + "yield %n\n}", "kernel k: its body takes or yields values"},
		{head + "%0 = while carry %1 = %n : i32 {\n%2 = lt %1, %n : bool\nyield %2\n} do %3 {\nyield %1\n}\n}", "kernel k: %1 is not in scope"},
	} {
		if _, err := kernel.Parse(c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestVerifyStructure asserts what is said of kernels that have no text.
func TestVerifyStructure(t *testing.T) {
	word := func(name string) *kernel.Value { return &kernel.Value{Name: name, Type: kernel.Type{DType: ir.I32}} }
	for _, c := range []struct {
		change func(k *kernel.Kernel)
		want   string
	}{
		{func(k *kernel.Kernel) {}, ""},
		{func(k *kernel.Kernel) { k.Body = nil }, "its body takes or yields values"},
		{func(k *kernel.Kernel) { k.Doc = "two\nlines" }, "its doc is not a line"},
		{func(k *kernel.Kernel) { k.Params = append(k.Params, word("n")) }, "%n is defined twice"},
		{func(k *kernel.Kernel) { k.Params = append(k.Params, k.Params[0]) }, "%n is defined twice"},
		{func(k *kernel.Kernel) { k.Params = append(k.Params, nil) }, "a value is nil"},
		{func(k *kernel.Kernel) { k.Params[0].Len = 3 }, "parameter %n has a length"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Results[0].Name = "a b" }, `the name "a b" is not a word`},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Results[0].Def = nil }, "%0 does not know the instruction that computes it"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Args[0] = word("z") }, "%0 = add %z, %n : i32: %z is not defined"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Args[0] = nil }, "%0 = add %?, %n : i32: a value is nil"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Args = nil }, "%0 = add : i32: 0 operands, 1 results and 0 blocks, want 2, 1 and 0"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Op = 255 }, "%0 = unknown %n, %n : i32: there is no such operation"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Op = kernel.NoOp }, "%0 =  %n, %n : i32: there is no such operation"},
		{func(k *kernel.Kernel) { k.Body.Instrs[0].Unroll = 2 }, "%0 = add %n, %n : i32: it has what belongs to another operation"},
		{func(k *kernel.Kernel) { k.Body.Instrs[1] = nil }, "an instruction is nil"},
		{func(k *kernel.Kernel) { k.Body.Instrs[2].Blocks[0] = nil }, "a block is nil"},
		{func(k *kernel.Kernel) { k.Body.Instrs[2].Blocks[1] = k.Body.Instrs[2].Blocks[0] }, "a block belongs to two instructions"},
		{func(k *kernel.Kernel) { k.Body.Instrs[2].Blocks[0] = k.Body }, "a block belongs to two instructions"},
	} {
		k := build(t, "k", []int{1}, func(b *kernel.Builder) {
			n := b.Scalar("n", ir.I32)
			b.Do(b.Lt(b.Add(n, n), n), func() { b.Barrier() })
		})
		c.change(k)
		err := k.Verify()
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != "kernel k: "+c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestBuilderMistakes asserts that the builder returns mistakes as errors.
func TestBuilderMistakes(t *testing.T) {
	for want, fill := range map[string]func(b *kernel.Builder){
		"kernel k: add of i32 and f32":         func(b *kernel.Builder) { b.Add(b.Int(1), b.Float(ir.F32, 1)) },
		"kernel k: split of f32":               func(b *kernel.Builder) { b.Split(b.Float(ir.F32, 1)) },
		"kernel k: unknown of i32":             func(b *kernel.Builder) { b.Unary(200, b.Int(1)) },
		"kernel k: a float constant of f16":    func(b *kernel.Builder) { b.Float(ir.F16, 1) },
		"kernel k: an integer constant of f32": func(b *kernel.Builder) { b.Whole(ir.F32, 1) },
		"kernel k: 1 values for 0": func(b *kernel.Builder) {
			b.Times(b.Int(3), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value { return []*kernel.Value{i} })
		},
		"kernel k: parameter %n is of type i8":         func(b *kernel.Builder) { b.Scalar("n", ir.I8) },
		"kernel other-: its name is not an identifier": func(b *kernel.Builder) { b.Name("other-") },
	} {
		if _, err := kernel.Build("k", []int{1}, fill); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestBuilderKeepsNothing asserts that callers may change the slices that they give and get.
func TestBuilderKeepsNothing(t *testing.T) {
	k := build(t, "k", []int{1}, func(b *kernel.Builder) {
		x := b.Pointer("x", ir.F32)
		v := b.LoadN(x, b.Int(0), 2)
		v[0] = b.Add(v[0], v[1])
		v = b.Times(b.Int(3), v, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
			c[0] = b.Add(c[0], c[1])
			return c
		})
		v[1] = b.Neg(v[1])
		w := b.While(v, func(c []*kernel.Value) *kernel.Value {
			c[0] = b.Neg(c[0])
			return b.Lt(c[0], c[1])
		}, func(c []*kernel.Value) []*kernel.Value {
			c[0], c[1] = c[1], c[0]
			return c
		})
		v[0], w[0] = nil, nil
		b.Store(x, b.Int(0), v[1], w[1])
	})
	if err := k.Verify(); err != nil {
		t.Error(err)
	}
}

// TestBarriers asserts where barriers may be.
func TestBarriers(t *testing.T) {
	const head = `kernel k(%x: global i32, %h: global i32 written, %n: i32) block 32, 1, 1 {
%t = thread x : i32
%b = block x : i32
%zero = const 0 : i32
%one = const 1 : i32
%v = load %x[%zero] : i32
%uniform = lt %b, %n : bool
%varying = lt %t, %n : bool
`
	for text, ok := range map[string]bool{
		"barrier\n":                                                                         true,
		"if %uniform {\nbarrier\n}\n":                                                       true,
		"if %varying {\nbarrier\n}\n":                                                       false,
		"if %varying {\n} else {\nbarrier\n}\n":                                             false,
		"for %i = %b to %n by %one {\nbarrier\n}":                                           true,
		"for %i = %t to %n by %one {\nbarrier\n}":                                           false,
		"for %i = %b to %v by %one {\nbarrier\n}":                                           false,
		"for %i = %b to %n by %one {\nif %varying {\n}\nbarrier\n}":                         true,
		"if %varying {\nif %uniform {\nbarrier\n}\n}":                                       false,
		"%a = atomic_add %h[%zero], %one : i32\n%c = lt %a, %n : bool\nif %c {\nbarrier\n}": false,
		"%a = if %varying : i32 {\nyield %zero\n} else {\nyield %one\n}\n%c = lt %a, %n : bool\nif %c {\nbarrier\n}":                      false,
		"%a = if %uniform : i32 {\nyield %zero\n} else {\nyield %one\n}\n%c = lt %a, %n : bool\nif %c {\nbarrier\n}":                      true,
		"%a = if %uniform : i32 {\nyield %t\n} else {\nyield %one\n}\n%c = lt %a, %n : bool\nif %c {\nbarrier\n}":                         false,
		"%a = for %i = %zero to %n by %one carry %j = %zero : i32 {\n%c = lt %j, %n : bool\nif %c {\nbarrier\n}\nyield %i\n}":             true,
		"%a = for %i = %zero to %n by %one carry %j = %zero : i32 {\n%c = lt %j, %n : bool\nif %c {\nbarrier\n}\nyield %t\n}":             false,
		"%a = while carry %j = %n : i32 {\n%c = lt %j, %one : bool\nbarrier\nyield %c\n} do %k {\nyield %k\n}":                            true,
		"%a = while carry %j = %n : i32 {\n%c = lt %j, %one : bool\nbarrier\nyield %c\n} do %k {\nyield %t\n}":                            false,
		"%a = while carry %j = %t : i32 {\n%c = lt %j, %one : bool\nyield %c\n} do %k {\nbarrier\nyield %k\n}":                            false,
		"%a = while carry %j = %t : i32 {\nyield %uniform\n} do %k {\n%c = lt %k, %one : bool\nif %c {\nbarrier\n}\nyield %k\n}":          false,
		"%a = while carry %j = %t : i32 {\nyield %uniform\n} do %k {\nbarrier\nyield %k\n}\n%c = lt %a, %one : bool\nif %c {\nbarrier\n}": false,
	} {
		_, err := kernel.Parse(head + text + "}")
		if ok && err != nil || !ok && (err == nil || !strings.Contains(err.Error(), "a barrier is in")) {
			t.Errorf("%s\ngot %v", text, err)
		}
	}
}
