package spirv

import (
	"math"
	"math/big"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// operations returns a trial of every operation on every type.
func operations() []trial {
	var out []trial
	numbers := []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}
	wholes, reals := numbers[:4], numbers[4:]
	logical := append([]ir.DType{ir.Bool}, wholes...)
	for _, c := range []struct {
		on  []ir.DType
		ops []kernel.Op
	}{
		{numbers, []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Min, kernel.Max}},
		{wholes, []kernel.Op{kernel.Rem, kernel.Shl, kernel.Shr}},
		{logical, []kernel.Op{kernel.And, kernel.Or, kernel.Xor}},
	} {
		for _, d := range c.on {
			for _, op := range c.ops {
				want := func(x []uint64) (uint64, bool) { return ofTwo(op, d, x[0], x[1]) }
				judge := exactly(d, want)
				if op == kernel.Div && d.IsFloat() {
					judge = within(d, 2, want)
				}
				out = append(out, each(op.String()+"_"+d.String(), []ir.DType{d, d}, d, pairs(samples(d), samples(d)),
					func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Binary(op, x[0], x[1]) }, judge))
			}
		}
	}
	for _, d := range append([]ir.DType{ir.Bool}, numbers...) {
		for _, op := range []kernel.Op{kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge} {
			if d == ir.Bool && op != kernel.Eq && op != kernel.Ne {
				continue
			}
			out = append(out, each(op.String()+"_"+d.String(), []ir.DType{d, d}, ir.Bool, pairs(samples(d), samples(d)),
				func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Binary(op, x[0], x[1]) },
				exactly(ir.Bool, func(x []uint64) (uint64, bool) { return truth(compare(op, d, x[0], x[1])), true })))
		}
	}
	for _, c := range []struct {
		on  []ir.DType
		ops []kernel.Op
	}{
		{numbers, []kernel.Op{kernel.Neg, kernel.Abs}},
		{logical, []kernel.Op{kernel.Not}},
		{reals, []kernel.Op{kernel.Sqrt, kernel.Floor, kernel.Ceil, kernel.Trunc, kernel.Round}},
	} {
		for _, d := range c.on {
			for _, op := range c.ops {
				want := func(x []uint64) (uint64, bool) { return ofOne(op, d, x[0]), true }
				judge := exactly(d, want)
				if op == kernel.Sqrt {
					judge = within(d, 3, want)
				}
				out = append(out, each(op.String()+"_"+d.String(), []ir.DType{d}, d, [][]uint64{samples(d)},
					func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Unary(op, x[0]) }, judge))
			}
		}
	}
	for _, d := range wholes {
		for _, by := range []int64{3, -1, -7, 16} {
			name := map[int64]string{3: "3", -1: "minus1", -7: "minus7", 16: "16"}[by]
			for _, op := range []kernel.Op{kernel.Div, kernel.Rem} {
				out = append(out, each(op.String()+"_"+d.String()+"_by_"+name, []ir.DType{d}, d, [][]uint64{samples(d)},
					func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Binary(op, x[0], b.Whole(d, by)) },
					exactly(d, func(x []uint64) (uint64, bool) { return ofTwo(op, d, x[0], low(d, uint64(by))) })))
			}
		}
	}
	for _, d := range reals {
		p := pairs(samples(d), samples(d))
		x := [][]uint64{p[0], p[1], slices.Concat(p[1][7:], p[1][:7])}
		out = append(out,
			each("fma_"+d.String(), []ir.DType{d, d, d}, d, x,
				func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Fma(x[0], x[1], x[2]) },
				func(x []uint64, got uint64) (uint64, bool) {
					once, ok := exactly(d, func(x []uint64) (uint64, bool) { return fused(d, x) })(x, got)
					if _, twice := exactly(d, func(x []uint64) (uint64, bool) { return unfused(d, x) })(x, got); twice {
						return once, true
					}
					return once, ok
				}),
			// A product and a sum are rounded twice, even if the device could fuse them.
			each("mul_add_"+d.String(), []ir.DType{d, d, d}, d, x,
				func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Add(b.Mul(x[0], x[1]), x[2]) },
				exactly(d, func(x []uint64) (uint64, bool) { return unfused(d, x) })))
	}
	for _, d := range types {
		x := samples(d)
		y := slices.Concat(x[3:], x[:3])
		c := make([]uint64, len(x))
		for i := range c {
			c[i] = uint64(i % 3)
		}
		out = append(out, each("select_"+d.String(), []ir.DType{ir.Bool, d, d}, d, [][]uint64{c, x, y},
			func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return b.Select(x[0], x[1], x[2]) },
			exactly(d, func(x []uint64) (uint64, bool) {
				r := x[2]
				if x[0] != 0 {
					r = x[1]
				}
				if d == ir.Bool {
					r = truth(r != 0)
				}
				return r, true
			})))
	}
	return out
}

