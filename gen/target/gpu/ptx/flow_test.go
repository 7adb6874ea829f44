package ptx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestFor runs loops whose carried values change places in every iteration, with constant bounds and
// with bounds that the kernel is given, and with all ways of unrolling.
func TestFor(t *testing.T) {
	loops := [][3]int32{{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}, {0, 7, 1}, {0, 13, 1}, {5, 3, 1}, {-4, 3, 1},
		{0, 10, 3}, {0, 9, 3}, {2, 23, 4}, {0, 12, 1}, {-7, -2, 2}, {3, 10, 100},
		{math.MaxInt32 - 5, math.MaxInt32, 1}, {math.MaxInt32 - 5, math.MaxInt32, 3}, {math.MaxInt32 - 9, math.MaxInt32, 4},
		{math.MinInt32, math.MinInt32 + 7, 2}, {math.MinInt32, math.MaxInt32, 1 << 30}, {-2000000000, 2000000000, 500000000}}
	for _, unroll := range []int{0, 1, 2, 3, 4, 8} {
		for _, known := range []string{"", "lo", "step", "lo hi", "lo step", "hi step", "lo hi step"} {
			for _, loop := range loops {
				name := fmt.Sprintf("%v, %d copies, constant %s", loop, unroll, known)
				testFor(t, name, loop, unroll, known)
			}
		}
	}
}

func testFor(t *testing.T, name string, loop [3]int32, unroll int, known string) {
	k := build(t, "counts", nil, func(b *kernel.Builder) {
		y := b.Pointer("y", ir.I32)
		bounds := make([]*kernel.Value, 3)
		for i, what := range []string{"lo", "hi", "step"} {
			bounds[i] = b.Scalar(what, ir.I32)
			if strings.Contains(known, what) {
				bounds[i] = b.Int(int(loop[i]))
			}
		}
		first := []*kernel.Value{b.Int(1), b.Load(y, b.Int(0)), b.Int(0), b.Bool(false)}
		for i := range 5 { // two that change places, and three
			first = append(first, b.Int(200+i))
		}
		r := b.ForUnrolled(unroll, bounds[0], bounds[1], bounds[2], first, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
			odd := b.Select(c[3], b.Add(c[2], i), b.Binary(kernel.Xor, c[2], i))
			return []*kernel.Value{c[1], b.Add(c[0], b.Int(3)), odd, b.Not(c[3]), c[5], c[4], c[7], c[8], c[6]}
		})
		for i, v := range r {
			b.Store(y, b.Int(i+1), b.Convert(ir.I32, v))
		}
	})
	c := [9]int32{1, 100, 0, 0, 200, 201, 202, 203, 204}
	for i := int64(loop[0]); i < int64(loop[1]); i += int64(loop[2]) {
		third := c[2] ^ int32(i)
		if c[3] != 0 {
			third = c[2] + int32(i)
		}
		c = [9]int32{c[1], c[0] + 3, third, 1 - c[3], c[5], c[4], c[7], c[8], c[6]}
	}
	want := []uint64{100}
	for _, x := range c {
		want = append(want, uint64(uint32(x)))
	}
	got := make([]uint64, len(want))
	got[0] = 100
	text := run(t, k, single, array(ir.I32, got...), number(uint64(uint32(loop[0]))), number(uint64(uint32(loop[1]))), number(uint64(uint32(loop[2]))))
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %v, want %v in\n%s", name, got, want, text)
	}
}

// TestUnroll asserts how often the body of a loop is in the text.
func TestUnroll(t *testing.T) {
	for _, c := range []struct {
		n, unroll       int // n is 0 if it is a parameter
		copies, pragmas int
	}{
		{0, 0, 1, 0}, {0, 1, 1, 1}, {0, 4, 5, 2}, {16, 0, 1, 0}, {16, 1, 1, 1}, {16, 4, 4, 1}, {18, 4, 6, 1}, {4, 4, 4, 0}, {3, 4, 3, 0},
	} {
		k := build(t, "unrolls", nil, func(b *kernel.Builder) {
			y, n := b.Pointer("y", ir.F32), b.Scalar("n", ir.I32)
			if c.n > 0 {
				n = b.Int(c.n)
			}
			b.ForUnrolled(c.unroll, b.Int(0), n, b.Int(1), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
				b.Store(y, i, b.Float(ir.F32, 1))
				return nil
			})
		})
		text, err := Write(k)
		if err != nil {
			t.Fatal(err)
		}
		if copies, pragmas := strings.Count(text, "st.global"), strings.Count(text, ".pragma"); copies != c.copies || pragmas != c.pragmas {
			t.Errorf("%d iterations, %d copies: the body is there %d times, want %d, and %d loops are fixed, want %d",
				c.n, c.unroll, copies, c.copies, pragmas, c.pragmas)
		}
	}
}

