package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Cast is its operand in another element type (ONNX Cast). Integers wrap. Floats
// round to nearest even; out of range they become infinite, or the greatest
// number in the types of at most 8 bits unless Unsaturated. A float becomes an
// integer by truncation toward zero; NaN and what does not fit becomes the least
// int32, or the least int64 for i64, u64 and u32, and the narrower types keep
// the low bits of that; u64 also takes what is below 2⁶⁴. Anything but zero is
// true.
type Cast struct {
	elementwise
	To          ir.DType
	Unsaturated bool   // 8-bit floats out of range become infinite, NaN where there is no infinity
	Round       string // of f8e8m0: "down" or "nearest"; empty is up
}

// Infer gives the operand's shape.
func (op Cast) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if op.To == ir.Invalid {
		return nil, fmt.Errorf("no element type to cast to")
	}
	if _, ok := roundModes[op.Round]; !ok {
		return nil, fmt.Errorf("unknown rounding %q", op.Round)
	}
	return []ir.Type{in[0].With(op.To)}, nil
}

var roundModes = map[string]rt.RoundMode{"": rt.RoundUp, "down": rt.RoundDown, "nearest": rt.RoundNearest}

// Overwrites lists the operand.
func (Cast) Overwrites() []int { return []int{0} }

// Eval converts.
func (op Cast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	if x.IsSplat() && x.Len() > 0 {
		one := ir.NewTensor(x.DType)
		one.Copy(0, x, 0)
		y, err := op.Eval([]*ir.Tensor{one})
		if err != nil {
			return nil, err
		}
		return []*ir.Tensor{ir.Splat(y[0], x.Shape...)}, nil
	}
	if op.To.IsFloat() && op.To.Bits() == 8 {
		return op.encode(x)
	}
	y := ir.NewTensor(op.To, x.Shape...)
	for i := range y.Len() {
		var err error
		switch {
		case x.DType == ir.String:
			err = op.parse(y, i, x.Text(i))
		case op.To == ir.String:
			y.SetText(i, formatElem(x, i))
		case x.DType.IsFloat():
			op.setFloat(y, i, x.Float(i))
		case x.DType == ir.U64:
			op.setUnsigned(y, i, uint64(x.Int(i)))
		default:
			op.setInt(y, i, x.Int(i))
		}
		if err != nil {
			return nil, err
		}
	}
	return []*ir.Tensor{y}, nil
}

// encode converts to an 8-bit float type by its codes.
func (op Cast) encode(x *ir.Tensor) ([]*ir.Tensor, error) {
	exact, err := Cast{To: ir.F64}.Eval([]*ir.Tensor{x})
	if err != nil {
		return nil, err
	}
	codes := make([]byte, x.Len())
	for i := range codes {
		codes[i] = op.code(rt.RoundToOdd(exact[0].Float(i)))
	}
	y, err := ir.DecodeTensor(op.To, x.Shape, codes)
	return []*ir.Tensor{y}, err
}

// code returns v in an 8-bit float type, as the attributes ask for.
func (op Cast) code(v float32) byte {
	saturate := !op.Unsaturated
	switch op.To {
	case ir.F8E4M3FN:
		return byte(rt.ToFloat8E4M3FN(v, saturate))
	case ir.F8E4M3FNUZ:
		return byte(rt.ToFloat8E4M3FNUZ(v, saturate))
	case ir.F8E5M2:
		return byte(rt.ToFloat8E5M2(v, saturate))
	case ir.F8E5M2FNUZ:
		return byte(rt.ToFloat8E5M2FNUZ(v, saturate))
	}
	return byte(rt.ToFloat8E8M0(v, saturate, roundModes[op.Round]))
}

// setFloat stores a float converted to y's type.
func (op Cast) setFloat(y *ir.Tensor, i int, v float64) {
	switch {
	case op.To == ir.Bool:
		y.SetBool(i, v != 0)
	case op.To.IsInt():
		y.SetInt(i, truncate(op.To, v))
	default:
		y.SetFloat(i, v)
	}
}

// setInt stores an integer converted to y's type, rounded once.
func (op Cast) setInt(y *ir.Tensor, i int, v int64) {
	switch {
	case !op.To.IsFloat():
		y.SetInt(i, v)
	case op.To == ir.F32:
		y.SetFloat(i, float64(float32(v)))
	default:
		y.SetFloat(i, float64(v))
	}
}

// setUnsigned is setInt for u64.
func (op Cast) setUnsigned(y *ir.Tensor, i int, v uint64) {
	switch {
	case !op.To.IsFloat():
		y.SetInt(i, int64(v))
	case op.To == ir.F32:
		y.SetFloat(i, float64(float32(v)))
	default:
		y.SetFloat(i, float64(v))
	}
}

