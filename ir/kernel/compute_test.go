package kernel_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"pgregory.net/rapid"
)

// corners are bits of every type at which operations may go wrong.
func corners(d ir.DType) []uint64 {
	if d == ir.Bool {
		return []uint64{0, 1}
	}
	keep := ^uint64(0) >> (64 - uint(d.Bits()))
	list := []uint64{0, 1, 2, 3, 7, 31, 33, 63, keep, keep - 1, keep >> 1, keep>>1 + 1, keep>>1 + 2, 0x5a5a5a5a5a5a5a5a & keep, 10000 & keep}
	if d.IsInt() && d.Bits() == 64 {
		list = append(list, 0x4040000000000001, 0xbfbfffffffffffff) // a bit more than a tie of bf16
	}
	if !d.IsFloat() {
		return list
	}
	one := map[ir.DType]uint64{ir.F16: 0x3c00, ir.BF16: 0x3f80, ir.F32: 0x3f800000, ir.F64: 0x3ff0000000000000}[d]
	inf := map[ir.DType]uint64{ir.F16: 0x7c00, ir.BF16: 0x7f80, ir.F32: 0x7f800000, ir.F64: 0x7ff0000000000000}[d]
	for _, x := range []uint64{one, one + 1, one - 1, one + one/20, inf, inf - 1, inf + 1, inf / 2, one / 2} {
		list = append(list, x, x|(keep>>1+1))
	}
	if d == ir.F32 || d == ir.F64 {
		for _, x := range []float64{0.5, 1.5, 2.5, -2.5, 1e9, -1e9, 2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 4294967296, 9.3e18, -9.3e18, 1.9e19, 65519, 65520, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 1e-7, 0.1, 127.6, -128.4, 255.9} {
			list = append(list, bitsOfFloat(d, x))
		}
	}
	return list
}

func bitsOfFloat(d ir.DType, x float64) uint64 {
	if d == ir.F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// pack puts values behind each other in memory.
func pack(d ir.DType, values []uint64) []byte {
	var out []byte
	for _, v := range values {
		out = append(out, binary.NativeEndian.AppendUint64(nil, v)[nativeStart(d):][:d.Size()]...)
	}
	return out
}

// unpack is the inverse of pack.
func unpack(d ir.DType, data []byte) []uint64 {
	out := make([]uint64, len(data)/d.Size())
	for i := range out {
		var b [8]byte
		copy(b[nativeStart(d):], data[i*d.Size():][:d.Size()])
		out[i] = binary.NativeEndian.Uint64(b[:])
	}
	return out
}

// nativeStart returns where the low bytes of a uint64 begin.
func nativeStart(d ir.DType) int {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return 0
	}
	return 8 - d.Size()
}

// apply runs a kernel that stores at each index what f makes of the elements of x at that index.
func apply(t tester, to ir.DType, from []ir.DType, x [][]uint64, f func(b *kernel.Builder, x []*kernel.Value) *kernel.Value) ([]uint64, error) {
	t.Helper()
	k := build(t, "apply", []int{32}, func(b *kernel.Builder) {
		var in []*kernel.Value
		for _, d := range from {
			in = append(in, b.Pointer("x", d))
		}
		y := b.Pointer("y", to)
		n := b.Scalar("n", ir.I32)
		i := b.Global(0)
		b.Do(b.Lt(i, n), func() {
			var operands []*kernel.Value
			for _, p := range in {
				operands = append(operands, b.Load(p, i))
			}
			b.Store(y, i, f(b, operands))
		})
	})
	n := len(x[0])
	var args []kernel.Arg
	for i, d := range from {
		args = append(args, kernel.Bytes(d, pack(d, x[i])))
	}
	y := make([]byte, n*to.Size())
	args = append(args, kernel.Bytes(to, y), kernel.Number(int32(n)))
	err := k.Run([3]int{(n + 31) / 32, 1, 1}, args, kernel.Options{})
	return unpack(to, y), err
}

// pairs returns all pairs of corners of a type.
func pairs(d ir.DType) (x, y []uint64) {
	for _, p := range corners(d) {
		for _, q := range corners(d) {
			x, y = append(x, p), append(y, q)
		}
	}
	return x, y
}

