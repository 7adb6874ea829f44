package ptx

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// integerOf computes an operation on integers as Go does. ok is false if it has no value.
func integerOf[T int32 | uint32 | int64 | uint64](o kernel.Op, x, y T, width T) (r T, ok bool) {
	switch o {
	case kernel.Add:
		return x + y, true
	case kernel.Sub:
		return x - y, true
	case kernel.Mul:
		return x * y, true
	case kernel.Div:
		if y == 0 {
			return 0, false
		}
		return x / y, true
	case kernel.Rem:
		if y == 0 {
			return 0, false
		}
		return x % y, true
	case kernel.Min:
		return min(x, y), true
	case kernel.Max:
		return max(x, y), true
	case kernel.And:
		return x & y, true
	case kernel.Or:
		return x | y, true
	case kernel.Xor:
		return x ^ y, true
	case kernel.Shl:
		if y < 0 || y >= width {
			return 0, false
		}
		return x << y, true
	case kernel.Shr:
		if y < 0 || y >= width {
			return 0, false
		}
		return x >> y, true
	case kernel.Neg:
		return -x, true
	case kernel.Abs:
		if x < 0 {
			return -x, true
		}
		return x, true
	case kernel.Not:
		return ^x, true
	}
	return 0, false
}

// realOf computes an operation on floats as Go does.
func realOf[T float32 | float64](o kernel.Op, x, y T) (r T, ok bool) {
	switch o {
	case kernel.Add:
		return x + y, true
	case kernel.Sub:
		return x - y, true
	case kernel.Mul:
		return x * y, true
	case kernel.Div:
		return x / y, true
	case kernel.Min:
		if x < y {
			return x, true
		}
		return y, true
	case kernel.Max:
		if x > y {
			return x, true
		}
		return y, true
	case kernel.Neg:
		return -x, true
	case kernel.Abs:
		return T(math.Abs(float64(x))), true
	case kernel.Sqrt:
		return T(math.Sqrt(float64(x))), true
	case kernel.Floor:
		return T(math.Floor(float64(x))), true
	case kernel.Ceil:
		return T(math.Ceil(float64(x))), true
	case kernel.Trunc:
		return T(math.Trunc(float64(x))), true
	case kernel.Round:
		return T(math.RoundToEven(float64(x))), true
	}
	return 0, false
}

// comparisonOf compares as Go does.
func comparisonOf[T int32 | uint32 | int64 | uint64 | float32 | float64](o kernel.Op, x, y T) (r, ok bool) {
	switch o {
	case kernel.Eq:
		return x == y, true
	case kernel.Ne:
		return x != y, true
	case kernel.Lt:
		return x < y, true
	case kernel.Le:
		return x <= y, true
	case kernel.Gt:
		return x > y, true
	case kernel.Ge:
		return x >= y, true
	}
	return false, false
}

// reference computes an operation on bits. The type of the result is that of the operands, or bool.
func reference(o kernel.Op, d ir.DType, x, y uint64) (r uint64, result ir.DType, ok bool) {
	truth := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	var holds, compares bool
	switch d {
	case ir.I32:
		holds, compares = comparisonOf(o, int32(x), int32(y))
		v, is := integerOf(o, int32(x), int32(y), 32)
		r, ok = uint64(uint32(v)), is
	case ir.U32:
		holds, compares = comparisonOf(o, uint32(x), uint32(y))
		v, is := integerOf(o, uint32(x), uint32(y), 32)
		r, ok = uint64(v), is
	case ir.I64:
		holds, compares = comparisonOf(o, int64(x), int64(y))
		v, is := integerOf(o, int64(x), int64(y), 64)
		r, ok = uint64(v), is
	case ir.U64:
		holds, compares = comparisonOf(o, x, y)
		r, ok = integerOf(o, x, y, 64)
	case ir.F32:
		a, b := math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))
		holds, compares = comparisonOf(o, a, b)
		v, is := realOf(o, a, b)
		r, ok = uint64(math.Float32bits(v)), is
	case ir.F64:
		a, b := math.Float64frombits(x), math.Float64frombits(y)
		holds, compares = comparisonOf(o, a, b)
		v, is := realOf(o, a, b)
		r, ok = math.Float64bits(v), is
	case ir.Bool:
		switch o {
		case kernel.And:
			return x & y, d, true
		case kernel.Or:
			return x | y, d, true
		case kernel.Xor, kernel.Ne:
			return x ^ y, d, true
		case kernel.Eq:
			return 1 ^ x ^ y, d, true
		case kernel.Not:
			return 1 ^ x, d, true
		}
	}
	if compares {
		return truth(holds), ir.Bool, true
	}
	return r, d, ok
}

func TestBinary(t *testing.T) {
	for o := kernel.Add; o <= kernel.Ge; o++ {
		if o >= kernel.Neg && o <= kernel.Fma {
			continue // on one operand or three
		}
		for _, d := range arithmetic {
			if _, _, ok := reference(o, d, 1, 1); !ok {
				continue
			}
			t.Run(fmt.Sprintf("%s_%s", o, d), func(t *testing.T) { testBinary(t, o, d) })
		}
	}
}

