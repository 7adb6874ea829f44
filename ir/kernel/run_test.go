package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// seeds is how many orders of blocks and threads tests run kernels in.
const seeds = 5

// run runs a kernel in several orders, of which each must be without an error. before puts the
// memory back.
func run(t *testing.T, k *kernel.Kernel, grid [3]int, before func() []kernel.Arg, check func()) {
	t.Helper()
	for seed := range uint64(seeds) {
		if err := k.Run(grid, before(), kernel.Options{Seed: seed, IgnoreRaces: seed == 1}); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k)
		}
		check()
	}
}

// wantError runs a kernel in several orders, of which each must end with an error that has a text.
func wantError(t *testing.T, k *kernel.Kernel, grid [3]int, args []kernel.Arg, opt kernel.Options, want string) {
	t.Helper()
	for opt.Seed = range uint64(seeds) {
		if err := k.Run(grid, args, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("seed %d: got %v, want %s\n%s", opt.Seed, err, want, k)
		}
	}
}

// TestTransposition asserts that a transposition through shared memory is right, and that without
// its barrier there is a race.
func TestTransposition(t *testing.T) {
	const m, n = 32, 48
	x, y := make([]float32, m*n), make([]float32, m*n)
	for i := range x {
		x[i] = float32(i)
	}
	args := func() []kernel.Arg {
		clear(y)
		return []kernel.Arg{kernel.Memory(x), kernel.Memory(y), kernel.Number(int32(m)), kernel.Number(int32(n))}
	}
	run(t, parse(t, transposition), [3]int{n / 16, m / 16, 1}, args, func() {
		for i := range n {
			for j := range m {
				if y[i*m+j] != x[j*n+i] {
					t.Fatalf("element %d, %d is %v", i, j, y[i*m+j])
				}
			}
		}
	})
	bare := parse(t, strings.Replace(transposition, "  barrier\n", "", 1))
	for seed := range uint64(seeds) {
		err := bare.Run([3]int{n / 16, m / 16, 1}, args(), kernel.Options{Seed: seed})
		if err == nil || !strings.Contains(err.Error(), "%tile[") || !strings.Contains(err.Error(), "a race: ") && !strings.Contains(err.Error(), " was not written") {
			t.Errorf("without a barrier: got %v", err)
		}
	}
}

// TestHistogram asserts that atomic additions in shared and global memory count, and that additions
// that are not atomic are races.
func TestHistogram(t *testing.T) {
	x := make([]uint8, 1000)
	want := make([]uint32, 256)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = uint8(r.IntN(50))
		want[x[i]]++
	}
	h := make([]uint32, 256)
	args := func() []kernel.Arg {
		clear(h)
		return []kernel.Arg{kernel.Memory(x), kernel.Memory(h), kernel.Number(int32(len(x)))}
	}
	run(t, parse(t, histogram), [3]int{4, 1, 1}, args, func() {
		if !slices.Equal(h, want) {
			t.Errorf("got %v, want %v", h, want)
		}
	})
	shared := strings.Replace(histogram, "%14 = atomic_add %count[%13], %4 : u32", "%18 = load %count[%13] : u32 %19 = add %18, %4 : u32 store %count[%13], %19", 1)
	wantError(t, parse(t, shared), [3]int{4, 1, 1}, args(), kernel.Options{}, "a race: ")
	global := strings.Replace(histogram, "%17 = atomic_add %h[%15], %16 : u32", "%18 = load %h[%15] : u32 %19 = add %18, %16 : u32 store %h[%15], %19", 1)
	wantError(t, parse(t, global), [3]int{4, 1, 1}, args(), kernel.Options{}, "a race: another block has ")
	if err := parse(t, global).Run([3]int{4, 1, 1}, args(), kernel.Options{IgnoreRaces: true}); err != nil {
		t.Errorf("with races ignored: %v", err)
	}
}