// fused computes x·y + z with one rounding.
func fused(d ir.DType, x []uint64) (uint64, bool) {
	p, q, r := real64(d, x[0]), real64(d, x[1]), real64(d, x[2])
	sum := math.FMA(p, q, r)
	if d == ir.F32 && sum != 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum) {
		product := new(big.Float).SetPrec(2000).Mul(big.NewFloat(p), big.NewFloat(q))
		f, _ := product.Add(product, big.NewFloat(r)).Float32()
		sum = float64(f)
	}
	s := bitsOf(d, sum)
	return s, !isTiny(d, s) || sum == 0
}

// unfused computes x·y + z with two roundings.
func unfused(d ir.DType, x []uint64) (uint64, bool) {
	product, certain := ofTwo(kernel.Mul, d, x[0], x[1])
	sum, ok := ofTwo(kernel.Add, d, product, x[2])
	return sum, ok && certain
}

func truth(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

// isTiny reports whether a float is denormal or 0: a device may flush such results.
func isTiny(d ir.DType, x uint64) bool {
	least := 0x1p-126
	if d == ir.F64 {
		least = 0x1p-1022
	}
	return math.Abs(real64(d, x)) < least
}

// ofTwo computes an operation on two numbers. ok is false where it has no certain result.
func ofTwo(op kernel.Op, d ir.DType, x, y uint64) (r uint64, ok bool) {
	if d.IsFloat() {
		p, q := real64(d, x), real64(d, y)
		switch op {
		case kernel.Add:
			return bitsOf(d, p+q), true
		case kernel.Sub:
			return bitsOf(d, p-q), true
		case kernel.Mul:
			r = bitsOf(d, p*q)
			return r, !isTiny(d, r) || p*q == 0
		case kernel.Div:
			r = bitsOf(d, p/q)
			return r, !isTiny(d, r) || p == 0
		case kernel.Min:
			if p < q {
				return x, true
			}
			return y, true
		case kernel.Max:
			if p > q {
				return x, true
			}
			return y, true
		}
	}
	if d == ir.Bool {
		x, y = truth(x != 0), truth(y != 0)
	}
	p, q := new(big.Int), new(big.Int)
	if d.Class() == ir.Signed {
		p.SetInt64(signed(d, x))
		q.SetInt64(signed(d, y))
	} else {
		p.SetUint64(x)
		q.SetUint64(y)
	}
	z := new(big.Int)
	switch op {
	case kernel.Add:
		z.Add(p, q)
	case kernel.Sub:
		z.Sub(p, q)
	case kernel.Mul:
		z.Mul(p, q)
	case kernel.Div, kernel.Rem:
		if q.Sign() == 0 {
			return 0, false
		}
		if op == kernel.Div {
			z.Quo(p, q)
		} else {
			z.Rem(p, q)
		}
	case kernel.Min:
		z = p
		if q.Cmp(p) < 0 {
			z = q
		}
	case kernel.Max:
		z = p
		if q.Cmp(p) > 0 {
			z = q
		}
	case kernel.And:
		z.And(p, q)
	case kernel.Or:
		z.Or(p, q)
	case kernel.Xor:
		z.Xor(p, q)
	case kernel.Shl, kernel.Shr:
		if y >= uint64(8*d.Size()) {
			return 0, false
		}
		if op == kernel.Shl {
			z.Lsh(p, uint(y))
		} else {
			z.Rsh(p, uint(y))
		}
	}
	return low(d, new(big.Int).And(z, new(big.Int).SetUint64(math.MaxUint64)).Uint64()), true
}

func compare(op kernel.Op, d ir.DType, x, y uint64) bool {
	var less, equal, greater bool
	switch d.Class() {
	case ir.Float:
		p, q := real64(d, x), real64(d, y)
		less, equal, greater = p < q, p == q, p > q
	case ir.Signed:
		p, q := signed(d, x), signed(d, y)
		less, equal, greater = p < q, p == q, p > q
	case ir.Logical:
		equal = (x != 0) == (y != 0)
	default:
		less, equal, greater = x < y, x == y, x > y
	}
	switch op {
	case kernel.Eq:
		return equal
	case kernel.Ne:
		return !equal
	case kernel.Lt:
		return less
	case kernel.Le:
		return less || equal
	case kernel.Gt:
		return greater
	}
	return greater || equal
}

func ofOne(op kernel.Op, d ir.DType, x uint64) uint64 {
	if !d.IsFloat() {
		n := signed(d, x)
		switch {
		case op == kernel.Not && d == ir.Bool:
			return truth(x == 0)
		case op == kernel.Not:
			return low(d, ^x)
		case op == kernel.Neg, n < 0 && d.Class() == ir.Signed:
			return low(d, uint64(-n))
		}
		return x
	}
	return bitsOf(d, map[kernel.Op]func(float64) float64{
		kernel.Neg: func(x float64) float64 { return -x }, kernel.Abs: math.Abs, kernel.Sqrt: math.Sqrt, kernel.Floor: math.Floor,
		kernel.Ceil: math.Ceil, kernel.Trunc: math.Trunc, kernel.Round: math.RoundToEven,
	}[op](real64(d, x)))
}
