package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// wrapped returns the value of v as an integer of type d that wraps: only the low bits of v count. v is of the type
// in which kernels compute d. wrapped returns v itself unless d is an integer type of less than 32 bits.
func wrapped(b *kernel.Builder, d ir.DType, v *kernel.Value) *kernel.Value {
	switch n := d.Bits(); {
	case !d.IsInt() || n >= 32:
		return v
	case d.Class() == ir.Unsigned:
		return b.And(v, b.Whole(ir.U32, 1<<n-1))
	default:
		spare := b.Int(32 - n)
		return b.Binary(kernel.Shr, b.Binary(kernel.Shl, v, spare), spare)
	}
}

func number(b *kernel.Builder, v *kernel.Value, x float64) *kernel.Value {
	return b.Number(v.Type.DType, x)
}

// clamped returns x clamped to [lo, hi]. All three have one type. NaN stays NaN.
func clamped(b *kernel.Builder, x, lo, hi *kernel.Value) *kernel.Value {
	return b.Min(hi, b.Max(lo, x))
}

func isNegative(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Lt(x, number(b, x, 0)) }
