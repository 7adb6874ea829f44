package narrow

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// wide are the types of integers of 64 bits.
var wide = []ir.DType{ir.I64, ir.U64}

// numbers are integers of 64 bits: those at which carries and signs change, and random ones of every length.
func numbers() []uint64 {
	list := []uint64{0, 1, 2, 3, 7, 31, 32, 33, 63, 100, 1<<16 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 0x5a5a5a5a5a5a5a5a,
		1<<48 - 1, 0xffff0000ffff, 0x4040000000000001, 0xbfbfffffffffffff, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1}
	r := rand.New(rand.NewPCG(3, 4))
	for bits := 4; bits <= 64; bits += 4 {
		list = append(list, r.Uint64()>>(64-bits))
	}
	for _, x := range list {
		list = append(list, -x)
	}
	return list
}

// pairs returns all pairs of numbers for which ok is true.
func pairs(list []uint64, ok func(x, y uint64) bool) (x, y []uint64) {
	for _, p := range list {
		for _, q := range list {
			if ok(p, q) {
				x, y = append(x, p), append(y, q)
			}
		}
	}
	return x, y
}

// agreeOn compares what a kernel and its narrow form make of numbers of types from, at each index of x.
func agreeOn(t *testing.T, to ir.DType, from []ir.DType, x [][]byte, fill func(b *kernel.Builder, x []*kernel.Value) *kernel.Value) {
	t.Helper()
	const threads = 32
	n := len(x[0]) / from[0].Size()
	k := built(t, threads, func(b *kernel.Builder) {
		var in []*kernel.Value
		for _, d := range from {
			in = append(in, b.Pointer("x", d))
		}
		y, count := b.Pointer("y", to), b.Scalar("n", ir.I32)
		i := b.Global(0)
		b.Do(b.Lt(i, count), func() {
			var operands []*kernel.Value
			for _, p := range in {
				operands = append(operands, b.Load(p, i))
			}
			b.Store(y, i, fill(b, operands))
		})
	})
	var args []any
	for _, a := range x {
		args = append(args, a)
	}
	agree(t, k, (n+threads-1)/threads, append(args, make([]byte, n*to.Size()), int32(n))...)
}

// TestBinary computes every operation on two operands.
func TestBinary(t *testing.T) {
	for _, d := range wide {
		for _, o := range []kernel.Op{
			kernel.Add, kernel.Sub, kernel.Mul, kernel.Min, kernel.Max, kernel.And, kernel.Or, kernel.Xor, kernel.Shl, kernel.Shr,
			kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge,
		} {
			to, isShift := d, o == kernel.Shl || o == kernel.Shr
			if o >= kernel.Eq && o <= kernel.Ge {
				to = ir.Bool
			}
			x, y := pairs(numbers(), func(_, y uint64) bool { return !isShift || y < 64 })
			agreeOn(t, to, []ir.DType{d, d}, [][]byte{memory(x), memory(y)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				return b.Binary(o, v[0], v[1])
			})
		}
	}
}

// TestConstants computes with constants, which simplify the halves of an operation.
func TestConstants(t *testing.T) {
	list := numbers()
	for _, d := range wide {
		for _, o := range []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Rem, kernel.Shl, kernel.Shr, kernel.Lt, kernel.Ge} {
			to, isShift := d, o == kernel.Shl || o == kernel.Shr
			if o >= kernel.Eq && o <= kernel.Ge {
				to = ir.Bool
			}
			for _, y := range []uint64{1, 5, 31, 32, 33, 63, 1 << 32, 3 << 40, math.MaxUint64} {
				if isShift && y > 63 {
					continue
				}
				agreeOn(t, to, []ir.DType{d}, [][]byte{memory(list)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
					return b.Binary(o, v[0], b.Whole(d, int64(y)))
				})
			}
		}
	}
}

// TestUnary computes every operation on one operand, and selects.
func TestUnary(t *testing.T) {
	list := numbers()
	for _, d := range wide {
		for _, o := range []kernel.Op{kernel.Neg, kernel.Abs, kernel.Not} {
			agreeOn(t, d, []ir.DType{d}, [][]byte{memory(list)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				return b.Unary(o, v[0])
			})
		}
		x, y := pairs(list, func(_, _ uint64) bool { return true })
		agreeOn(t, d, []ir.DType{d, d}, [][]byte{memory(x), memory(y)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
			return b.Select(b.Lt(b.Convert(ir.U32, v[0]), b.Convert(ir.U32, v[1])), v[0], v[1])
		})
	}
}
