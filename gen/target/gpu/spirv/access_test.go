package spirv

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// accesses returns trials of loads and stores of every type and number of elements, in global and
// shared memory, with indices that are constants and that are not.
func accesses() []trial {
	var out []trial
	for _, d := range types {
		for n := 1; n == 1 || n*d.Size() <= 16; n *= 2 {
			name := fmt.Sprintf("%s_%d", d, n)
			out = append(out, copies("global_"+name, d, n, func(b *kernel.Builder, from, to *kernel.Value) {
				i := b.Mul(b.Global(0), b.Int(n))
				b.Store(to, i, b.LoadN(from, i, n)...)
			}))
			out = append(out, copies("long_"+name, d, n, func(b *kernel.Builder, from, to *kernel.Value) {
				i := b.Mul(b.Convert(ir.I64, b.Global(0)), b.Whole(ir.I64, int64(n)))
				b.Store(to, i, b.LoadN(from, i, n)...)
			}))
			out = append(out, copies("constant_"+name, d, n, func(b *kernel.Builder, from, to *kernel.Value) {
				i := b.Global(0)
				b.Do(b.Eq(i, b.Int(0)), func() {
					for i := range 3 {
						b.Store(to, b.Int(i*n), b.LoadN(from, b.Int(i*n), n)...)
					}
				})
				b.Do(b.Ge(i, b.Int(3)), func() {
					i := b.Mul(i, b.Int(n))
					b.Store(to, i, b.LoadN(from, i, n)...)
				})
			}))
			out = append(out, copies("shared_"+name, d, n, func(b *kernel.Builder, from, to *kernel.Value) {
				// The block reverses its elements twice through shared memory.
				s, once := b.Shared("tile", d, 16*n), b.Shared("back", d, 16*n)
				i := b.Mul(b.Global(0), b.Int(n))
				t := b.Thread(0)
				r := b.Mul(b.Sub(b.Int(15), t), b.Int(n))
				b.Store(s, r, b.LoadN(from, i, n)...)
				b.Barrier()
				b.Store(once, b.Mul(t, b.Int(n)), b.LoadN(s, b.Mul(t, b.Int(n)), n)...)
				b.Barrier()
				b.Store(to, i, b.LoadN(once, r, n)...)
			}))
			if n > 1 {
				// Wide accesses meet narrow ones.
				out = append(out, copies("mixed_"+name, d, n, func(b *kernel.Builder, from, to *kernel.Value) {
					s := b.Shared("tile", d, 16*n)
					i, t := b.Mul(b.Global(0), b.Int(n)), b.Mul(b.Thread(0), b.Int(n))
					for j, v := range b.LoadN(from, i, n) {
						b.Store(s, b.Binary(kernel.Xor, t, b.Int(j)), v) // t + j, which the builder does not join
					}
					b.Barrier()
					b.Store(to, i, b.LoadN(s, t, n)...)
				}))
			}
			if n >= 4 {
				out = append(out, copies("halves_"+name, d, n, func(b *kernel.Builder, from, to *kernel.Value) {
					s := b.Shared("tile", d, 16*n)
					i, t := b.Mul(b.Global(0), b.Int(n)), b.Mul(b.Thread(0), b.Int(n))
					x := b.LoadN(from, i, n)
					b.Store(s, t, x[:n/2]...)
					b.Store(s, b.Add(t, b.Int(n/2)), x[n/2:]...)
					b.Barrier()
					b.Store(to, i, b.LoadN(s, t, n)...)
				}))
			}
		}
	}
	out = append(out, scalars(), backwards(), indices(), neighbours(ir.U8), neighbours(ir.Bool), neighbours(ir.U16))
	for _, d := range []ir.DType{ir.Bool, ir.I8, ir.U16, ir.BF16} {
		for shift := d.Size(); shift < 4; shift += d.Size() {
			out = append(out, unaligned(d, shift))
		}
	}
	return out
}

// copies returns a trial of a kernel that copies 32 times n elements with 2 blocks of 16 threads.
func copies(name string, d ir.DType, n int, fill func(b *kernel.Builder, from, to *kernel.Value)) trial {
	k := build("copy_"+name, []int{16}, func(b *kernel.Builder) {
		fill(b, b.Pointer("from", d), b.Pointer("to", d))
	})
	r := rand.New(rand.NewPCG(2, uint64(d)))
	from := make([]byte, 32*n*d.Size())
	for i := range from {
		from[i] = byte(r.Uint32())
	}
	want := bytes.Clone(from)
	if d == ir.Bool {
		for i := range from {
			from[i] *= from[i] & 1
			want[i] = byte(truth(from[i] != 0))
		}
	}
	if d == ir.F32 || d == ir.F64 { // devices may change NaNs
		var numbers []uint64
		for i := range 32 * n {
			numbers = append(numbers, bitsOf(d, float64(i)-3.25))
		}
		from = encode(d, numbers)
		want = from
	}
	return trial{name: "copy_" + name, k: k, grid: [3]int{2, 1, 1}, args: []any{from, make([]byte, len(from))},
		check: func(t *testing.T, arrays [][]byte) {
			if !bytes.Equal(arrays[1], want) {
				t.Errorf("copied\n%x to\n%x, want\n%x", from, arrays[1], want)
			}
		}}
}

