package launch

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var random = []entry{
	computes(multinomial),
	computes(randomNormal),
	computes(randomUniform),
}

// randomUniform draws numbers uniformly between Low and High: it scales rt.UniformAt in each thread. Each operation
// is exact or rounded once.
func randomUniform(o op.RandomUniform, n *ir.Node) ([]kernels.Launch, error) {
	return draw("random_uniform", n, o.Seed, func(e *kernels.Emitter, seed, i *kernel.Value) *kernel.Value {
		return e.Add(e.Float(ir.F64, o.Low), e.Mul(e.Float(ir.F64, o.High-o.Low), uniformAt(e, seed, i)))
	})
}

// randomNormal draws normally distributed numbers: it scales rt.NormalAt in each thread. It carries out the
// operations of rt.NormalAt one by one. Devices that round quotients and roots of f64 correctly therefore compute the
// same bits.
func randomNormal(o op.RandomNormal, n *ir.Node) ([]kernels.Launch, error) {
	return draw("random_normal", n, o.Seed, func(e *kernels.Emitter, seed, i *kernel.Value) *kernel.Value {
		return e.Add(e.Float(ir.F64, o.Mean), e.Mul(e.Float(ir.F64, o.Scale), normalAt(e, seed, i)))
	})
}

// draw returns the launch of a kernel that draws random numbers. The function `number` returns element i of the
// random sequence that its argument `seed` selects. A thread computes an element of the result. The optional key of
// the node changes the seed.
func draw(name string, n *ir.Node, seed int64, number func(e *kernels.Emitter, seed, i *kernel.Value) *kernel.Value) ([]kernels.Launch, error) {
	key, y := n.Arg(0), n.Results[0]
	if d := y.Type.DType; d != ir.F32 && d != ir.F64 {
		return nil, errNarrow
	}
	return one(kernels.Map(name, y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		seed := e.Whole(ir.U64, seed)
		if key != nil {
			seed = e.Times(e.Dim(key.Type.Elems()), []*kernel.Value{seed}, func(k *kernel.Value, s []*kernel.Value) []*kernel.Value {
				mixed, _ := philox(e, s[0], e.Convert(ir.U64, e.Read(key).Get(k)))
				return []*kernel.Value{mixed}
			})[0]
		}
		e.Write(y).Set(i, number(e, seed, i))
	}))
}

// multinomial draws columns of each row, with probabilities that are the softmax of the row. It sums the exponentials
// of the row cumulatively. A thread for each sample then searches the sums.
func multinomial(o op.Multinomial, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	rows, columns := x.Type.Shape[0], x.Type.Shape[1]
	if x.Type.DType != ir.F32 && x.Type.DType != ir.F64 {
		return nil, errNarrow
	}
	if !columns.Sub(dim.Const(1)).NonNegative() {
		return nil, fmt.Errorf("%s columns to draw from", columns)
	}
	d := x.Type.DType
	tops, sums := &kernels.Scratch{DType: d, Shape: []dim.Dim{rows}}, &kernels.Scratch{DType: ir.F64, Shape: x.Type.Shape}
	greatest := extreme(true, d, d)
	first, err := kernels.Reduce("multinomial_top", rows, columns, kernels.Reduction{
		Start: greatest.start,
		Add: func(e *kernels.Emitter, s []*kernel.Value, row, i *kernel.Value) []*kernel.Value {
			return greatest.add(e, s, e.Read(x).At(row, i))
		},
		Join:  greatest.join,
		Store: func(e *kernels.Emitter, row *kernel.Value, s []*kernel.Value) { e.Scratch(tops).Set(row, s[0]) },
	})
	if err != nil {
		return nil, err
	}
	scan, err := kernels.PrefixSums("multinomial_sums", kernels.Scan{
		Rows: rows, Length: columns, DType: ir.F64,
		Term: func(e *kernels.Emitter, row, i *kernel.Value) *kernel.Value {
			distance := e.Sub(e.Read(x).At(row, i), e.Scratch(tops).Get(row))
			return elementary.Exp(e.Builder, e.Convert(ir.F64, distance))
		},
		Store: func(e *kernels.Emitter, row, i, sum *kernel.Value) {
			t := e.Scratch(sums)
			t.Set(t.Offset([]*kernel.Value{row, i}), sum)
		},
	})
	if err != nil {
		return nil, err
	}
	search, err := kernels.Map("multinomial", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		last := e.Sub(e.Dim(columns), e.Int(1))
		t := e.Scratch(sums)
		target := e.Mul(t.At(at[0], last), uniformAt(e, e.Whole(ir.U64, o.Seed), i))
		// Every sum that is not above the target, or not a number, is left of the column.
		column := e.While([]*kernel.Value{e.Int(0), last}, func(b []*kernel.Value) *kernel.Value { return e.Lt(b[0], b[1]) }, func(b []*kernel.Value) []*kernel.Value {
			middle := e.Add(b[0], e.Div(e.Sub(b[1], b[0]), e.Int(2)))
			above := e.Gt(t.At(at[0], middle), target)
			return []*kernel.Value{e.Select(above, b[0], e.Add(middle, e.Int(1))), e.Select(above, middle, b[1])}
		})[0]
		e.Write(y).Set(i, e.Convert(y.Type.DType, column))
	})
	return append(append([]kernels.Launch{first}, scan...), search), err
}