// TestBinary compares every operation on two operands of every type with Go.
func TestBinary(t *testing.T) {
	for _, d := range arithmetic {
		for _, o := range binaries(d) {
			var x, y, want []uint64
			p, q := pairs(d)
			for i := range p {
				if v, ok := operate(o, d, p[i], q[i]); ok {
					x, y, want = append(x, p[i]), append(y, q[i]), append(want, v)
				}
			}
			got, err := apply(t, resultOf(o, d), []ir.DType{d, d}, [][]uint64{x, y}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				return b.Binary(o, v[0], v[1])
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !equal(resultOf(o, d), got[i], want[i]) {
					t.Errorf("%s of %s: %x and %x give %x, want %x", o, d, x[i], y[i], got[i], want[i])
				}
			}
		}
	}
}

// TestUnary compares every operation on one operand of every type with Go.
func TestUnary(t *testing.T) {
	for _, d := range arithmetic {
		for _, o := range unaries(d) {
			x := corners(d)
			got, err := apply(t, d, []ir.DType{d}, [][]uint64{x}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value { return b.Unary(o, v[0]) })
			if err != nil {
				t.Fatal(err)
			}
			for i := range x {
				if want := unary(o, d, x[i]); !equal(d, got[i], want) {
					t.Errorf("%s of %s: %x gives %x, want %x", o, d, x[i], got[i], want)
				}
			}
		}
	}
}

// TestFma compares x · y + z with exact arithmetic rounded once.
func TestFma(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.F64} {
		rapid.Check(t, func(t *rapid.T) {
			var x [3][]uint64
			for i := range x {
				x[i] = rapid.SliceOfN(anyBits(d), 64, 64).Draw(t, "x")
			}
			for i := range 16 { // whose sum nearly vanishes
				x[2][i] = unary(kernel.Neg, d, fma(d, x[0][i], x[1][i], 0))
			}
			got, err := apply(t, d, []ir.DType{d, d, d}, x[:], func(b *kernel.Builder, v []*kernel.Value) *kernel.Value { return b.Fma(v[0], v[1], v[2]) })
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if want := fma(d, x[0][i], x[1][i], x[2][i]); !equal(d, got[i], want) {
					t.Errorf("%s: fma of %x, %x and %x gives %x, want %x", d, x[0][i], x[1][i], x[2][i], got[i], want)
				}
			}
		})
	}
}

// TestConvert compares conversions between all types with exact arithmetic.
func TestConvert(t *testing.T) {
	for _, from := range elements {
		for _, to := range elements {
			x := corners(from)
			for i := range 200 {
				x = append(x, anyBits(from).Example(i))
			}
			got, err := apply(t, to, []ir.DType{from}, [][]uint64{x}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value { return b.Convert(to, v[0]) })
			if err != nil {
				t.Fatal(err)
			}
			for i := range x {
				want := x[i]
				if from != to {
					want = convert(to, from, x[i])
				}
				if !equal(to, got[i], want) {
					t.Errorf("%s to %s: %x gives %x, want %x", from, to, x[i], got[i], want)
				}
			}
		}
	}
}

// TestSelectAndBitcast asserts that values of all types are moved as they are.
func TestSelectAndBitcast(t *testing.T) {
	for _, from := range elements {
		x := corners(from)
		y := slices.Clone(x)
		slices.Reverse(y)
		c := make([]uint64, len(x))
		for i := range c {
			c[i] = uint64(i) & 1
		}
		got, err := apply(t, from, []ir.DType{ir.Bool, from, from}, [][]uint64{c, x, y}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
			return b.Select(v[0], v[1], v[2])
		})
		for i := range x {
			want := y[i]
			if c[i] == 1 {
				want = x[i]
			}
			if err != nil || got[i] != want {
				t.Errorf("select of %s: %x, want %x (%v)", from, got[i], want, err)
			}
		}
		for _, to := range elements {
			if from == ir.Bool || to == ir.Bool || from.Bits() != to.Bits() {
				continue
			}
			got, err := apply(t, to, []ir.DType{from}, [][]uint64{x}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value { return b.Bitcast(to, v[0]) })
			if err != nil || !slices.Equal(got, x) {
				t.Errorf("bitcast of %s to %s: %x, want %x (%v)", from, to, got, x, err)
			}
		}
	}
}