// reduction builds a kernel in which each block adds its numbers in a tree. Without barriers it is
// wrong.
func reduction(t *testing.T, barriers bool) *kernel.Kernel {
	const threads = 64
	return build(t, "block_sums", []int{threads}, func(b *kernel.Builder) {
		x, y := b.Pointer("x", ir.F32), b.Pointer("y", ir.F32)
		part := b.Shared("part", ir.F32, threads)
		tid := b.Thread(0)
		b.Store(part, tid, b.Load(x, b.Global(0)))
		wait := func() {
			if barriers {
				b.Barrier()
			}
		}
		for half := threads / 2; half > 0; half /= 2 {
			wait()
			b.Do(b.Lt(tid, b.Int(half)), func() {
				b.Store(part, tid, b.Add(b.Load(part, tid), b.Load(part, b.Add(tid, b.Int(half)))))
			})
		}
		b.Do(b.Eq(tid, b.Int(0)), func() { b.Store(y, b.BlockIdx(0), b.Load(part, tid)) })
	})
}

// TestReduction asserts that a reduction in shared memory is right with its barriers only.
func TestReduction(t *testing.T) {
	x, y := make([]float32, 256), make([]float32, 4)
	for i := range x {
		x[i] = float32(i)
	}
	args := func() []kernel.Arg { return []kernel.Arg{kernel.Memory(x), kernel.Memory(y)} }
	run(t, reduction(t, true), [3]int{4, 1, 1}, args, func() {
		if want := []float32{2016, 6112, 10208, 14304}; !slices.Equal(y, want) {
			t.Errorf("got %v, want %v", y, want)
		}
	})
	for seed := range uint64(seeds) {
		err := reduction(t, false).Run([3]int{4, 1, 1}, args(), kernel.Options{Seed: seed})
		if err == nil || !strings.Contains(err.Error(), "a race: thread ") && !strings.Contains(err.Error(), " was not written") {
			t.Errorf("without barriers: got %v", err)
		}
	}
}

