package spirv

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// atomicTrials returns trials of atomic operations in global and shared memory: what each gives one
// thread, and what many threads make of one element.
func atomicTrials() []trial {
	var out []trial
	ops := []kernel.Op{kernel.AtomicAdd, kernel.AtomicMin, kernel.AtomicMax, kernel.AtomicAnd, kernel.AtomicOr, kernel.AtomicXchg, kernel.AtomicCAS}
	for _, d := range []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64} {
		for _, inShared := range []bool{false, true} {
			for _, op := range ops {
				out = append(out, single(d, inShared, op))
				if op != kernel.AtomicXchg && op != kernel.AtomicCAS {
					out = append(out, many(d, inShared, op))
				}
			}
		}
	}
	return out
}

func place(inShared bool) string {
	if inShared {
		return "shared"
	}
	return "global"
}

// single returns a trial of one thread that does an operation with every pair of numbers.
func single(d ir.DType, inShared bool, op kernel.Op) trial {
	p := pairs(samples(d), samples(d))
	n := len(p[0])
	k := build(op.String()+"_"+d.String()+"_"+place(inShared), nil, func(b *kernel.Builder) {
		x, y, before, after, count := b.Pointer("x", d), b.Pointer("y", d), b.Pointer("before", d), b.Pointer("after", d), b.Scalar("n", ir.I32)
		var cell *kernel.Value
		if inShared {
			cell = b.Shared("cell", d, 1)
		}
		b.Times(count, nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			at, array := i, after
			if inShared {
				at, array = b.Int(0), cell
			}
			b.Store(array, at, b.Load(x, i))
			v := b.Load(y, i)
			operands := []*kernel.Value{v}
			if op == kernel.AtomicCAS { // every third one is replaced
				isThird := b.Eq(b.Rem(i, b.Int(3)), b.Int(0))
				operands = []*kernel.Value{b.Select(isThird, b.Load(x, i), b.Whole(d, 77)), v}
			}
			b.Store(before, i, b.Atomic(op, array, at, operands...))
			if inShared {
				b.Store(after, i, b.Load(cell, at))
			}
			return nil
		})
	})
	return trial{name: k.Name, k: k, grid: [3]int{1, 1, 1},
		args: []any{encode(d, p[0]), encode(d, p[1]), make([]byte, n*d.Size()), make([]byte, n*d.Size()), uint64(n)},
		check: func(t *testing.T, arrays [][]byte) {
			before, after := decode(d, arrays[2]), decode(d, arrays[3])
			for i := range n {
				x, y := p[0][i], p[1][i]
				want := stored(op, d, x, y)
				if op == kernel.AtomicCAS && i%3 != 0 && x != 77 {
					want = x
				}
				if before[i] != x || after[i] != want {
					t.Errorf("%x and %x: %x before, %x after, want %x and %x", x, y, before[i], after[i], x, want)
				}
			}
		}}
}

// stored returns what an atomic operation leaves.
func stored(op kernel.Op, d ir.DType, x, y uint64) uint64 {
	plain, ok := map[kernel.Op]kernel.Op{kernel.AtomicAdd: kernel.Add, kernel.AtomicMin: kernel.Min, kernel.AtomicMax: kernel.Max,
		kernel.AtomicAnd: kernel.And, kernel.AtomicOr: kernel.Or}[op]
	if !ok {
		return y
	}
	r, _ := ofTwo(plain, d, x, y)
	return r
}

// many returns a trial of many threads that do an operation on one element.
func many(d ir.DType, inShared bool, op kernel.Op) trial {
	const threads, blocks = 64, 4
	k := build("many_"+op.String()+"_"+d.String()+"_"+place(inShared), []int{threads}, func(b *kernel.Builder) {
		x, out := b.Pointer("x", d), b.Pointer("out", d)
		v := b.Load(x, b.Global(0))
		if !inShared {
			b.Atomic(op, out, b.Int(0), v)
			return
		}
		cell := b.Shared("cell", d, 1)
		isFirst := b.Eq(b.Thread(0), b.Int(0))
		b.Do(isFirst, func() { b.Store(cell, b.Int(0), b.Load(x, b.Int(0))) })
		b.Barrier()
		b.Atomic(op, cell, b.Int(0), v)
		b.Barrier()
		b.Do(isFirst, func() { b.Store(out, b.BlockIdx(0), b.Load(cell, b.Int(0))) })
	})
	var x []uint64
	for i := range uint64(threads * blocks) {
		x = append(x, low(d, i*0x9e3779b97f4a7c15>>3))
	}
	first := make([]uint64, blocks)
	first[0] = x[0]
	return trial{name: k.Name, k: k, grid: [3]int{blocks, 1, 1}, args: []any{encode(d, x), encode(d, first)}, check: func(t *testing.T, arrays [][]byte) {
		out := decode(d, arrays[1])
		each := threads
		if !inShared {
			each = threads * blocks
		}
		for i := 0; i*each < len(x); i++ {
			want := x[0]
			for _, v := range x[i*each : (i+1)*each] {
				want = stored(op, d, want, v)
			}
			if out[i] != want {
				t.Errorf("block %d: %x, want %x", i, out[i], want)
			}
		}
	}}
}
