package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Requantize converts the i32 sums of an integer product. If To is not set, the result is the sum plus a bias.
//
// With To i8 or u8, Requantize adds the bias to the sum, converts the result to f32, and multiplies it by a scale. It
// rounds the product to f32 and then to the nearest integer, ties to even. It adds a zero point, and saturates the
// result to To or, with Clamp, clamps it to [Lo, Hi]. The product is rounded to f32 first, because [QuantizeLinear]
// rounds its quotient to f32 too. Without this, only one of the two might see a tie, and their integers could differ.
//
// With To f32, for a matrix product, the sums are rounded to f32 and multiplied by an f32 scale. An f32 offset,
// with one element or one for each channel, is added instead of the zero point.
type Requantize struct {
	To     ir.DType
	Clamp  bool
	Lo, Hi int
}

// The operands of a product with [Requantize] after its factors and their zero points: a bias, i32; a scale, f32 or
// f64, with one element or one for each channel; and a zero point of type To, or an offset. All are optional, but a
// scale is present if and only if To is set.
const (
	BiasOperand = 4 + iota
	ScaleOperand
	ZeroOperand
	ProductOperands
)

func (r Requantize) check(in []ir.Type, channels dim.Dim) (ir.DType, error) {
	bias, scale, zero := Operand(in, BiasOperand), Operand(in, ScaleOperand), Operand(in, ZeroOperand)
	if !bias.IsZero() {
		if bias.DType != ir.I32 || bias.Rank() != 1 {
			return 0, fmt.Errorf("bias %s", bias)
		}
		if err := Same(bias.Shape[0], channels, "bias and channels"); err != nil {
			return 0, err
		}
	}
	if r.To == ir.Invalid {
		if !scale.IsZero() || !zero.IsZero() || r.Clamp {
			return 0, fmt.Errorf("a scale without a type to scale to")
		}
		return ir.I32, nil
	}
	if r.To != ir.U8 && r.To != ir.I8 && r.To != ir.F32 {
		return 0, fmt.Errorf("sums requantised to %s", r.To)
	}
	if err := r.CheckClamp(); err != nil {
		return 0, err
	}
	if scale.DType != ir.F32 && (scale.DType != ir.F64 || r.To == ir.F32) {
		return 0, fmt.Errorf("scale %s", scale)
	}
	if err := ofChannels(scale, channels, "scale"); err != nil {
		return 0, err
	}
	if r.To == ir.F32 {
		if zero.IsZero() {
			return r.To, nil
		}
		if zero.DType != ir.F32 {
			return 0, fmt.Errorf("offset %s", zero)
		}
		return r.To, ofChannels(zero, channels, "offset")
	}
	if !zero.IsZero() && (zero.DType != r.To || !HasOneElement(zero)) {
		return 0, fmt.Errorf("zero point %s for %s", zero, r.To)
	}
	return r.To, nil
}

// ofChannels returns an error unless t has one element, or is a vector with one for each channel.
// label names the value in the error.
func ofChannels(t ir.Type, channels dim.Dim, label string) error {
	if HasOneElement(t) {
		return nil
	}
	if t.Rank() != 1 {
		return fmt.Errorf("%s %s", label, t)
	}
	return Same(t.Shape[0], channels, label+" and channels")
}

// CheckClamp returns an error if Clamp is set but its bounds are wrong: if To is f32, if To cannot hold Lo or Hi,
// or if Lo exceeds Hi.
func (r Requantize) CheckClamp() error {
	if r.To == ir.F32 {
		if r.Clamp {
			return fmt.Errorf("bounds of %s", r.To)
		}
		return nil
	}
	if lo, hi := QuantRange(r.To); r.Clamp && (int64(r.Lo) < lo || int64(r.Hi) > hi || r.Lo > r.Hi) {
		return fmt.Errorf("bounds %d…%d of %s", r.Lo, r.Hi, r.To)
	}
	return nil
}

// Bounds returns the smallest and the largest number that a result can be, if To is an integer type. Otherwise it
// returns 0 and 0.
func (r Requantize) Bounds() (lo, hi int) {
	if r.To != ir.U8 && r.To != ir.I8 {
		return 0, 0
	}
	if r.Clamp {
		return r.Lo, r.Hi
	}
	least, most := QuantRange(r.To)
	return int(least), int(most)
}

// Store adds the bias of the channel to `sum`, requantises the result, and stores it as element i of y. `in` holds
// the operands of the node.
func (r Requantize) Store(y *ir.Tensor, i int, sum int64, in []*ir.Tensor, channel int) {
	if len(in) > BiasOperand && in[BiasOperand] != nil {
		sum += in[BiasOperand].Int(channel)
	}
	sum = int64(int32(sum))
	if r.To == ir.Invalid {
		y.SetInt(i, sum)
		return
	}
	scale := in[ScaleOperand]
	if r.To == ir.F32 {
		v := float32(float32(sum) * float32(scale.Float(min(channel, scale.Len()-1))))
		if len(in) > ZeroOperand && in[ZeroOperand] != nil {
			v += float32(in[ZeroOperand].Float(min(channel, in[ZeroOperand].Len()-1)))
		}
		y.SetFloat(i, float64(v))
		return
	}
	v := math.RoundToEven(float64(float32(float64(float32(sum)) * scale.Float(min(channel, scale.Len()-1)))))
	if len(in) > ZeroOperand && in[ZeroOperand] != nil {
		v += float64(in[ZeroOperand].Int(0))
	}
	lo, hi := r.Bounds()
	switch {
	case !(v > float64(lo)):
		y.SetInt(i, int64(lo))
	case v > float64(hi):
		y.SetInt(i, int64(hi))
	default:
		y.SetInt(i, int64(v))
	}
}

// CheckFactor returns an error unless a factor x of an integer product is i8 or u8. A zero point must have the same
// type; it may be absent.
func CheckFactor(x, zero ir.Type) error {
	if x.DType != ir.U8 && x.DType != ir.I8 {
		return fmt.Errorf("an integer product of %s, i8 or u8 expected", x.DType)
	}
	if !zero.IsZero() && zero.DType != x.DType {
		return fmt.Errorf("zero point %s for %s", zero, x)
	}
	return nil
}

// ZeroAt returns the zero point of channel i. It is 0 if `zero` is nil, element 0 if `zero` has one
// element, and element i otherwise.
func ZeroAt(zero *ir.Tensor, i int) int64 {
	switch {
	case zero == nil:
		return 0
	case zero.Len() == 1:
		return zero.Int(0)
	}
	return zero.Int(i)
}
