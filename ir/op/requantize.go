package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// Requantize is what becomes of the sums of an integer product, i32. Without To
// they are the result, plus a bias. With To, i8 or u8, they and the bias are
// rounded to f32, multiplied by a scale, the product rounded to f32 and then to the
// nearest integer, halves to the even one, and with a zero point added limited to To;
// with Clamp to Lo…Hi. What [QuantizeLinear] finds a half, after rounding a quotient to
// f32, is one here. With To f32, of a product of matrices, they are rounded to f32 and
// multiplied by a scale, f32, and an offset f32, which has the place of the zero point and
// one element or one for each channel, is added.
type Requantize struct {
	To     ir.DType
	Clamp  bool
	Lo, Hi int
}

// The operands of a product with [Requantize] that follow the factors and their
// zero points: a bias i32, a scale f32 or f64, of one element or one for each channel,
// and a zero point of type To, or an offset. Any may be absent, but a scale stands with To.
const (
	biasOperand = 4 + iota
	scaleOperand
	zeroOperand
	productOperands
)

// check checks the operands for this many channels and returns the element type
// of the result.
func (r Requantize) check(in []ir.Type, channels ir.Dim) (ir.DType, error) {
	bias, scale, zero := operand(in, biasOperand), operand(in, scaleOperand), operand(in, zeroOperand)
	if !bias.IsZero() {
		if bias.DType != ir.I32 || bias.Rank() != 1 {
			return 0, fmt.Errorf("bias %s", bias)
		}
		if err := same(bias.Shape[0], channels, "bias and channels"); err != nil {
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
	if err := r.checkClamp(); err != nil {
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
	if !zero.IsZero() && (zero.DType != r.To || !isOne(zero)) {
		return 0, fmt.Errorf("zero point %s for %s", zero, r.To)
	}
	return r.To, nil
}

// ofChannels checks that a vector has one element, or one for each channel.
func ofChannels(t ir.Type, channels ir.Dim, what string) error {
	if isOne(t) {
		return nil
	}
	if t.Rank() != 1 {
		return fmt.Errorf("%s %s", what, t)
	}
	return same(t.Shape[0], channels, what+" and channels")
}

func (r Requantize) checkClamp() error {
	if r.To == ir.F32 {
		if r.Clamp {
			return fmt.Errorf("bounds of %s", r.To)
		}
		return nil
	}
	if lo, hi := quantRange(r.To); r.Clamp && (int64(r.Lo) < lo || int64(r.Hi) > hi || r.Lo > r.Hi) {
		return fmt.Errorf("bounds %d…%d of %s", r.Lo, r.Hi, r.To)
	}
	return nil
}

// bounds returns the least and the greatest result, of integers.
func (r Requantize) bounds() (lo, hi int) {
	if r.To != ir.U8 && r.To != ir.I8 {
		return 0, 0
	}
	if r.Clamp {
		return r.Lo, r.Hi
	}
	least, most := quantRange(r.To)
	return int(least), int(most)
}

// set stores the result of a channel's sum as element i of y.
func (r Requantize) set(y *ir.Tensor, i int, sum int64, in []*ir.Tensor, channel int) {
	if len(in) > biasOperand && in[biasOperand] != nil {
		sum += in[biasOperand].Int(channel)
	}
	sum = int64(int32(sum))
	if r.To == ir.Invalid {
		y.SetInt(i, sum)
		return
	}
	scale := in[scaleOperand]
	if r.To == ir.F32 {
		v := float32(float32(sum) * float32(scale.Float(min(channel, scale.Len()-1))))
		if len(in) > zeroOperand && in[zeroOperand] != nil {
			v += float32(in[zeroOperand].Float(min(channel, in[zeroOperand].Len()-1)))
		}
		y.SetFloat(i, float64(v))
		return
	}
	v := math.RoundToEven(float64(float32(float64(float32(sum)) * scale.Float(min(channel, scale.Len()-1)))))
	if len(in) > zeroOperand && in[zeroOperand] != nil {
		v += float64(in[zeroOperand].Int(0))
	}
	lo, hi := r.bounds()
	switch {
	case !(v > float64(lo)):
		y.SetInt(i, int64(lo))
	case v > float64(hi):
		y.SetInt(i, int64(hi))
	default:
		y.SetInt(i, int64(v))
	}
}

// checkFactor checks a factor of an integer product and its zero point, which may
// be absent.
func checkFactor(x, zero ir.Type) error {
	if x.DType != ir.U8 && x.DType != ir.I8 {
		return fmt.Errorf("an integer product of %s, i8 or u8 expected", x.DType)
	}
	if !zero.IsZero() && zero.DType != x.DType {
		return fmt.Errorf("zero point %s for %s", zero, x)
	}
	return nil
}

// zeroAt returns element i of a zero point, which may be absent or have one element
// for all.
func zeroAt(zero *ir.Tensor, i int) int64 {
	switch {
	case zero == nil:
		return 0
	case zero.Len() == 1:
		return zero.Int(0)
	}
	return zero.Int(i)
}