// TestSplit asserts that the halves of values of all types of 64 bits are what they must be.
func TestSplit(t *testing.T) {
	for _, d := range []ir.DType{ir.I64, ir.U64, ir.F64} {
		x := corners(d)
		for half := range 2 {
			got, err := apply(t, ir.U32, []ir.DType{d}, [][]uint64{x}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				low, high := b.Split(v[0])
				return []*kernel.Value{low, high}[half]
			})
			for i, bits := range x {
				if want := bits >> (32 * half) & math.MaxUint32; err != nil || got[i] != want {
					t.Errorf("half %d of %s %x: %x, want %x (%v)", half, d, bits, got[i], want, err)
				}
			}
		}
	}
}

// TestVectors asserts that adjacent elements of all types are loaded and stored at once.
func TestVectors(t *testing.T) {
	for _, d := range elements {
		x := corners(d)
		for len(x) < 32 {
			x = append(x, x...)
		}
		x = x[:32]
		for n := 1; n <= 16 && n*d.Size() <= 16; n *= 2 {
			k := build(t, "reverse", []int{32 / n}, func(b *kernel.Builder) {
				x, y := b.Pointer("x", d), b.Pointer("y", d)
				i := b.Mul(b.Thread(0), b.Int(n))
				v := b.LoadN(x, b.Convert(ir.I64, i), n)
				slices.Reverse(v)
				b.Store(y, i, v...)
			})
			y := make([]byte, 32*d.Size())
			if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Bytes(d, pack(d, x)), kernel.Bytes(d, y)}, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			for i, v := range unpack(d, y) {
				if want := x[i/n*n+n-1-i%n]; v != want {
					t.Errorf("%d of %s: element %d is %x, want %x", n, d, i, v, want)
				}
			}
		}
	}
}

// TestAtomics compares every atomic operation on every type with Go, one thread after the other.
func TestAtomics(t *testing.T) {
	plain := map[kernel.Op]kernel.Op{kernel.AtomicAdd: kernel.Add, kernel.AtomicMin: kernel.Min, kernel.AtomicMax: kernel.Max, kernel.AtomicAnd: kernel.And, kernel.AtomicOr: kernel.Or}
	for _, d := range []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64} {
		for o := kernel.AtomicAdd; o <= kernel.AtomicCAS; o++ {
			x, y := pairs(d)
			k := build(t, "atomic", []int{1}, func(b *kernel.Builder) {
				p, x, y := b.Pointer("p", d), b.Pointer("x", d), b.Pointer("y", d)
				i := b.BlockIdx(0)
				operands := []*kernel.Value{b.Load(x, i)}
				if o == kernel.AtomicCAS {
					operands = append(operands, b.Whole(d, 5))
				}
				b.Store(y, i, b.Atomic(o, p, i, operands...))
			})
			p, before := pack(d, y), make([]byte, len(x)*d.Size())
			if err := k.Run([3]int{len(x), 1, 1}, []kernel.Arg{kernel.Bytes(d, p), kernel.Bytes(d, pack(d, x)), kernel.Bytes(d, before)}, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(unpack(d, before), y) {
				t.Errorf("%s of %s gives %x, want %x", o, d, unpack(d, before), y)
			}
			for i, got := range unpack(d, p) {
				want := x[i]
				switch {
				case plain[o] != 0:
					want, _ = operate(plain[o], d, y[i], x[i])
				case o == kernel.AtomicCAS && x[i] == y[i]:
					want = 5
				case o == kernel.AtomicCAS:
					want = y[i]
				}
				if got != want {
					t.Errorf("%s of %s: %x and %x leave %x, want %x", o, d, y[i], x[i], got, want)
				}
			}
		}
	}
}

