package ptx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestVectors moves adjacent elements of every type and number through registers and shared memory.
func TestVectors(t *testing.T) {
	const threads = 4
	for _, d := range all {
		for n := 1; n <= 16 && (n == 1 || n*d.Size() <= 16); n *= 2 {
			values := oddValues(d)
			in := make([]uint64, threads*n)
			for i := range in {
				in[i] = values[(i*5+1)%len(values)]
				if d == ir.Bool {
					in[i] = []uint64{0, 1, 2, 0, 255}[i%5]
				}
			}
			k := build(t, "vectors", []int{threads}, func(b *kernel.Builder) {
				x, y := b.Pointer("x", d), b.Pointer("y", d)
				s := b.Shared("tile", d, threads*n)
				i := b.Mul(b.Thread(0), b.Int(n))
				b.Store(s, i, b.LoadN(x, i, n)...)
				b.Barrier()
				j := b.Mul(b.Sub(b.Int(threads-1), b.Thread(0)), b.Int(n)) // of another thread
				v := slices.Clone(b.LoadN(s, j, n))
				slices.Reverse(v)
				b.Store(y, i, v...)
			})
			want := slices.Clone(in)
			slices.Reverse(want)
			if d == ir.Bool {
				for i, x := range want {
					want[i] = min(x, 1)
				}
			}
			got := make([]uint64, len(in))
			text := run(t, k, single, array(d, in...), array(d, got...))
			if !slices.Equal(got, want) {
				t.Errorf("%d of %s: %#x, want %#x", n, d, got, want)
			}
			if loads := strings.Count(text, "ld.global") + strings.Count(text, "ld.shared"); loads != 2 {
				t.Errorf("%d of %s: %d loads, want 2", n, d, loads)
			}
		}
	}
}

// TestVectorOfConstants stores constants next to each other.
func TestVectorOfConstants(t *testing.T) {
	for _, d := range all {
		n := min(16, 16/d.Size())
		values := oddValues(d)
		want := make([]uint64, n)
		k := build(t, "constants", nil, func(b *kernel.Builder) {
			y := b.Pointer("y", d)
			v := make([]*kernel.Value, n)
			for i := range v {
				want[i] = values[i%len(values)]
				v[i] = constantOf(b, d, want[i])
			}
			b.Store(y, b.Int(0), v...)
		})
		got := make([]uint64, n)
		run(t, k, single, array(d, got...))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %#x, want %#x", d, got, want)
		}
	}
}

// TestIndexes reaches elements with constant and computed indexes of both types, also behind a
// negative one.
func TestIndexes(t *testing.T) {
	for _, d := range []ir.DType{ir.I32, ir.I64} {
		for _, size := range []ir.DType{ir.U8, ir.U16, ir.F32, ir.F64} {
			k := build(t, "indexes", nil, func(b *kernel.Builder) {
				x, y, at := b.Pointer("x", size), b.Pointer("y", size), b.Pointer("at", d)
				s := b.Shared("tile", size, 8)
				i, minus := b.Load(at, b.Int(0)), b.Load(at, b.Int(1)) // 5 and -3
				five := b.Add(b.Add(i, minus), b.Whole(d, 3))
				b.Store(y, b.Whole(d, 0), b.Load(x, five))
				b.Store(y, b.Whole(d, 1), b.Load(x, b.Whole(d, 7)))
				b.Store(s, five, b.Load(x, b.Add(minus, b.Whole(d, 4))))
				b.Store(s, b.Whole(d, 3), b.Load(x, b.Whole(d, 0)))
				b.Store(y, b.Whole(d, 2), b.Load(s, b.Whole(d, 5)))
				b.Store(y, b.Whole(d, 3), b.Load(s, b.Add(minus, b.Whole(d, 6))))
			})
			got := make([]uint64, 4)
			run(t, k, single, array(size, 10, 11, 12, 13, 14, 15, 16, 17), array(size, got...), array(d, 5, ^uint64(2)))
			if want := []uint64{15, 17, 11, 10}; !slices.Equal(got, want) {
				t.Errorf("%s %s: %v, want %v", d, size, got, want)
			}
		}
	}
}

// TestNegativeIndex steps back from a pointer into a buffer.
func TestNegativeIndex(t *testing.T) {
	k := build(t, "back", nil, func(b *kernel.Builder) {
		x, y := b.Pointer("x", ir.F32), b.Pointer("y", ir.U32)
		b.Store(y, b.Int(0), b.Bitcast(ir.U32, b.Load(x, b.Int(-2))))
	})
	mem := buffers{make([]byte, 16)}
	text := run(t, k, single, number(mem.address(1)+8), array(ir.U32, 77, 0, 0)) // x points into y
	if !strings.Contains(text, "+-8]") {
		t.Errorf("no offset of -8 in\n%s", text)
	}
}