// TestNested runs loops in loops in branches, where addresses and results of one are used by others.
func TestNested(t *testing.T) {
	const rows, columns = 5, 7
	for _, unroll := range []int{0, 2, 3, 8} {
		k := build(t, "nested", nil, func(b *kernel.Builder) {
			x, y := b.Pointer("x", ir.I32), b.Pointer("y", ir.I32)
			r := b.ForUnrolled(unroll, b.Int(0), b.Int(rows), b.Int(1), []*kernel.Value{b.Int(0), b.Int(7)}, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
				row := b.ForUnrolled(unroll, i, b.Int(columns), b.Int(1), c, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
					at := b.Add(b.Mul(i, b.Int(columns)), j)
					v := b.Load(x, at)
					return b.If(b.Lt(v, b.Int(50)), func() []*kernel.Value {
						b.Store(x, at, b.Neg(v))
						w := b.If(b.Eq(b.Rem(v, b.Int(3)), b.Int(0)), func() []*kernel.Value { return []*kernel.Value{c[1]} },
							func() []*kernel.Value { return []*kernel.Value{b.Add(v, j)} })
						return []*kernel.Value{w[0], c[0]}
					}, func() []*kernel.Value {
						return []*kernel.Value{b.Add(c[0], b.Load(x, at)), b.Int(11)}
					})
				})
				b.Store(y, i, row[0])
				return []*kernel.Value{row[1], row[0]}
			})
			b.Store(y, b.Int(rows), r[0])
			b.Store(y, b.Int(rows+1), r[1])
		})
		x := make([]uint64, rows*columns)
		for i := range x {
			x[i] = uint64(i * 37 % 101)
		}
		wantX, want := slices.Clone(x), make([]uint64, rows+2)
		p, q := int32(0), int32(7)
		for i := range rows {
			for j := i; j < columns; j++ {
				at := i*columns + j
				v := int32(wantX[at])
				if v < 50 {
					wantX[at] = uint64(uint32(-v))
					w := v + int32(j)
					if v%3 == 0 {
						w = q
					}
					p, q = w, p
				} else {
					p, q = p+v, 11
				}
			}
			want[i] = uint64(uint32(p))
			p, q = q, p
		}
		want[rows], want[rows+1] = uint64(uint32(p)), uint64(uint32(q))
		y := make([]uint64, rows+2)
		text := run(t, k, single, array(ir.I32, x...), array(ir.I32, y...))
		if !slices.Equal(x, wantX) || !slices.Equal(y, want) {
			t.Fatalf("%d copies: %v and %v, want %v and %v in\n%s", unroll, x, y, wantX, want, text)
		}
	}
}

// TestWhile computes greatest common divisors, with a condition that loads.
func TestWhile(t *testing.T) {
	k := build(t, "divisor", []int{8}, func(b *kernel.Builder) {
		x, y, z := b.Pointer("x", ir.U64), b.Pointer("y", ir.U64), b.Pointer("z", ir.U64)
		i := b.Thread(0)
		r := b.While([]*kernel.Value{b.Load(x, i), b.Load(y, i), b.Int(0)},
			func(c []*kernel.Value) *kernel.Value {
				return b.And(b.Ne(c[1], b.Whole(ir.U64, 0)), b.Lt(c[2], b.Convert(ir.I32, b.Load(z, b.Int(8)))))
			},
			func(c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{c[1], b.Rem(c[0], c[1]), b.Add(c[2], b.Int(1))}
			})
		b.Store(z, i, r[0])
	})
	x := []uint64{12, 0, 7, 1 << 60, 270, 99991, 5, math.MaxUint64}
	y := []uint64{18, 9, 0, 1 << 33, 192, 99989, 5, 3}
	want := make([]uint64, len(x))
	for i := range x {
		a, b := x[i], y[i]
		for range 4 {
			if b != 0 {
				a, b = b, a%b
			}
		}
		want[i] = a
	}
	got := append(make([]uint64, len(x)), 4)
	run(t, k, single, array(ir.U64, x...), array(ir.U64, y...), array(ir.U64, got...))
	compare(t, "divisors", ir.U64, got, want)
}