func testBinary(t *testing.T, o kernel.Op, d ir.DType) {
	var xs, ys, want []uint64
	var result ir.DType
	values := oddValues(d)
	for _, x := range values {
		for _, y := range values {
			if r, to, ok := reference(o, d, x, y); ok {
				xs, ys, want, result = append(xs, x), append(ys, y), append(want, r), to
			}
		}
	}
	k := build(t, "binary", []int{32}, func(b *kernel.Builder) {
		x, y, z := b.Pointer("x", d), b.Pointer("y", d), b.Pointer("z", result)
		i := b.Global(0)
		b.Do(b.Lt(i, b.Scalar("n", ir.I32)), func() { b.Store(z, i, b.Binary(o, b.Load(x, i), b.Load(y, i))) })
	})
	got := make([]uint64, len(want))
	run(t, k, [3]int{(len(xs) + 31) / 32, 1, 1}, array(d, xs...), array(d, ys...), array(result, got...), number(uint64(len(xs))))
	compare(t, "registers", result, got, want)

	// The same with each value as a constant, on either side.
	n := len(values)
	k = build(t, "constants", []int{n}, func(b *kernel.Builder) {
		x, z := b.Pointer("x", d), b.Pointer("z", result)
		i := b.Thread(0)
		v := b.Load(x, i)
		for j, c := range values {
			b.Store(z, b.Add(i, b.Int(2*j*n)), b.Binary(o, constantOf(b, d, c), v))
			if _, _, ok := reference(o, d, 1, c); ok { // what divides by 0 is not defined
				b.Store(z, b.Add(i, b.Int((2*j+1)*n)), b.Binary(o, v, constantOf(b, d, c)))
			}
		}
	})
	got = make([]uint64, 2*n*n)
	run(t, k, single, array(d, values...), array(result, got...))
	for j, c := range values {
		for i, x := range values {
			if want, _, ok := reference(o, d, c, x); ok && !same(result, got[2*j*n+i], want) {
				t.Fatalf("constant %#x and %#x: %#x, want %#x", c, x, got[2*j*n+i], want)
			}
			if want, _, ok := reference(o, d, x, c); ok && !same(result, got[(2*j+1)*n+i], want) {
				t.Fatalf("%#x and constant %#x: %#x, want %#x", x, c, got[(2*j+1)*n+i], want)
			}
		}
	}
}

// constantOf returns a constant with bits.
func constantOf(b *kernel.Builder, d ir.DType, bits uint64) *kernel.Value {
	switch d {
	case ir.F32:
		return b.Bitcast(d, b.Whole(ir.I32, int64(bits)))
	case ir.F64:
		return b.Bitcast(d, b.Whole(ir.I64, int64(bits)))
	case ir.F16, ir.BF16:
		return b.Bitcast(d, b.Whole(ir.I16, int64(bits)))
	}
	return b.Whole(d, int64(bits))
}

func TestUnary(t *testing.T) {
	for o := kernel.Neg; o <= kernel.Round; o++ {
		for _, d := range arithmetic {
			if _, _, ok := reference(o, d, 1, 1); !ok {
				continue
			}
			t.Run(fmt.Sprintf("%s_%s", o, d), func(t *testing.T) {
				values := oddValues(d)
				want := make([]uint64, len(values))
				for i, x := range values {
					want[i], _, _ = reference(o, d, x, 0)
				}
				k := build(t, "unary", []int{len(values)}, func(b *kernel.Builder) {
					x, y := b.Pointer("x", d), b.Pointer("y", d)
					b.Store(y, b.Thread(0), b.Unary(o, b.Load(x, b.Thread(0))))
				})
				got := make([]uint64, len(values))
				run(t, k, single, array(d, values...), array(d, got...))
				compare(t, "registers", d, got, want)
			})
		}
	}
}

// TestEveryOperation asserts that the two tests above reach every operation on every type that the
// builder allows.
func TestEveryOperation(t *testing.T) {
	for o := kernel.Add; o <= kernel.Ge; o++ {
		if o == kernel.Fma {
			continue
		}
		for _, d := range arithmetic {
			_, err := kernel.Build("any", nil, func(b *kernel.Builder) {
				x := b.Load(b.Pointer("x", d), b.Int(0))
				if o >= kernel.Neg && o <= kernel.Round {
					b.Unary(o, x)
				} else {
					b.Binary(o, x, b.Load(b.Pointer("y", d), b.Int(0)))
				}
			})
			if _, _, tested := reference(o, d, 1, 1); tested != (err == nil) {
				t.Errorf("%s of %s: tested is %t, and the builder says %v", o, d, tested, err)
			}
		}
	}
}