// anyBits draws bits of a type, corners among them.
func anyBits(d ir.DType) *rapid.Generator[uint64] {
	keep := uint64(1)
	if d != ir.Bool {
		keep = ^uint64(0) >> (64 - uint(d.Bits()))
	}
	spread := rapid.Map(rapid.Uint64(), func(x uint64) uint64 { return x * 0x9e3779b97f4a7c15 & keep })
	if !d.IsFloat() {
		return rapid.OneOf(rapid.SampledFrom(corners(d)), spread, rapid.Uint64Range(0, min(keep, 100)))
	}
	if d != ir.F32 && d != ir.F64 {
		return rapid.OneOf(rapid.SampledFrom(corners(d)), spread)
	}
	near := rapid.Map(rapid.Float64Range(-100, 100), func(x float64) uint64 { return bitsOfFloat(d, x) })
	return rapid.OneOf(rapid.SampledFrom(corners(d)), spread, near)
}

// constant builds a constant of an arithmetic type.
func constant(b *kernel.Builder, d ir.DType, bits uint64) *kernel.Value {
	switch d {
	case ir.F32:
		return b.Bitcast(d, b.Whole(ir.U32, int64(bits)))
	case ir.F64:
		return b.Bitcast(d, b.Whole(ir.U64, int64(bits)))
	}
	return b.Whole(d, int64(bits))
}

// TestFoldingCorners asserts that what the builder computes of corners, if both operands are
// constant, or one of them, is what plain Go computes.
func TestFoldingCorners(t *testing.T) {
	for _, d := range arithmetic {
		for _, o := range binaries(d) {
			to := resultOf(o, d)
			x, y := pairs(d)
			var want []uint64
			k := build(t, "corners", []int{1}, func(b *kernel.Builder) {
				px, py, out := b.Pointer("x", d), b.Pointer("y", d), b.Pointer("out", to)
				for i := range x {
					v, ok := operate(o, d, x[i], y[i])
					if !ok {
						continue
					}
					p, q := constant(b, d, x[i]), constant(b, d, y[i])
					at := b.Int(i)
					results := []*kernel.Value{b.Binary(o, p, q)}
					if !d.IsFloat() { // else nothing is done with one constant
						results = append(results, b.Binary(o, p, b.Load(py, at)), b.Binary(o, b.Load(px, at), q))
					}
					for _, r := range results {
						b.Store(out, b.Int(len(want)), r)
						want = append(want, v)
					}
				}
			})
			out := make([]byte, len(want)*to.Size())
			if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Bytes(d, pack(d, x)), kernel.Bytes(d, pack(d, y)), kernel.Bytes(to, out)}, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			for i, got := range unpack(to, out) {
				if !equal(to, got, want[i]) {
					t.Errorf("%s of %s: result %d is %x, want %x", o, d, i, got, want[i])
				}
			}
		}
	}
}

// TestFolding asserts that what the builder computes of constants is what the interpreter computes:
// if both operands are constant, or one of them.
func TestFolding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(arithmetic).Draw(t, "type")
		o := rapid.SampledFrom(binaries(d)).Draw(t, "op")
		x, y := anyBits(d).Draw(t, "x"), anyBits(d).Draw(t, "y")
		want, ok := operate(o, d, x, y)
		for which := range 4 {
			got, err := apply(t, resultOf(o, d), []ir.DType{d, d}, [][]uint64{{x}, {y}}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				if which&1 != 0 {
					v[0] = constant(b, d, x)
				}
				if which&2 != 0 {
					v[1] = constant(b, d, y)
				}
				return b.Binary(o, v[0], v[1])
			})
			if (err == nil) != ok || ok && !equal(resultOf(o, d), got[0], want) {
				t.Fatalf("%s of %s, constants %d: %x and %x give %x, want %x (%v)", o, d, which, x, y, got[0], want, err)
			}
		}
		for _, o := range unaries(d) {
			got, err := apply(t, d, []ir.DType{d}, [][]uint64{{x}}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value { return b.Unary(o, constant(b, d, x)) })
			if want := unary(o, d, x); err != nil || !equal(d, got[0], want) {
				t.Fatalf("%s of %s: %x gives %x, want %x (%v)", o, d, x, got[0], want, err)
			}
		}
		for _, to := range elements {
			got, err := apply(t, to, []ir.DType{d}, [][]uint64{{x}}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value { return b.Convert(to, constant(b, d, x)) })
			want := x
			if to != d {
				want = convert(to, d, x)
			}
			if err != nil || !equal(to, got[0], want) {
				t.Fatalf("%s to %s: %x gives %x, want %x (%v)", d, to, x, got[0], want, err)
			}
		}
	})
}
