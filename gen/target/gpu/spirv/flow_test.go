package spirv

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// flows returns trials of control flow, barriers and shared memory.
func flows() []trial {
	const most = 1<<31 - 1
	whole := func(f func(n int64) int64) judge {
		return exactly(ir.I32, func(x []uint64) (uint64, bool) { return low(ir.I32, uint64(f(signed(ir.I32, x[0])))), true })
	}
	small := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 27, 31, 97, low(ir.I32, ^uint64(0)), low(ir.I32, ^uint64(8))}
	of := func(name string, x []uint64, fill func(b *kernel.Builder, n *kernel.Value) *kernel.Value, f func(n int64) int64) trial {
		return each(name, []ir.DType{ir.I32}, ir.I32, [][]uint64{x},
			func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return fill(b, x[0]) }, whole(f))
	}
	count := func(b *kernel.Builder, lo, hi, step *kernel.Value) *kernel.Value {
		return b.For(lo, hi, step, []*kernel.Value{b.Int(0)}, func(_ *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Add(c[0], b.Int(1))}
		})[0]
	}
	return []trial{
		of("for_sum", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return b.Times(n, []*kernel.Value{b.Int(0)}, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{b.Add(c[0], i)}
			})[0]
		}, func(n int64) int64 { return max(n, 0) * (n - 1) / 2 }),
		of("for_swap", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value { // Fibonacci: the carried values change places
			return b.Times(n, []*kernel.Value{b.Int(0), b.Int(1)}, func(_ *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{c[1], b.Add(c[0], c[1])}
			})[0]
		}, func(n int64) int64 {
			x, y := int32(0), int32(1)
			for range max(n, 0) {
				x, y = y, x+y
			}
			return int64(x)
		}),
		of("for_steps", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return count(b, b.Int(-5), n, b.Int(4))
		}, func(n int64) int64 { return max(n+5+3, 0) / 4 }),
		of("for_step_is_parameter", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return count(b, b.Int(0), b.Int(100), b.Max(n, b.Int(1)))
		}, func(n int64) int64 { n = max(n, 1); return (100 + n - 1) / n }),
		of("for_ends_at_greatest", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return count(b, b.Sub(b.Int(most-100), n), b.Int(most), b.Int(7))
		}, func(n int64) int64 { return (100 + n + 6) / 7 }),
		of("for_ends_at_greatest_by_one", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return count(b, b.Sub(b.Int(most-50), b.Abs(n)), b.Int(most), b.Int(1))
		}, func(n int64) int64 { return 50 + max(n, -n) }),
		of("for_great_step", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return count(b, b.Sub(b.Int(-most), b.Int(1)), b.Sub(b.Int(most), b.Abs(n)), b.Int(most))
		}, func(n int64) int64 { return 3 - truthInt(max(n, -n) >= 1) }),
		of("for_unrolled", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			x := b.ForUnrolled(4, b.Int(0), n, b.Int(1), []*kernel.Value{b.Int(1)}, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{b.Add(b.Mul(c[0], b.Int(3)), i)}
			})[0]
			return b.ForUnrolled(8, b.Int(0), b.Int(8), b.Int(1), []*kernel.Value{x}, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{b.Add(b.Mul(c[0], b.Int(3)), i)}
			})[0]
		}, func(n int64) int64 {
			x := int32(1)
			for i := range max(n, 0) {
				x = 3*x + int32(i)
			}
			for i := range int32(8) {
				x = 3*x + i
			}
			return int64(x)
		}),
		of("while_collatz", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return b.While([]*kernel.Value{b.Max(n, b.Int(1)), b.Int(0)},
				func(c []*kernel.Value) *kernel.Value { return b.Ne(c[0], b.Int(1)) },
				func(c []*kernel.Value) []*kernel.Value {
					next := b.If(b.Eq(b.And(c[0], b.Int(1)), b.Int(0)),
						func() []*kernel.Value { return []*kernel.Value{b.Div(c[0], b.Int(2))} },
						func() []*kernel.Value { return []*kernel.Value{b.Add(b.Mul(c[0], b.Int(3)), b.Int(1))} })
					return []*kernel.Value{next[0], b.Add(c[1], b.Int(1))}
				})[1]
		}, func(n int64) int64 {
			steps := int64(0)
			for n = max(n, 1); n != 1; steps++ {
				if n%2 == 0 {
					n /= 2
				} else {
					n = 3*n + 1
				}
			}
			return steps
		}),
		of("while_condition_branches", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return b.While([]*kernel.Value{b.Int(0)},
				func(c []*kernel.Value) *kernel.Value {
					return b.If(b.Lt(n, b.Int(5)),
						func() []*kernel.Value { return []*kernel.Value{b.Lt(c[0], n)} },
						func() []*kernel.Value { return []*kernel.Value{b.Lt(count(b, b.Int(0), c[0], b.Int(2)), n)} })[0]
				},
				func(c []*kernel.Value) []*kernel.Value { return []*kernel.Value{b.Add(c[0], b.Int(1))} })[0]
		}, func(n int64) int64 {
			if n < 5 {
				return max(n, 0)
			}
			return 2*n - 1
		}),
		of("nested", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			return b.Times(n, []*kernel.Value{b.Int(0)}, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return b.Times(i, c, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
					return b.If(b.Eq(b.Rem(b.Add(i, j), b.Int(3)), b.Int(0)),
						func() []*kernel.Value {
							return b.If(b.Lt(j, b.Int(2)),
								func() []*kernel.Value { return []*kernel.Value{b.Add(c[0], b.Int(10))} },
								func() []*kernel.Value { return []*kernel.Value{b.Add(c[0], j)} })
						},
						func() []*kernel.Value { return c })
				})
			})[0]
		}, func(n int64) (sum int64) {
			for i := range max(n, 0) {
				for j := range i {
					switch {
					case (i+j)%3 != 0:
					case j < 2:
						sum += 10
					default:
						sum += j
					}
				}
			}
			return sum
		}),
		of("carried_types", small, func(b *kernel.Builder, n *kernel.Value) *kernel.Value {
			r := b.Times(n, []*kernel.Value{b.Bool(false), b.Float(ir.F32, 0), b.Whole(ir.I64, 0), b.Float(ir.F64, 1), b.Convert(ir.F16, b.Float(ir.F32, 1))},
				func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
					return []*kernel.Value{b.Not(c[0]), b.Add(c[1], b.Float(ir.F32, 0.5)), b.Add(c[2], b.Convert(ir.I64, i)), b.Mul(c[3], b.Float(ir.F64, 1)), c[4]}
				})
			sum := b.Convert(ir.I32, b.Add(r[1], b.Convert(ir.F32, r[4])))
			sum = b.Add(sum, b.Convert(ir.I32, r[2]))
			sum = b.Add(sum, b.Convert(ir.I32, r[3]))
			return b.Add(sum, b.Convert(ir.I32, r[0]))
		}, func(n int64) int64 {
			n = max(n, 0)
			return (n+2)/2 + n*(n-1)/2 + 1 + n%2
		}),
		reduction(), transposition(),
	}
}