func TestFma(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.F64} {
		values := oddValues(d)
		if d == ir.F32 { // sums that a rounding in 64 bits and then in 32 gets wrong
			for _, x := range []float32{1 + 1.0/4096, 1 - 1.0/4096, 1.0 / (1 << 24), -1.0 / (1 << 24), 1e-30, 33554430} {
				values = append(values, uint64(math.Float32bits(x)))
			}
		}
		var in [3][]uint64
		var want []uint64
		for i, x := range values {
			for j, y := range values {
				z := values[(i*7+j*3)%len(values)]
				in[0], in[1], in[2] = append(in[0], x), append(in[1], y), append(in[2], z)
				want = append(want, fmaOf(d, x, y, z))
			}
		}
		k := build(t, "fused", []int{64}, func(b *kernel.Builder) {
			x, y, z, r, n := b.Pointer("x", d), b.Pointer("y", d), b.Pointer("z", d), b.Pointer("r", d), b.Scalar("n", ir.I32)
			i := b.Global(0)
			b.Do(b.Lt(i, n), func() { b.Store(r, i, b.Fma(b.Load(x, i), b.Load(y, i), b.Load(z, i))) })
		})
		got := make([]uint64, len(want))
		run(t, k, [3]int{(len(want) + 63) / 64, 1, 1}, array(d, in[0]...), array(d, in[1]...), array(d, in[2]...), array(d, got...), number(uint64(len(want))))
		compare(t, d.String(), d, got, want)
	}
}

// fmaOf computes x · y + z exactly, and rounds once. Of f64 Go does it.
func fmaOf(d ir.DType, x, y, z uint64) uint64 {
	if d == ir.F64 {
		return math.Float64bits(math.FMA(math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)))
	}
	a, b, c := float64(math.Float32frombits(uint32(x))), float64(math.Float32frombits(uint32(y))), float64(math.Float32frombits(uint32(z)))
	plain := a*b + c
	if math.IsInf(plain, 0) || plain != plain {
		return uint64(math.Float32bits(float32(plain)))
	}
	exact := new(big.Float).SetPrec(2000)
	exact.Mul(exact.SetFloat64(a), big.NewFloat(b)).Add(exact, big.NewFloat(c))
	r, _ := exact.Float32()
	if r == 0 && plain == 0 { // the sign of an exact 0
		r = float32(plain)
	}
	return uint64(math.Float32bits(r))
}

func TestSelect(t *testing.T) {
	for _, d := range all {
		values := oddValues(d)
		n := len(values)
		k := build(t, "choose", []int{n}, func(b *kernel.Builder) {
			c, x, y := b.Pointer("c", ir.Bool), b.Pointer("x", d), b.Pointer("y", d)
			i := b.Thread(0)
			cond, v := b.Load(c, i), b.Load(x, i)
			k := constantOf(b, d, values[1])
			b.Store(y, i, b.Select(cond, v, k))
			b.Store(y, b.Add(i, b.Int(n)), b.Select(cond, k, v))
			b.Store(y, b.Add(i, b.Int(2*n)), b.Select(b.Not(cond), b.Load(x, b.Int(0)), v))
		})
		cond := make([]uint64, n)
		var want []uint64
		for i := range cond {
			cond[i] = uint64(i * 0x55 & 0xff)
		}
		for _, pair := range []func(i int) (uint64, uint64){
			func(i int) (uint64, uint64) { return values[i], values[1] },
			func(i int) (uint64, uint64) { return values[1], values[i] },
			func(i int) (uint64, uint64) { return values[i], values[0] },
		} {
			for i := range n {
				x, y := pair(i)
				if cond[i] == 0 {
					x = y
				}
				want = append(want, x)
			}
		}
		got := make([]uint64, 3*n)
		run(t, k, single, array(ir.Bool, cond...), array(d, values...), array(d, got...))
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: element %d is %#x, want %#x", d, i, got[i], want[i])
			}
		}
	}
}

func TestThreadsAndBlocks(t *testing.T) {
	k := build(t, "places", []int{2, 3, 4}, func(b *kernel.Builder) {
		y := b.Pointer("y", ir.I32)
		i := b.Int(0)
		for _, v := range []struct {
			v *kernel.Value
			n int
		}{{b.BlockIdx(2), 3}, {b.BlockIdx(1), 2}, {b.BlockIdx(0), 2}, {b.Thread(2), 4}, {b.Thread(1), 3}, {b.Thread(0), 2}} {
			i = b.Add(b.Mul(i, b.Int(v.n)), v.v)
		}
		b.Store(y, i, b.Add(b.Global(0), b.Mul(b.Int(100), b.Add(b.Global(1), b.Mul(b.Int(100), b.Global(2))))))
	})
	got := make([]uint64, 3*2*2*24)
	run(t, k, [3]int{2, 2, 3}, array(ir.I32, got...))
	i := 0
	for bz := range 3 {
		for by := range 2 {
			for bx := range 2 {
				for z := range 4 {
					for y := range 3 {
						for x := range 2 {
							if want := uint64(bx*2 + x + 100*(by*3+y+100*(bz*4+z))); got[i] != want {
								t.Fatalf("element %d is %d, want %d", i, got[i], want)
							}
							i++
						}
					}
				}
			}
		}
	}
}