// truncate returns v as an integer of a type, rounded toward zero.
func truncate(d ir.DType, v float64) int64 {
	switch {
	case d == ir.U64 && v >= 1<<63:
		if v >= 1<<64 {
			return 0 // the least int64 less 2⁶³
		}
		return int64(v-1<<63) ^ math.MinInt64
	case d.Bits() == 64 || d == ir.U32:
		if v >= -1<<63 && v < 1<<63 {
			return int64(v)
		}
		return math.MinInt64
	case v > -1<<31-1 && v < 1<<31:
		return int64(v)
	}
	return math.MinInt32
}

// InferElems truncates expressions that are never negative where integers are
// asked for, and keeps them otherwise.
func (op Cast) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	if op.To == ir.String || in[0].Type.DType == ir.String {
		return nil
	}
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		n, isConst := r.Num.Int64()
		switch {
		case op.To == ir.Bool:
			return truth(n != 0), isConst
		case op.To.IsFloat() || r.Den == 1:
			return r, true
		case isConst:
			return integer(ir.Const64(n / int64(r.Den))), true
		}
		return integer(r.Num.FloorDiv(ir.Const(r.Den))), r.Num.NonNegative()
	})
}

// Lower goes through a byte where the result has a narrower integer type, and
// through f64 from a text to a float without arithmetic.
func (op Cast) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	switch via := wide(op.To); {
	case x.Type.DType == op.To:
		return []*ir.Value{x}
	case x.Type.DType == ir.String && op.To.IsFloat() && via != op.To:
		return []*ir.Value{b.Node(op, b.Node(Cast{To: ir.F64}, x))}
	case op.To.IsInt() && via != op.To && via != wide(x.Type.DType):
		return []*ir.Value{b.Node(op, b.Node(Cast{To: via}, x))}
	}
	return nil
}

// Call is cpu.Cast, CastUnsaturated or CastE8M0; cpu.CastFromBool and CastToBool
// for booleans; cpu.WrapBits for integers narrower than the byte they take; from
// and to texts cpu.CastFromText, CastToText and their forms for booleans.
func (op Cast) Call(n *ir.Node) (ir.Call, error) {
	from, to := n.Arg(0).Type.DType, op.To
	switch {
	case from == ir.String && to == ir.Bool:
		return callUnary("CastTextToBool"), nil
	case from == ir.String:
		return callUnary("CastFromText"), nil
	case from == ir.Bool && to == ir.String:
		return callUnary("CastBoolToText"), nil
	case to == ir.String:
		return callUnary("CastToText"), nil
	case to.IsInt() && to.Bits() < 8:
		return callUnary("WrapBits", to.Bits()), nil
	case from == ir.Bool:
		return callUnary("CastFromBool"), nil
	case to == ir.Bool:
		return callUnary("CastToBool"), nil
	case to == ir.F8E8M0:
		return callUnary("CastE8M0", !op.Unsaturated, int(roundModes[op.Round])), nil
	case op.Unsaturated && to.IsFloat() && to.Bits() < 32:
		return callUnary("CastUnsaturated"), nil
	}
	return callUnary("Cast"), nil
}

// Grad converts back.
func (Cast) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{convert(b, of[0], n.Arg(0).Type.DType)}
}

// importCast reads Cast: the type is a name before opset 6.
func importCast(c ir.Importer) ([]*ir.Value, error) {
	to := c.DType("to", ir.Invalid)
	if to == ir.Invalid {
		return nil, fmt.Errorf("no type to cast to")
	}
	return castNode(c, to)
}

// importCastLike reads CastLike: a cast to the type of the second operand.
func importCastLike(c ir.Importer) ([]*ir.Value, error) {
	return castNode(c, c.Arg(1).Type.DType)
}

func castNode(c ir.Importer, to ir.DType) ([]*ir.Value, error) {
	op := Cast{To: to}
	if c.Opset() >= 19 {
		op.Unsaturated = c.Int("saturate", 1) == 0 && to.IsFloat() && to.Bits() == 8
	}
	if c.Opset() >= 24 {
		if mode := c.Text("round_mode", "up"); mode != "up" && to == ir.F8E8M0 {
			op.Round = mode
		}
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}

// IsIdentity reports whether the element type stays.
func (op Cast) IsIdentity(x ir.Type) bool { return op.To == x.DType }

// IsCheap marks the operator.
func (Cast) IsCheap() {}