// scalars returns a trial of parameters of every type.
func scalars() trial {
	list := []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}
	args := make([]any, 0, 12)
	k := build("scalars", nil, func(b *kernel.Builder) {
		for i, d := range list {
			x := b.Scalar("x_"+d.String(), d)
			p := b.Pointer("p_"+d.String(), d)
			b.Store(p, b.Int(0), b.Add(x, b.Number(d, 1)))
			args = append(args, bitsOf(ir.F32, float64(i)), make([]byte, d.Size()))
			if d == ir.F64 {
				args[2*i] = bitsOf(d, float64(i))
			} else if !d.IsFloat() {
				args[2*i] = low(d, uint64(-i))
			}
		}
	})
	return trial{name: "scalars", k: k, grid: [3]int{1, 1, 1}, args: args, check: func(t *testing.T, arrays [][]byte) {
		for i, d := range list {
			want := low(d, uint64(1-i))
			if d.IsFloat() {
				want = bitsOf(d, float64(i+1))
			}
			if got := decode(d, arrays[i])[0]; got != want {
				t.Errorf("%s is %x, want %x", d, got, want)
			}
		}
	}}
}

// backwards returns a trial of negative indices: an element is reached by going on too far and back.
func backwards() trial {
	k := build("backwards", []int{8}, func(b *kernel.Builder) {
		from, to, at := b.Pointer("from", ir.I32), b.Pointer("to", ir.I32), b.Scalar("at", ir.I32)
		i := b.Global(0)
		b.Store(to, b.Add(b.Sub(i, at), at), b.Load(from, b.Sub(b.Int(7), i)))
	})
	from, want := []uint64{0, 1, 2, 3, 4, 5, 6, 7}, []uint64{7, 6, 5, 4, 3, 2, 1, 0}
	return trial{name: "backwards", k: k, grid: [3]int{1, 1, 1}, args: []any{encode(ir.I32, from), make([]byte, 32), uint64(1 << 30)},
		check: func(t *testing.T, arrays [][]byte) {
			if got := arrays[1]; !bytes.Equal(got, encode(ir.I32, want)) {
				t.Errorf("got %x", got)
			}
		}}
}

// indices returns a trial of the indices of threads and blocks in three dimensions.
func indices() trial {
	block, grid := [3]int{4, 2, 3}, [3]int{2, 3, 2}
	k := build("indices", block[:], func(b *kernel.Builder) {
		out := b.Pointer("out", ir.I32)
		linear := b.Int(0)
		code := b.Int(0)
		for dim := 2; dim >= 0; dim-- {
			linear = b.Add(b.Mul(linear, b.Int(grid[dim]*block[dim])), b.Global(dim))
			code = b.Add(b.Mul(code, b.Int(100)), b.Add(b.Mul(b.BlockIdx(dim), b.Int(10)), b.Thread(dim)))
		}
		b.Store(out, linear, code)
	})
	var want []uint64
	for z := range grid[2] * block[2] {
		for y := range grid[1] * block[1] {
			for x := range grid[0] * block[0] {
				want = append(want, uint64((z/block[2]*10+z%block[2])*10000+(y/block[1]*10+y%block[1])*100+x/block[0]*10+x%block[0]))
			}
		}
	}
	return trial{name: "indices", k: k, grid: grid, args: []any{make([]byte, 4*len(want))}, check: func(t *testing.T, arrays [][]byte) {
		if !bytes.Equal(arrays[0], encode(ir.I32, want)) {
			t.Errorf("got %v, want %v", decode(ir.I32, arrays[0]), want)
		}
	}}
}

// neighbours returns a trial in which many threads store elements next to each other, but leave some.
func neighbours(d ir.DType) trial {
	const n = 4096
	k := build("neighbours_"+d.String(), []int{64}, func(b *kernel.Builder) {
		to := b.Pointer("to", d)
		i := b.Global(0)
		b.Do(b.Ne(b.Rem(i, b.Int(3)), b.Int(1)), func() {
			b.Store(to, i, b.Convert(d, b.And(i, b.Int(5))))
		})
	})
	before := bytes.Repeat([]byte{0xab}, n*d.Size())
	var want []uint64
	for i, old := range decode(d, before) {
		v := uint64(i & 5)
		if d == ir.Bool {
			v = truth(v != 0)
		}
		if i%3 == 1 {
			v = old
		}
		want = append(want, v)
	}
	return trial{name: "neighbours_" + d.String(), k: k, grid: [3]int{n / 64, 1, 1}, args: []any{before}, check: func(t *testing.T, arrays [][]byte) {
		if !bytes.Equal(arrays[0], encode(d, want)) {
			t.Errorf("got\n%x, want\n%x", arrays[0], encode(d, want))
		}
	}}
}

// unaligned returns a trial of arrays that do not begin at a word. Each thread copies an element, and the one after it.
func unaligned(d ir.DType, shift int) trial {
	c := copies(fmt.Sprintf("unaligned_%s_%d", d, shift), d, 2, func(b *kernel.Builder, from, to *kernel.Value) {
		i := b.Mul(b.Global(0), b.Int(2))
		for _, at := range []*kernel.Value{i, b.Convert(ir.I64, b.Add(i, b.Int(1)))} {
			b.Store(to, at, b.Load(from, at))
		}
	})
	c.shift = shift
	return c
}