// TestAddressInBranch reaches the same element in a branch that is not taken, in the other, and
// after them: an address that one of them computes is not known elsewhere.
func TestAddressInBranch(t *testing.T) {
	k := build(t, "branches", []int{3}, func(b *kernel.Builder) {
		x, y := b.Pointer("x", ir.I32), b.Pointer("y", ir.I32)
		s := b.Shared("tile", ir.I32, 3)
		i := b.Thread(0)
		r := b.If(b.Eq(i, b.Int(1)), func() []*kernel.Value {
			b.Store(s, i, b.Load(x, i))
			return []*kernel.Value{b.Load(x, i)}
		}, func() []*kernel.Value {
			b.Store(s, i, b.Neg(b.Load(x, i)))
			return []*kernel.Value{b.Int(1)}
		})
		b.Store(y, i, b.Mul(b.Add(b.Load(x, i), r[0]), b.Load(s, i)))
	})
	got := make([]uint64, 3)
	run(t, k, single, array(ir.I32, 5, 6, 7), array(ir.I32, got...))
	minus := func(x int32) uint64 { return uint64(uint32(-x)) }
	compare(t, "y", ir.I32, got, []uint64{minus(6 * 5), 12 * 6, minus(8 * 7)})
}

// TestConstantBranch takes branches on constants, with constants of every type as results.
func TestConstantBranch(t *testing.T) {
	for _, d := range all {
		values := oddValues(d)
		k := build(t, "constants", nil, func(b *kernel.Builder) {
			y, c := b.Pointer("y", d), b.Load(b.Pointer("c", ir.Bool), b.Int(0))
			for i, cond := range []*kernel.Value{b.Bool(true), b.Bool(false), c, b.Not(c)} {
				r := b.If(cond, func() []*kernel.Value { return []*kernel.Value{constantOf(b, d, values[1])} },
					func() []*kernel.Value { return []*kernel.Value{constantOf(b, d, values[0])} })
				b.Store(y, b.Int(i), r[0])
			}
		})
		got := make([]uint64, 4)
		run(t, k, single, array(d, got...), array(ir.Bool, 1))
		if want := []uint64{values[1], values[0], values[1], values[0]}; !slices.Equal(got, want) {
			t.Errorf("%s: %#x, want %#x", d, got, want)
		}
	}
}

// TestBarriers sums over blocks through shared memory, which is wrong if a barrier is missing.
func TestBarriers(t *testing.T) {
	const threads, blocks = 64, 3
	k := sumKernel(t, threads)
	x, want, got := make([]uint64, threads*blocks), make([]uint64, blocks), make([]uint64, blocks)
	for i := range x {
		x[i] = uint64(i*i + 1)
		want[i/threads] += x[i]
	}
	text := run(t, k, [3]int{blocks, 1, 1}, array(ir.U64, x...), array(ir.U64, got...))
	if !slices.Equal(got, want) {
		t.Fatalf("%v, want %v in\n%s", got, want, text)
	}
}

// sumKernel adds the numbers of each block.
func sumKernel(t testing.TB, threads int) *kernel.Kernel {
	return build(t, "sum_blocks", []int{threads}, func(b *kernel.Builder) {
		b.Doc("adds the numbers of each block")
		x, y := b.Pointer("x", ir.U64), b.Pointer("y", ir.U64)
		s := b.Shared("sums", ir.U64, threads)
		i := b.Thread(0)
		b.Store(s, i, b.Load(x, b.Global(0)))
		b.Barrier()
		b.While([]*kernel.Value{b.Int(threads / 2)},
			func(c []*kernel.Value) *kernel.Value { return b.Gt(c[0], b.Int(0)) },
			func(c []*kernel.Value) []*kernel.Value {
				b.Do(b.Lt(i, c[0]), func() { b.Store(s, i, b.Add(b.Load(s, i), b.Load(s, b.Add(i, c[0])))) })
				b.Barrier()
				return []*kernel.Value{b.Binary(kernel.Shr, c[0], b.Int(1))}
			})
		b.Do(b.Eq(i, b.Int(0)), func() { b.Store(y, b.BlockIdx(0), b.Load(s, i)) })
	})
}
