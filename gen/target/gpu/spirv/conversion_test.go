package spirv

import (
	"math"
	"math/big"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/rt"
)

// conversions returns a trial of every conversion, and of the same bits as every type of the width.
func conversions() []trial {
	var out []trial
	for _, from := range types {
		for _, to := range types {
			if from == to {
				continue
			}
			out = append(out, each("convert_"+from.String()+"_"+to.String(), []ir.DType{from}, to, [][]uint64{samples(from)},
				func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Convert(to, x[0]) },
				exactly(to, func(x []uint64) (uint64, bool) { return converted(to, from, x[0]), true })))
			if from.Bits() != to.Bits() || from == ir.Bool || to == ir.Bool {
				continue
			}
			out = append(out, each("bitcast_"+from.String()+"_"+to.String(), []ir.DType{from}, to, [][]uint64{samples(from)},
				func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Bitcast(to, x[0]) },
				exactly(to, func(x []uint64) (uint64, bool) { return x[0], true })))
		}
	}
	for _, d := range []ir.DType{ir.I64, ir.U64, ir.F64} {
		for half, name := range []string{"low", "high"} {
			out = append(out, each("split_"+d.String()+"_"+name, []ir.DType{d}, ir.U32, [][]uint64{samples(d)},
				func(b *kernel.Builder, x []*kernel.Value) *kernel.Value {
					low, high := b.Split(x[0])
					return []*kernel.Value{low, high}[half]
				},
				exactly(ir.U32, func(x []uint64) (uint64, bool) { return x[0] >> (32 * half) & math.MaxUint32, true })))
		}
	}
	// All halves, and what lies between them, become what they must.
	halves := make([]uint64, 1<<16)
	for i := range halves {
		halves[i] = uint64(i)
	}
	for _, d := range []ir.DType{ir.F16, ir.BF16} {
		out = append(out, each("convert_all_"+d.String(), []ir.DType{d}, ir.F32, [][]uint64{halves},
			func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Convert(ir.F32, x[0]) },
			exactly(ir.F32, func(x []uint64) (uint64, bool) {
				r := converted(ir.F32, d, x[0])
				return r, !isTiny(ir.F32, r) || r<<33 == 0
			})))
		var between []uint64
		for i := range uint64(1 << 15) {
			x := math.Float32bits(rt.Float16(i).Float32())
			if d == ir.BF16 {
				x = uint32(i) << 16
			}
			y := math.Float32bits(rt.Float16(i + 1).Float32())
			if d == ir.BF16 {
				y = uint32(i+1) << 16
			}
			middle := uint64(x/2 + y/2)
			between = append(between, middle-1, middle, middle+1, middle|1<<31)
		}
		out = append(out, each("convert_between_"+d.String(), []ir.DType{ir.F32}, d, [][]uint64{between},
			func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Convert(d, x[0]) },
			exactly(d, func(x []uint64) (uint64, bool) {
				return converted(d, ir.F32, x[0]), !isTiny(ir.F32, x[0])
			})))
	}
	return slices.Clip(out)
}

// converted converts a number by exact arithmetic.
func converted(to, from ir.DType, x uint64) uint64 {
	var special float64 // NaN or an infinity
	exact := new(big.Float).SetPrec(2000)
	switch {
	case from == ir.Bool:
		exact.SetUint64(truth(x != 0))
	case from.Class() == ir.Signed:
		exact.SetInt64(signed(from, x))
	case from.Class() == ir.Unsigned:
		exact.SetUint64(x)
	default:
		f := map[ir.DType]func() float64{
			ir.F16: func() float64 { return float64(rt.Float16(x).Float32()) }, ir.BF16: func() float64 { return float64(rt.BFloat16(x).Float32()) },
			ir.F32: func() float64 { return real64(ir.F32, x) }, ir.F64: func() float64 { return real64(ir.F64, x) },
		}[from]()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			special = f
		} else {
			exact.SetFloat64(f)
		}
	}
	switch {
	case to == ir.Bool:
		return truth(special != 0 || exact.Sign() != 0)
	case to.IsFloat() && special != 0:
		return rounded(to, special)
	case to == ir.F64:
		f, _ := exact.Float64()
		return math.Float64bits(f)
	case to == ir.F32:
		f, _ := exact.Float32()
		return uint64(math.Float32bits(f))
	case to.IsFloat():
		f, accuracy := exact.Float32() // to odd
		if b := math.Float32bits(f); accuracy != big.Exact {
			if away := (accuracy == big.Above) != math.Signbit(float64(f)); away {
				b--
			}
			f = math.Float32frombits(b | 1)
		}
		return rounded(to, float64(f))
	case math.IsNaN(special):
		return 0
	}
	if from.IsFloat() { // to the nearest integer there is
		least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(8*to.Size()))
		if to.Class() == ir.Signed {
			most.Rsh(most, 1)
			least.Neg(most)
		}
		most.Sub(most, big.NewInt(1))
		n, _ := exact.Int(nil)
		switch {
		case special > 0 || n.Cmp(most) > 0:
			n = most
		case special < 0 || n.Cmp(least) < 0:
			n = least
		}
		exact.SetInt(n)
	}
	n, _ := exact.Int(nil)
	return low(to, n.And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
}

// rounded returns a float that has no more than 24 bits as another type.
func rounded(d ir.DType, f float64) uint64 {
	switch d {
	case ir.F16:
		return uint64(rt.ToFloat16(float32(f)))
	case ir.BF16:
		return uint64(rt.ToBFloat16(float32(f)))
	}
	return bitsOf(d, f)
}
