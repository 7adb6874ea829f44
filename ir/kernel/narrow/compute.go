package narrow

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// compute replaces `in`, an instruction without effects, by instructions without integers of 64 bits. It returns
// the values that replace the results of `in`.
func (n *narrowing) compute(in *kernel.Instr) []*kernel.Value {
	to := in.Results[0].Type.DType
	switch in.Op {
	case kernel.Const:
		return n.constant(to, in.Bits)
	case kernel.Select:
		cond, x, y := n.of(in.Args[0]), n.all(in.Args[1:2]), n.all(in.Args[2:])
		out := make([]*kernel.Value, len(x))
		for i := range out {
			out[i] = n.Select(cond, x[i], y[i])
		}
		return out
	}
	d := in.Args[0].Type.DType
	switch {
	case in.Op == kernel.Split && is64(d):
		return n.all(in.Args)
	case in.Op == kernel.Split:
		low, high := n.Split(n.of(in.Args[0]))
		return []*kernel.Value{low, high}
	case in.Op == kernel.Convert && is64(d):
		return n.fromPair(to, d, n.pair(in.Args[0]))
	case in.Op == kernel.Convert && is64(to):
		return n.toPair(to, d, n.of(in.Args[0])).halves()
	case in.Op == kernel.Convert:
		return []*kernel.Value{n.Convert(to, n.of(in.Args[0]))}
	case in.Op == kernel.Bitcast && is64(d) && is64(to):
		return n.all(in.Args)
	case in.Op == kernel.Bitcast && is64(d):
		n.Fail("the bits of an integer as %s have no form without integers of 64 bits", to)
	case in.Op == kernel.Bitcast && is64(to):
		low, high := n.Split(n.of(in.Args[0]))
		return []*kernel.Value{low, high}
	case in.Op == kernel.Bitcast:
		return []*kernel.Value{n.Bitcast(to, n.of(in.Args[0]))}
	case in.Op == kernel.Fma:
		return []*kernel.Value{n.Fma(n.of(in.Args[0]), n.of(in.Args[1]), n.of(in.Args[2]))}
	case len(in.Args) == 1 && is64(d):
		return n.unary(in.Op, d, n.pair(in.Args[0])).halves()
	case len(in.Args) == 1:
		return []*kernel.Value{n.Unary(in.Op, n.of(in.Args[0]))}
	case is64(d) && to == ir.Bool:
		return []*kernel.Value{n.compare(in.Op, d, n.pair(in.Args[0]), n.pair(in.Args[1]))}
	case is64(d):
		return n.binary(in.Op, d, n.pair(in.Args[0]), n.pair(in.Args[1])).halves()
	}
	return []*kernel.Value{n.Binary(in.Op, n.of(in.Args[0]), n.of(in.Args[1]))}
}

func (n *narrowing) constant(d ir.DType, bits uint64) []*kernel.Value {
	switch {
	case is64(d):
		return []*kernel.Value{n.word(uint32(bits)), n.word(uint32(bits >> 32))}
	case d == ir.F64:
		return []*kernel.Value{n.Bitcast(d, n.Whole(ir.U64, int64(bits)))}
	case d.IsFloat():
		whole := map[int]ir.DType{16: ir.U16, 32: ir.U32}[d.Bits()]
		return []*kernel.Value{n.Bitcast(d, n.Whole(whole, int64(bits)))}
	}
	return []*kernel.Value{n.Whole(d, int64(bits))}
}

func (x pair) halves() []*kernel.Value { return []*kernel.Value{x.low, x.high} }

func (n *narrowing) word(x uint32) *kernel.Value { return n.Whole(ir.U32, int64(x)) }

func (n *narrowing) one(cond *kernel.Value) *kernel.Value { return n.Convert(ir.U32, cond) }

func (n *narrowing) choose(cond *kernel.Value, x, y pair) pair {
	return pair{n.Select(cond, x.low, y.low), n.Select(cond, x.high, y.high)}
}

func (n *narrowing) unary(o kernel.Op, d ir.DType, x pair) pair {
	switch {
	case o == kernel.Not:
		return pair{n.Not(x.low), n.Not(x.high)}
	case o == kernel.Neg:
		return n.negate(x)
	case d == ir.U64: // the absolute value
		return x
	}
	return n.choose(n.isNegative(d, x), n.negate(x), x)
}

func (n *narrowing) negate(x pair) pair {
	return n.sub(pair{n.word(0), n.word(0)}, x)
}

func (n *narrowing) isNegative(d ir.DType, x pair) *kernel.Value {
	if d == ir.U64 {
		return n.Bool(false)
	}
	return n.Lt(n.Bitcast(ir.I32, x.high), n.Int(0))
}

