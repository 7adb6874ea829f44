package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/rt"
)

// Cast converts its operand to another element type (ONNX Cast). Integers wrap. Floats round to nearest, ties to
// even, but f8e8m0 rounds as Round says. Numbers that exceed a float type become infinite. In types of at most 8
// bits, they become the largest number of the type instead, unless Unsaturated is set. Cast to bool is true for
// numbers other than 0.
//
// A float that becomes an integer is first truncated to an int64 if To is u32 or has 64 bits, and to an int32
// otherwise. The result has the low bits of that integer. NaN and floats out of range become the smallest int32 or
// int64. For u64, floats from 2⁶³ to 2⁶⁴ become their exact value, and larger floats become 0.
type Cast struct {
	elementwise
	To          ir.DType
	Unsaturated bool   // 8-bit floats out of range become infinite, or NaN if the type has no infinity
	Round       string // rounding for f8e8m0: "down" or "nearest"; "" means up
}

// Infer returns the operand's shape with the element type To.
func (op Cast) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
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

// RoundMode returns the mode that Round names, in which a cast to f8e8m0 rounds.
func (op Cast) RoundMode() rt.RoundMode { return roundModes[op.Round] }

// Overwrites allows the result to reuse the memory of the operand.
func (Cast) Overwrites() []int { return []int{0} }

// Eval returns the elements converted to To. It returns an error if an element is a string but not the text of a
// number.
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

// Scalar returns an element converted to d. It returns nil for strings and for floats of less than
// 16 bits.
func (Cast) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	to, from := kernel.Arithmetic(d), x[0].Type.DType
	switch {
	case to == ir.Invalid:
		return nil
	case d.IsInt() && from.IsFloat():
		return truncated(b, d, x[0])
	case d.IsInt():
		return wrapped(b, d, b.Convert(to, x[0]))
	case to != d:
		return b.Convert(to, b.Convert(d, x[0]))
	}
	return b.Convert(to, x[0])
}

func truncated(b *kernel.Builder, d ir.DType, x *kernel.Value) *kernel.Value {
	word, limit := ir.I32, 0x1p31
	if d.Bits() == 64 || d == ir.U32 {
		word, limit = ir.I64, 0x1p63
	}
	fits := b.Ge(x, number(b, x, -limit))
	if word == ir.I32 && x.Type.DType == ir.F64 { // whose fraction may lie below the limit
		fits = b.Gt(x, number(b, x, -limit-1))
	}
	fits = b.And(fits, b.Lt(x, number(b, x, limit)))
	least := int64(math.MinInt64) >> (64 - word.Bits())
	v := b.Convert(kernel.Arithmetic(d), b.Select(fits, b.Convert(word, x), b.Whole(word, least)))
	if d == ir.U64 {
		v = b.Select(b.Ge(x, number(b, x, 0x1p63)), b.Convert(d, x), v)
		v = b.Select(b.Ge(x, number(b, x, 0x1p64)), b.Whole(d, 0), v)
	}
	return wrapped(b, d, v)
}

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
	return byte(rt.ToFloat8E8M0(v, saturate, op.RoundMode()))
}

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

// setInt stores v as element i of y, converted to y's type. It converts to f32 directly and not through f64,
// because the value must be rounded only once.
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

// truncate returns v converted to the integer type d, by the rules of [Cast].
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

// InferElems returns the expressions of the operand's elements. For an integer type it truncates them. It returns
// nil for strings, for bools that are not constant, and for fractions that may be negative.
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
			return integer(dim.Const64(n / int64(r.Den))), true
		}
		return integer(r.Num.FloorDiv(dim.Const(r.Den))), r.Num.NonNegative()
	})
}

// Lower returns the operand if it has the type To. If no kernel computes the cast, Lower splits it into two. A cast
// to an integer type narrower than a byte goes through i8 or u8. A cast of strings to a float type that kernels do
// not compute with, such as bf16, goes through f64.
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

// Grad returns dy, converted to the operand's type.
func (Cast) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{ConvertTo(b, dy[0], n.Arg(0).Type.DType)}
}

func importCast(c ir.Importer) ([]*ir.Value, error) {
	to := c.DType("to", ir.Invalid)
	if to == ir.Invalid {
		return nil, fmt.Errorf("no type to cast to")
	}
	return castNode(c, to)
}

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

// IsIdentity reports whether x already has the element type To.
func (op Cast) IsIdentity(x ir.Type) bool { return op.To == x.DType }

// IsCheap marks the operator as cheaper to compute than to store.
func (Cast) IsCheap() {}