// TestRunErrors asserts what is said of kernels that do what they must not.
func TestRunErrors(t *testing.T) {
	const head = "kernel k(%x: global f32 written, %h: global u32 written, %n: i32) block 4, 1, 1 {\nshared %s: f32[8] written\n" +
		"%t = thread x : i32\n%b = block x : i32\n%zero = const 0 : i32\n%one = const 1 : i32\n%u = const 1 : u32\n%z = const 2.5 : f32\n" +
		"%first = eq %t, %zero : bool\n%last = eq %b, %one : bool\n"
	for _, c := range []struct {
		text, want string // what "" is said of is right
	}{
		{"%0 = load %x[%t] : f32", ""},
		{"%0 = load %x[%n] : f32", "0): %0 = load %x[%n] : f32: element 40 of 40"},
		{"%0 = sub %zero, %one : i32 %1 = load %x[%0] : f32", "%1 = load %x[%0] : f32: element -1 of 40"},
		{"%0 = convert %n : i64 %2 = mul %0, %0 : i64 %3 = mul %2, %2 : i64 %4 = mul %3, %3 : i64 %1 = load %x[%4] : f32", "element 6553600000000 of 40"},
		{"%0 = const 38 : i32 %1, %2, %3, %4 = load %x[%0] : f32", "element 38 of 40"},
		{"%0 = const 36 : i32 %1, %2, %3, %4 = load %x[%0] : f32", ""},
		{"%0 = const 8 : i32 store %s[%0], %z", "store %s[%0], %z: element 8 of 8"},
		{"%0 = load %s[%t] : f32", ": %0 = load %s[%t] : f32: element "},
		{"store %s[%t], %z\n%1 = load %s[%t] : f32", ""},
		{"store %s[%t], %z\nbarrier\n%0 = const 4 : i32 %1 = add %t, %0 : i32 %2 = load %s[%1] : f32", "was not written"},
		{"%1, %2 = load %x[%one] : f32", "%1, %2 = load %x[%one] : f32: element 1 begins 2 adjacent ones, but is not at a multiple of 2"},
		{"%0 = rem %n, %zero : i32", "%0 = rem %n, %zero : i32: a division by 0"},
		{"%0 = div %t, %t : i32", "thread (0, 0, 0): %0 = div %t, %t : i32: a division by 0"},
		{"%0 = shl %one, %n : i32", "%0 = shl %one, %n : i32: a shift by 40"},
		{"for %i = %zero to %n by %t {\n}", "thread (0, 0, 0): for %i = %zero to %n by %t: the step is 0"},
		{"%0 = const 2147483647 : i32 %1 = const 2147483640 : i32 %2 = const 5 : i32 for %i = %1 to %0 by %2 {\n}", "the counter overflows after 2147483645"},
		{"%0 = const true : bool\nwhile {\nyield %0\n} do {\n}", ": while: the budget of instructions is used up"},
		{"if %first {\nbarrier\n}", "thread (0, 0, 0): barrier: thread ("},
		{"if %first {\nbarrier\n}", " has ended"},
		{"if %first {\nbarrier\n} else {\nbarrier\n}", "waits at another barrier"},
		{"%0 = load %x[%zero] : f32 %1 = lt %0, %z : bool if %1 {\nbarrier\n}", ""}, // alike, though from memory
		// Races in shared memory.
		{"store %s[%zero], %z", ": store %s[%zero], %z: a race: thread ("},
		{"if %first {\nstore %s[%zero], %z\n}\nbarrier\n%0 = load %s[%zero] : f32", ""},
		{"if %first {\nstore %s[%zero], %z\n}\nbarrier\n%0 = load %s[%zero] : f32 if %first {\nstore %s[%zero], %0\n}", " element 0"},
		{"if %first {\nstore %s[%zero], %z\n}\nbarrier\n%0 = load %s[%zero] : f32 barrier if %first {\nstore %s[%zero], %0\n}", ""},
		// Races in global memory: within a block, and between blocks.
		{"if %last {\n%0 = load %x[%zero] : f32 store %x[%zero], %0\n}", "block (1, 0, 0), thread ("},
		{"if %last {\nif %first {\nstore %x[%zero], %z\n}\n}", ""},
		{"if %first {\n%0 = load %x[%zero] : f32\nif %last {\nstore %x[%zero], %z\n}\n}", "a race: another block has "},
		{"%0 = load %x[%b] : f32\nif %first {\nif %last {\nstore %x[%zero], %z\n}\n}", "a race: another block has "},
		{"if %first {\n%0 = load %x[%b] : f32 store %x[%b], %z\n}", ""},
		{"barrier if %first {\nstore %x[%zero], %z\n}", "a race: another block has stored element 0"},
		{"%0 = atomic_add %h[%zero], %u : u32", ""},
		{"%0 = atomic_add %h[%zero], %u : u32 barrier %1 = load %h[%zero] : u32", "a race: "},
		{"%0 = atomic_add %h[%b], %u : u32 barrier %1 = load %h[%b] : u32", ""},
		{"%0 = atomic_add %h[%b], %u : u32 %1 = load %h[%b] : u32", "a race: "},
	} {
		k := withoutVerify(t, head+c.text+"\n}")
		x, h := make([]float32, 40), make([]uint32, 2)
		args := []kernel.Arg{kernel.Memory(x), kernel.Memory(h), kernel.Number(int32(len(x)))}
		opt := kernel.Options{Budget: 10000}
		for opt.Seed = range uint64(seeds) {
			err := k.Run([3]int{2, 1, 1}, args, opt)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
				break
			}
		}
	}
}

