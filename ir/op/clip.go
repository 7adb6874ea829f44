package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Clip clamps numbers x to [Lo, Hi]. A Lo of −∞ and a Hi of +∞ have no effect. NaN stays NaN. If Lo
// exceeds Hi, the result is Hi.
type Clip struct {
	unary[numbers]
	Lo, Hi float64
}

// Infer returns the operand's type. For an integer type, a finite bound must be a number of this type and below
// 2⁶³. Otherwise Infer returns an error.
func (op Clip) Infer(in []ir.Type) ([]ir.Type, error) {
	out, err := op.unary.Infer(in)
	if err != nil {
		return nil, err
	}
	for _, v := range []float64{op.Lo, op.Hi} {
		if d := in[0].DType; d.IsInt() && !math.IsInf(v, 0) && !intHas(d, v) {
			return nil, fmt.Errorf("bound %v does not fit %s", v, d)
		}
	}
	return out, nil
}

// intHas reports whether the integer type d can represent v. It returns false for 2⁶³ and above.
func intHas(d ir.DType, v float64) bool {
	lo, hi := intRange(d)
	return v == math.Trunc(v) && v >= float64(lo) && v <= float64(hi) && v < 1<<63
}

func intRange(d ir.DType) (lo int64, hi uint64) {
	if d.Class() == ir.Unsigned {
		return 0, math.MaxUint64 >> (64 - d.Bits())
	}
	return math.MinInt64 >> (64 - d.Bits()), math.MaxInt64 >> (64 - d.Bits())
}

// Eval returns x clamped to [Lo, Hi] for each element x.
func (op Clip) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	lo, hi := IntBounds(in[0].DType, op.Lo, op.Hi)
	return evalMapping(in, mapping{
		float:    func(x float64) float64 { return limit(x, op.Lo, op.Hi) },
		signed:   func(x int64) int64 { return limit(x, lo, hi) },
		unsigned: func(x uint64) uint64 { return limit(x, uint64(lo), uint64(hi)) },
	})
}

// Scalar returns an element clamped to [Lo, Hi].
func (op Clip) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	t := x[0].Type.DType
	if t.IsFloat() {
		return clamped(b, x[0], b.Float(t, op.Lo), b.Float(t, op.Hi))
	}
	lo, hi := IntBounds(d, op.Lo, op.Hi)
	return clamped(b, x[0], b.Whole(t, lo), b.Whole(t, hi))
}

func limit[T real](x, lo, hi T) T {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

// IntBounds returns lo and hi as integers of type d. An infinite bound becomes the smallest or largest integer. A
// bound of u64 is returned as the int64 with the same bits. If d is not an integer type, both results are 0.
func IntBounds(d ir.DType, lo, hi float64) (int64, int64) {
	if !d.IsInt() {
		return 0, 0
	}
	least, greatest := intRange(d)
	bound := func(v float64) int64 {
		switch {
		case math.IsInf(v, -1):
			return least
		case math.IsInf(v, 1):
			return int64(greatest)
		}
		return int64(v)
	}
	return bound(lo), bound(hi)
}

// InferElems returns the known elements, clamped to [Lo, Hi]. It returns nil if Lo or Hi is finite but not a 32-bit
// integer.
func (op Clip) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		if !math.IsInf(op.Lo, -1) {
			if op.Lo != float64(int32(op.Lo)) {
				return r, false
			}
			r.Num = r.Num.Max(dim.Const(int(op.Lo)).Mul(dim.Const(r.Den)))
		}
		if !math.IsInf(op.Hi, 1) {
			if op.Hi != float64(int32(op.Hi)) {
				return r, false
			}
			r.Num = r.Num.Min(dim.Const(int(op.Hi)).Mul(dim.Const(r.Den)))
		}
		return fraction(r.Num, r.Den)
	})
}

// Grad returns dy where x is from Lo to Hi, and 0 elsewhere.
func (op Clip) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.where(c.between(x, op.Lo, op.Hi), c.num(x, 1)) })
}

func importClip(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if c.Opset() < 11 {
		consumed(c)
		op := Clip{Lo: c.Float("min", math.Inf(-1)), Hi: c.Float("max", math.Inf(1))}
		return []*ir.Value{b.Node(op, x)}, nil
	}
	lo, hi := c.Arg(1), c.Arg(2)
	for _, v := range []*ir.Value{lo, hi} {
		if v == nil {
			continue
		}
		if n, ok := v.Type.Elems().Int(); !ok || n != 1 {
			return nil, fmt.Errorf("bound %s is not a scalar", v.Type)
		}
	}
	least, okLo := clipBound(lo, x.Type.DType, math.Inf(-1))
	greatest, okHi := clipBound(hi, x.Type.DType, math.Inf(1))
	if okLo && okHi {
		return []*ir.Value{b.Node(Clip{Lo: least, Hi: greatest}, x)}, nil
	}
	if lo != nil {
		x = b.Node(Max{}, x, ReshapeTo(b, lo))
	}
	if hi != nil {
		x = b.Node(Min{}, x, ReshapeTo(b, hi))
	}
	return []*ir.Value{x}, nil
}

// clipBound returns the value of the bound v, or `fallback` if v is nil. It returns false unless v is nil, or a
// constant of type d that a float64 represents exactly.
func clipBound(v *ir.Value, d ir.DType, fallback float64) (float64, bool) {
	if v == nil {
		return fallback, true
	}
	t, ok := v.ConstValue()
	if !ok || t.DType != d || !(numbers{}).has(d) {
		return 0, false
	}
	n := t.Number(0)
	return n, n == n && (d.IsFloat() || intHas(d, n) && int64(n) == t.Int(0))
}

// IsIdentity reports whether both bounds are infinite.
func (op Clip) IsIdentity(ir.Type) bool { return math.IsInf(op.Lo, -1) && math.IsInf(op.Hi, 1) }

// Limits returns Lo and Hi.
func (op Clip) Limits() (lo, hi float64) { return op.Lo, op.Hi }

// IsCheap marks the operator as cheaper to compute than to store.
func (Clip) IsCheap() {}