// fraction returns the upper 53 bits of a u64 as a fraction in [0, 1).
func fraction(e *kernels.Emitter, bits *kernel.Value) *kernel.Value {
	return e.Mul(e.Convert(ir.F64, e.Binary(kernel.Shr, bits, e.Whole(ir.U64, 11))), e.Float(ir.F64, 0x1p-53))
}

func uniformAt(e *kernels.Emitter, seed, i *kernel.Value) *kernel.Value {
	a, _ := philox(e, seed, e.Convert(ir.U64, i))
	return fraction(e, a)
}

func normalAt(e *kernels.Emitter, seed, i *kernel.Value) *kernel.Value {
	a, b := philox(e, seed, e.Convert(ir.U64, i))
	num := func(x float64) *kernel.Value { return e.Float(ir.F64, x) }
	square := e.Mul(num(-2), logOf(e, e.Sub(num(1), fraction(e, a))))
	return e.Mul(e.Unary(kernel.Sqrt, square), cosTurn(e, fraction(e, b)))
}

// logOf returns the logarithm of x, 0 < x ≤ 1, as package rt computes it.
func logOf(e *kernels.Emitter, x *kernel.Value) *kernel.Value {
	num := func(x float64) *kernel.Value { return e.Float(ir.F64, x) }
	bits := func(n int64) *kernel.Value { return e.Whole(ir.U64, n) }
	// x is m·2ⁿ. The exponent of ½ is 1022.
	b := e.Bitcast(ir.U64, x)
	n := e.Sub(e.Convert(ir.I32, e.Binary(kernel.Shr, b, bits(52))), e.Int(1022))
	m := e.Bitcast(ir.F64, e.Or(e.And(b, bits(1<<52-1)), bits(1022<<52)))
	small := e.Lt(m, num(math.Sqrt2/2))
	m, n = e.Select(small, e.Mul(num(2), m), m), e.Select(small, e.Sub(n, e.Int(1)), n)
	s := e.Div(e.Sub(m, num(1)), e.Add(m, num(1)))
	z, p := e.Mul(s, s), num(0)
	for k := 23; k > 0; k -= 2 {
		p = e.Add(e.Mul(p, z), num(1/float64(k)))
	}
	return e.Add(e.Mul(e.Convert(ir.F64, n), num(math.Ln2)), e.Mul(e.Mul(num(2), s), p))
}

// cosTurn returns cos(2πt), 0 ≤ t < 1, as package rt computes it.
func cosTurn(e *kernels.Emitter, t *kernel.Value) *kernel.Value {
	num := func(x float64) *kernel.Value { return e.Float(ir.F64, x) }
	t = e.Abs(e.Sub(t, num(0.5)))
	far := e.Gt(t, num(0.25))
	t = e.Select(far, e.Sub(num(0.5), t), t)
	sign := e.Select(far, num(1), num(-1))
	// series returns cos(x), or sin(x) if odd is 1.
	series := func(x *kernel.Value, odd int) *kernel.Value {
		z, p := e.Mul(x, x), num(1)
		for k := 18 + odd; k > 1; k -= 2 {
			p = e.Sub(num(1), e.Div(e.Mul(z, p), num(float64(k*(k-1)))))
		}
		if odd == 1 {
			p = e.Mul(x, p)
		}
		return p
	}
	c := e.If(e.Gt(t, num(0.125)), func() []*kernel.Value {
		return []*kernel.Value{series(e.Mul(num(2*math.Pi), e.Sub(num(0.25), t)), 1)}
	}, func() []*kernel.Value { return []*kernel.Value{series(e.Mul(num(2*math.Pi), t), 0)} })[0]
	return e.Mul(sign, c)
}

// philox returns the two numbers of rt.Philox, as u64.
func philox(e *kernels.Emitter, seed, i *kernel.Value) (a, b *kernel.Value) {
	word := e.Whole(ir.U64, 32)
	low := func(v *kernel.Value) *kernel.Value { return e.Convert(ir.U32, v) }
	high := func(v *kernel.Value) *kernel.Value { return low(e.Binary(kernel.Shr, v, word)) }
	xor := func(x, y, z *kernel.Value) *kernel.Value {
		return e.Binary(kernel.Xor, e.Binary(kernel.Xor, x, y), z)
	}
	product := func(m int64, x *kernel.Value) *kernel.Value {
		return e.Mul(e.Whole(ir.U64, m), e.Convert(ir.U64, x))
	}
	k0, k1 := low(seed), high(seed)
	x := [4]*kernel.Value{low(i), high(i), e.Whole(ir.U32, 0), e.Whole(ir.U32, 0)}
	for range 10 {
		p, q := product(0xd2511f53, x[0]), product(0xcd9e8d57, x[2])
		x = [4]*kernel.Value{xor(high(q), x[1], k0), low(q), xor(high(p), x[3], k1), low(p)}
		k0, k1 = e.Add(k0, e.Whole(ir.U32, 0x9e3779b9)), e.Add(k1, e.Whole(ir.U32, 0xbb67ae85))
	}
	join := func(high, low *kernel.Value) *kernel.Value {
		return e.Or(e.Binary(kernel.Shl, e.Convert(ir.U64, high), word), e.Convert(ir.U64, low))
	}
	return join(x[1], x[0]), join(x[3], x[2])
}
