package op

import (
	"fmt"
	"math"
	"math/big"

	"github.com/burngen/burngen/ir"
)

// BindRange binds a symbol to the length of the range start, start+delta, … up to but not including limit. The
// length is max(0, ⌈(limit − start)/delta⌉). The operands are start, limit and delta: scalars of one element type.
// Kernels must be able to compute with this type, as with f32, but not f16.
type BindRange struct{ Bound }

// Infer returns no types, because there are no results. It returns an error unless there are three operands of one
// element each. They must have one numeric type, with which kernels can compute.
func (op BindRange) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	for i, t := range in {
		if n, ok := t.Elems().Int(); !ok || n != 1 || wide(t.DType) != t.DType {
			return nil, fmt.Errorf("operand %d is %s, one number expected", i, t)
		}
	}
	if len(op.Symbols) != 1 {
		return nil, fmt.Errorf("%d symbols, 1 expected", len(op.Symbols))
	}
	return nil, checkDomain(in, numbers{})
}

// BindValues returns the length of the range. It returns an error if delta is 0, or if the length
// is NaN or exceeds 2³¹−1.
func (op BindRange) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	start, limit, delta := in[0], in[1], in[2]
	if delta.Number(0) == 0 {
		return nil, fmt.Errorf("delta is 0")
	}
	if start.DType.IsFloat() {
		distance := ir.RoundFloat(start.DType, limit.Float(0)-start.Float(0))
		n := math.Ceil(distance / delta.Float(0))
		if !(n <= math.MaxInt32) {
			return nil, fmt.Errorf("from %g to %g by %g", start.Float(0), limit.Float(0), delta.Float(0))
		}
		return []int64{int64(max(n, 0))}, nil
	}
	distance, step := new(big.Int).Sub(exact(limit), exact(start)), exact(delta)
	if step.Sign() < 0 {
		distance.Neg(distance)
		step.Neg(step)
	}
	n := distance.Neg(distance)
	n.Div(n, step).Neg(n) // Div rounds down
	if n.Cmp(big.NewInt(math.MaxInt32)) > 0 {
		return nil, fmt.Errorf("%s elements", n)
	}
	if n.Sign() < 0 {
		return []int64{0}, nil
	}
	return []int64{n.Int64()}, nil
}

func exact(t *ir.Tensor) *big.Int {
	if t.DType == ir.U64 {
		return new(big.Int).SetUint64(uint64(t.Int(0)))
	}
	return big.NewInt(t.Int(0))
}