// withoutVerify returns the kernel of a text, whose barriers may be where Verify does not allow
// them.
func withoutVerify(t *testing.T, text string) *kernel.Kernel {
	if k, err := kernel.Parse(text); err == nil {
		return k
	}
	for i := 0; strings.Contains(text, "barrier"); i++ {
		text = strings.Replace(text, "barrier", fmt.Sprintf("%%marker%d = block z : i32", i), 1)
	}
	k := parse(t, text)
	var replace func(b *kernel.Block)
	replace = func(b *kernel.Block) {
		for _, in := range b.Instrs {
			if in.Op == kernel.BlockIdx && in.Dim == 2 {
				*in = kernel.Instr{Op: kernel.Barrier}
			}
			for _, inner := range in.Blocks {
				replace(inner)
			}
		}
	}
	replace(k.Body)
	return k
}

// TestArguments asserts what is said of wrong arguments and grids.
func TestArguments(t *testing.T) {
	k := parse(t, "kernel k(%x: global f32, %n: i32) block 1, 1, 1 {}")
	x, n := kernel.Memory(make([]float32, 3)), kernel.Number(int32(3))
	for _, c := range []struct {
		grid [3]int
		args []kernel.Arg
		want string
	}{
		{[3]int{1, 1, 1}, []kernel.Arg{x, n}, ""},
		{[3]int{1, 1, 1}, []kernel.Arg{kernel.Memory[float32](nil), n}, ""},
		{[3]int{1, 0, 1}, []kernel.Arg{x, n}, "kernel k: a grid of 1 × 0 × 1 blocks, want 1 to 16777216"},
		{[3]int{1 << 20, 1 << 20, 1 << 30}, []kernel.Arg{x, n}, "kernel k: a grid of 1048576 × 1048576 × 1073741824 blocks, want 1 to 16777216"},
		{[3]int{1, 1, 1}, []kernel.Arg{x}, "kernel k: 1 arguments for 2 parameters"},
		{[3]int{1, 1, 1}, []kernel.Arg{n, n}, "kernel k: the argument for %x is of type i32, want global f32"},
		{[3]int{1, 1, 1}, []kernel.Arg{x, kernel.Number(uint32(3))}, "kernel k: the argument for %n is of type u32, want i32"},
		{[3]int{1, 1, 1}, []kernel.Arg{kernel.Bytes(ir.F32, make([]byte, 7)), n}, "kernel k: the argument for %x has 7 bytes, which is not a number of elements"},
	} {
		err := k.Run(c.grid, c.args, kernel.Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestOverlap asserts that races are found between arguments that share memory, whatever the widths
// of their elements.
func TestOverlap(t *testing.T) {
	k := parse(t, `kernel k(%x: global u8, %y: global u32 written, %n: i32) block 4, 1, 1 {
%0 = thread x : i32
%1 = add %0, %n : i32
%2 = load %x[%1] : u8
%3 = convert %2 : u32
store %y[%0], %3
}`)
	data := make([]byte, 32)
	run := func(at int, n int32) error {
		return k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Bytes(ir.U8, data[:20]), kernel.Bytes(ir.U32, data[at:][:16]), kernel.Number(n)}, kernel.Options{})
	}
	for _, c := range []struct {
		at   int
		n    int32
		race bool
	}{{16, 0, false}, {0, 16, false}, {0, 15, true}, {16, 13, true}, {16, 15, true}, {4, 0, false}, {3, 0, true}, {2, 0, true}, {13, 0, false}, {13, 9, false}, {13, 14, true}} {
		if err := run(c.at, c.n); (err != nil) != c.race || err != nil && !strings.Contains(err.Error(), "a race: thread ") {
			t.Errorf("u32 at byte %d, u8 at %d: got %v", c.at, c.n, err)
		}
	}
}

// TestControlFlow asserts that loops and branches give what Go's give.
func TestControlFlow(t *testing.T) {
	k := build(t, "control", []int{8}, func(b *kernel.Builder) {
		y := b.Pointer("y", ir.I32)
		n := b.Scalar("n", ir.I32)
		i := b.Global(0)
		// Fibonacci numbers: a carried value is copied to another one.
		fib := b.Times(i, []*kernel.Value{b.Int(1), b.Int(0)}, func(_ *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Add(c[0], c[1]), c[0]}
		})
		// Collatz's steps to 1 of i + 1.
		steps := b.While([]*kernel.Value{b.Add(i, b.Int(1)), b.Int(0)}, func(c []*kernel.Value) *kernel.Value {
			return b.Ne(c[0], b.Int(1))
		}, func(c []*kernel.Value) []*kernel.Value {
			next := b.If(b.Eq(b.Rem(c[0], b.Int(2)), b.Int(0)), func() []*kernel.Value {
				return []*kernel.Value{b.Div(c[0], b.Int(2)), c[1]}
			}, func() []*kernel.Value {
				return []*kernel.Value{b.Add(b.Mul(c[0], b.Int(3)), b.Int(1)), c[1]}
			})
			return []*kernel.Value{next[0], b.Add(next[1], b.Int(1))}
		})
		// A loop that does not run, one with a step, and nested ones.
		none := b.For(b.Int(3), b.Int(3), b.Int(1), []*kernel.Value{i}, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Int(-1)}
		})
		sum := b.For(i, n, b.Int(3), []*kernel.Value{none[0]}, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return b.Times(j, c, func(l *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{b.Add(c[0], l)}
			})
		})
		at := b.Mul(i, b.Int(4))
		b.Store(y, at, fib[1], fib[0], steps[1], sum[0])
	})
	var y [16 * 4]int32
	const n = 20
	args := func() []kernel.Arg { clear(y[:]); return []kernel.Arg{kernel.Memory(y[:]), kernel.Number(int32(n))} }
	run(t, k, [3]int{2, 1, 1}, args, func() {
		for i := range int32(16) {
			f, g := int32(0), int32(1)
			for range i {
				f, g = g, f+g
			}
			steps := int32(0)
			for c := i + 1; c != 1; steps++ {
				if c%2 == 0 {
					c /= 2
				} else {
					c = 3*c + 1
				}
			}
			sum := i
			for j := i; j < n; j += 3 {
				for l := range j {
					sum += l
				}
			}
			if got, want := [4]int32(y[4*i:]), [4]int32{f, g, steps, sum}; got != want {
				t.Errorf("thread %d: got %v, want %v", i, got, want)
			}
		}
	})
}