// TestNoReadOnlyCache asserts that memory which a kernel only reads through a parameter is not read as if
// it never changed: another parameter may point to the same memory.
func TestNoReadOnlyCache(t *testing.T) {
	k := build(t, "reads", nil, func(b *kernel.Builder) {
		x, y := b.Pointer("x", ir.F32), b.Pointer("y", ir.F32)
		b.Store(y, b.Int(0), b.Add(b.Load(x, b.Int(0)), b.Load(y, b.Int(0))))
	})
	text, err := Write(k)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, ".nc") || strings.Count(text, "\tld.global.f32") != 2 {
		t.Errorf("two plain loads expected in\n%s", text)
	}
}

// TestAtomics applies each atomic operation to elements of both memories.
func TestAtomics(t *testing.T) {
	for o := kernel.AtomicAdd; o <= kernel.AtomicCAS; o++ {
		for _, d := range []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64} {
			t.Run(fmt.Sprintf("%s_%s", o, d), func(t *testing.T) { testAtomic(t, o, d) })
		}
	}
}

func testAtomic(t *testing.T, o kernel.Op, d ir.DType) {
	values := oddValues(d)
	n := len(values)
	other := slices.Clone(values)
	slices.Reverse(other)
	k := build(t, "atomics", []int{n}, func(b *kernel.Builder) {
		x, y, before, after := b.Pointer("x", d), b.Pointer("y", d), b.Pointer("before", d), b.Pointer("after", d)
		s := b.Shared("tile", d, n)
		i := b.Thread(0)
		args := func(v *kernel.Value) []*kernel.Value {
			if o == kernel.AtomicCAS { // every second element is as expected
				return []*kernel.Value{b.Select(b.Eq(b.And(i, b.Int(1)), b.Int(0)), v, b.Not(v)), b.Load(y, i)}
			}
			return []*kernel.Value{b.Load(y, i)}
		}
		b.Store(s, i, b.Load(x, i))
		v := b.Load(s, i)
		b.Store(before, i, b.Atomic(o, s, i, args(v)...))
		b.Store(after, i, b.Load(s, i))
		b.Store(before, b.Add(i, b.Int(n)), b.Atomic(o, x, i, args(v)...))
	})
	combine := map[kernel.Op]kernel.Op{kernel.AtomicAdd: kernel.Add, kernel.AtomicMin: kernel.Min, kernel.AtomicMax: kernel.Max,
		kernel.AtomicAnd: kernel.And, kernel.AtomicOr: kernel.Or}
	want := make([]uint64, n)
	for i, x := range values {
		switch {
		case o == kernel.AtomicXchg, o == kernel.AtomicCAS && i%2 == 0:
			want[i] = other[i]
		case o == kernel.AtomicCAS:
			want[i] = x
		default:
			want[i], _, _ = reference(combine[o], d, x, other[i])
		}
	}
	x, before, after := slices.Clone(values), make([]uint64, 2*n), make([]uint64, n)
	run(t, k, single, array(d, x...), array(d, other...), array(d, before...), array(d, after...))
	compare(t, "global memory", d, x, want)
	compare(t, "shared memory", d, after, want)
	compare(t, "before", d, before, append(slices.Clone(values), values...))
}

// TestContention counts with many threads on few elements.
func TestContention(t *testing.T) {
	const bins = 5
	k := build(t, "histogram", []int{64}, func(b *kernel.Builder) {
		x, y := b.Pointer("x", ir.U8), b.Pointer("y", ir.U32)
		s := b.Shared("bins", ir.U32, bins)
		i := b.Thread(0)
		b.Do(b.Lt(i, b.Int(bins)), func() { b.Store(s, i, b.Whole(ir.U32, 0)) })
		b.Barrier()
		b.Atomic(kernel.AtomicAdd, s, b.Convert(ir.I32, b.Load(x, b.Global(0))), b.Whole(ir.U32, 1))
		b.Barrier()
		b.Do(b.Lt(i, b.Int(bins)), func() { b.Atomic(kernel.AtomicAdd, y, i, b.Load(s, i)) })
	})
	x, want, got := make([]uint64, 256), make([]uint64, bins), make([]uint64, bins)
	for i := range x {
		x[i] = uint64(i * i % 7 % bins)
		want[x[i]]++
	}
	run(t, k, [3]int{4, 1, 1}, array(ir.U8, x...), array(ir.U32, got...))
	compare(t, "bins", ir.U32, got, want)
}

// TestScalars passes numbers of every type that parameters may have.
func TestScalars(t *testing.T) {
	types := []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}
	k := build(t, "scalars", nil, func(b *kernel.Builder) {
		for _, d := range types {
			b.Store(b.Pointer("y_"+d.String(), d), b.Int(0), b.Scalar("x_"+d.String(), d))
		}
	})
	var args []arg
	for i, d := range types {
		args = append(args, array(d, 0), number(0xfedcba9876543210+uint64(i)))
	}
	run(t, k, single, args...)
	for i, d := range types {
		want := 0xfedcba9876543210 + uint64(i)
		if d.Bits() == 32 {
			want &= 0xffffffff // the high bytes mean nothing
		}
		if got := args[2*i].values[0]; got != want {
			t.Errorf("%s: %#x, want %#x", d, got, want)
		}
	}
}