func (n *narrowing) binary(o kernel.Op, d ir.DType, x, y pair) pair {
	switch o {
	case kernel.Add:
		return n.add(x, y)
	case kernel.Sub:
		return n.sub(x, y)
	case kernel.Mul:
		return n.mul(x, y)
	case kernel.Div, kernel.Rem:
		quotient, remainder := n.divide(d, x, y)
		if o == kernel.Div {
			return quotient
		}
		return remainder
	case kernel.Min:
		return n.choose(n.less(d, x, y), x, y)
	case kernel.Max:
		return n.choose(n.less(d, y, x), x, y)
	case kernel.Shl:
		return n.shiftLeft(x, y.low)
	case kernel.Shr:
		return n.shiftRight(d, x, y.low)
	}
	return pair{n.Binary(o, x.low, y.low), n.Binary(o, x.high, y.high)} // bitwise
}

func (n *narrowing) add(x, y pair) pair {
	low := n.Add(x.low, y.low)
	carry := n.one(n.Lt(low, x.low))
	return pair{low, n.Add(n.Add(x.high, y.high), carry)}
}

func (n *narrowing) sub(x, y pair) pair {
	borrow := n.one(n.Lt(x.low, y.low))
	return pair{n.Sub(x.low, y.low), n.Sub(n.Sub(x.high, y.high), borrow)}
}

func (n *narrowing) mul(x, y pair) pair {
	p := n.product(x.low, y.low)
	cross := n.Add(n.Mul(x.low, y.high), n.Mul(x.high, y.low))
	return pair{p.low, n.Add(p.high, cross)}
}

// product returns all 64 bits of the product of two u32. It multiplies their halves of 16 bits.
func (n *narrowing) product(x, y *kernel.Value) pair {
	part := func(v *kernel.Value) (low, high *kernel.Value) {
		return n.And(v, n.word(0xffff)), n.Binary(kernel.Shr, v, n.word(16))
	}
	xl, xh := part(x)
	yl, yh := part(y)
	_, carry := part(n.Mul(xl, yl))
	a, b := n.Mul(xl, yh), n.Mul(xh, yl)
	aLow, aHigh := part(a)
	middle := n.Add(n.Add(b, carry), aLow) // less than 2³²: b is at most (2¹⁶−1)²
	_, middleHigh := part(middle)
	return pair{n.Mul(x, y), n.Add(n.Add(n.Mul(xh, yh), aHigh), middleHigh)}
}

func (n *narrowing) compare(o kernel.Op, d ir.DType, x, y pair) *kernel.Value {
	switch o {
	case kernel.Eq:
		return n.And(n.Eq(x.low, y.low), n.Eq(x.high, y.high))
	case kernel.Ne:
		return n.Or(n.Ne(x.low, y.low), n.Ne(x.high, y.high))
	case kernel.Lt:
		return n.less(d, x, y)
	case kernel.Le:
		return n.Not(n.less(d, y, x))
	case kernel.Gt:
		return n.less(d, y, x)
	}
	return n.Not(n.less(d, x, y))
}

func (n *narrowing) less(d ir.DType, x, y pair) *kernel.Value {
	p, q := x.high, y.high
	if d == ir.I64 {
		p, q = n.Bitcast(ir.I32, p), n.Bitcast(ir.I32, q)
	}
	return n.Or(n.Lt(p, q), n.And(n.Eq(p, q), n.Lt(x.low, y.low)))
}

// shiftLeft returns x shifted left by 0 to 63 bits.
func (n *narrowing) shiftLeft(x pair, by *kernel.Value) pair {
	isFar, by, rest := n.distance(by)
	low := n.Binary(kernel.Shl, x.low, by)
	over := n.Binary(kernel.Shr, n.Binary(kernel.Shr, x.low, n.word(1)), rest)
	high := n.Or(n.Binary(kernel.Shl, x.high, by), over)
	return pair{n.Select(isFar, n.word(0), low), n.Select(isFar, low, high)}
}

// shiftRight returns x, of type d, shifted right by 0 to 63 bits.
func (n *narrowing) shiftRight(d ir.DType, x pair, by *kernel.Value) pair {
	isFar, by, rest := n.distance(by)
	over := n.Binary(kernel.Shl, n.Binary(kernel.Shl, x.high, n.word(1)), rest)
	low := n.Or(n.Binary(kernel.Shr, x.low, by), over)
	high, fill := n.Binary(kernel.Shr, x.high, by), n.word(0)
	if d == ir.I64 {
		signed := n.Bitcast(ir.I32, x.high)
		high = n.Bitcast(ir.U32, n.Binary(kernel.Shr, signed, n.Bitcast(ir.I32, by)))
		fill = n.Bitcast(ir.U32, n.Binary(kernel.Shr, signed, n.Int(31)))
	}
	return pair{n.Select(isFar, high, low), n.Select(isFar, fill, high)}
}

// distance splits a shift by 0 to 63 bits. isFar is true if the shift is by at least 32 bits. remainder is the
// number of bits mod 32, and rest is 31 − remainder.
func (n *narrowing) distance(by *kernel.Value) (isFar, remainder, rest *kernel.Value) {
	remainder = n.And(by, n.word(31))
	return n.Ge(by, n.word(32)), remainder, n.Sub(n.word(31), remainder)
}