// TestIndexes asserts that every thread of a grid with three dimensions gets its indexes.
func TestIndexes(t *testing.T) {
	k := build(t, "indexes", []int{2, 3, 4}, func(b *kernel.Builder) {
		y := b.Pointer("y", ir.I32)
		i := b.Int(0)
		for dim, n := range []int{2 * 3, 3 * 2, 4 * 5} {
			i = b.Add(b.Mul(i, b.Int(n)), b.Global(dim))
		}
		b.Store(y, i, b.Add(b.Load(y, i), b.Int(1)))
	})
	y := make([]int32, 24*30)
	args := func() []kernel.Arg { clear(y); return []kernel.Arg{kernel.Memory(y)} }
	run(t, k, [3]int{3, 2, 5}, args, func() {
		for i, n := range y {
			if n != 1 {
				t.Fatalf("element %d was reached %d times", i, n)
			}
		}
	})
}

// BenchmarkRun runs a block of 256 threads with a few hundred instructions each.
func BenchmarkRun(b *testing.B) {
	k := build(b, "busy", []int{256}, func(k *kernel.Builder) {
		x, y := k.Pointer("x", ir.F32), k.Pointer("y", ir.F32)
		i := k.Thread(0)
		sum := k.Times(k.Int(40), []*kernel.Value{k.Float(ir.F32, 0)}, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
			v := k.Load(x, k.Add(k.Mul(j, k.Int(256)), i))
			return []*kernel.Value{k.Fma(v, k.Float(ir.F32, 1.5), k.Add(c[0], v))}
		})
		k.Store(y, i, sum[0])
	})
	x, y := make([]float32, 256*40), make([]float32, 256)
	for name, opt := range map[string]kernel.Options{"races": {}, "ignored": {IgnoreRaces: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Memory(x), kernel.Memory(y)}, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