func truthInt(x bool) int64 { return int64(truth(x)) }

// reduction returns a trial of a sum over rows by a block for each, by halves in shared memory.
func reduction() trial {
	const rows, threads = 5, 64
	k := build("row_sum", []int{threads}, func(b *kernel.Builder) {
		b.Doc("out[r] is the sum of row r of x, which has n columns")
		x, out, n := b.Pointer("x", ir.F32), b.Pointer("out", ir.F32), b.Scalar("n", ir.I32)
		part := b.Shared("part", ir.F32, threads)
		t, row := b.Thread(0), b.BlockIdx(0)
		base := b.Mul(row, n)
		sum := b.For(t, n, b.Int(threads), []*kernel.Value{b.Float(ir.F32, 0)}, func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Add(c[0], b.Load(x, b.Add(base, i)))}
		})
		b.Store(part, t, sum[0])
		b.While([]*kernel.Value{b.Int(threads / 2)},
			func(c []*kernel.Value) *kernel.Value { return b.Gt(c[0], b.Int(0)) },
			func(c []*kernel.Value) []*kernel.Value {
				b.Barrier()
				b.Do(b.Lt(t, c[0]), func() {
					b.Store(part, t, b.Add(b.Load(part, t), b.Load(part, b.Add(t, c[0]))))
				})
				return []*kernel.Value{b.Binary(kernel.Shr, c[0], b.Int(1))}
			})
		b.Do(b.Eq(t, b.Int(0)), func() { b.Store(out, row, b.Load(part, b.Int(0))) })
	})
	const n = 1000
	var x []uint64
	var want [rows]float64
	for r := range rows {
		for i := range n {
			v := float64((i*7 + r) % 11)
			want[r] += v
			x = append(x, bitsOf(ir.F32, v))
		}
	}
	return trial{name: "row_sum", k: k, grid: [3]int{rows, 1, 1}, args: []any{encode(ir.F32, x), make([]byte, 4*rows), uint64(n)},
		check: func(t *testing.T, arrays [][]byte) {
			for r, got := range decode(ir.F32, arrays[1]) {
				if real64(ir.F32, got) != want[r] {
					t.Errorf("row %d: %g, want %g", r, real64(ir.F32, got), want[r])
				}
			}
		}}
}

// transposition returns a trial of a tile that goes through shared memory, in a block of two
// dimensions, and of global memory that is read behind a barrier.
func transposition() trial {
	const n = 8
	k := build("transpose", []int{n, n}, func(b *kernel.Builder) {
		from, between, to := b.Pointer("from", ir.BF16), b.Pointer("between", ir.BF16), b.Pointer("to", ir.BF16)
		tile := b.Shared("tile", ir.BF16, n*n)
		x, y := b.Thread(0), b.Thread(1)
		at := b.Add(b.Mul(y, b.Int(n)), x)
		b.Store(tile, at, b.Load(from, at))
		b.Barrier()
		turned := b.Add(b.Mul(x, b.Int(n)), y)
		b.Store(between, at, b.Load(tile, turned))
		b.Barrier()
		b.Store(to, at, b.Load(between, turned))
	})
	var x []uint64
	for i := range n * n {
		x = append(x, uint64(i*3))
	}
	return trial{name: "transpose", k: k, grid: [3]int{1, 1, 1}, args: []any{encode(ir.BF16, x), make([]byte, 2*n*n), make([]byte, 2*n*n)},
		check: func(t *testing.T, arrays [][]byte) {
			between, to := decode(ir.BF16, arrays[1]), decode(ir.BF16, arrays[2])
			for i := range x {
				if between[i] != x[i%n*n+i/n] || to[i] != x[i] {
					t.Errorf("element %d: %d and %d", i, between[i], to[i])
				}
			}
		}}
}
