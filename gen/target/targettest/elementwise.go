package targettest

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// unary returns a function that draws trials of operators with one operand. The function newOp draws the operator.
// The operand has one of the types in `types`.
func unary(types []ir.DType, newOp func(d *Draw) ir.Op) func(*Draw) Trial {
	return func(d *Draw) Trial {
		x := d.Scaled(Pick(d, 1, 1, 1.0/16, 16), d.DType(types), d.Shape(0, 4)...)
		return Trial{Op: newOp(d), Args: []*ir.Tensor{d.odd(x)}}
	}
}

// binary returns a function that draws trials of operators with two operands. The function newOp draws the
// operator. Both operands have the same type, one of `types`, and shapes that broadcast.
func binary(types []ir.DType, newOp func(d *Draw) ir.Op) func(*Draw) Trial {
	return func(d *Draw) Trial {
		t, shapes := d.DType(types), d.broadcast(2)
		return Trial{Op: newOp(d), Args: []*ir.Tensor{d.Any(t, shapes[0]...), d.Any(t, shapes[1]...)}}
	}
}

func always(o ir.Op) func(*Draw) ir.Op { return func(*Draw) ir.Op { return o } }

func (d *Draw) alpha() float64 { return Pick(d, 1, 0.25, 1.5, -0.75) }

var elementwiseTrials = Trials{
	"abs":         unary(numberTypes, always(op.Abs{})),
	"acos":        unary(floatTypes, always(op.Acos{})),
	"acosh":       unary(floatTypes, always(op.Acosh{})),
	"add":         binary(numberTypes, always(op.Add{})),
	"and":         binary(boolTypes, always(op.And{})),
	"asin":        unary(floatTypes, always(op.Asin{})),
	"asinh":       unary(floatTypes, always(op.Asinh{})),
	"atan":        unary(floatTypes, always(op.Atan{})),
	"atanh":       unary(floatTypes, always(op.Atanh{})),
	"bit_cast":    tryBitCast,
	"bit_shift":   binary(unsignedTypes, func(d *Draw) ir.Op { return op.BitShift{Left: d.Flag("left")} }),
	"bitwise_and": binary(intTypes, always(op.BitwiseAnd{})),
	"bitwise_not": unary(intTypes, always(op.BitwiseNot{})),
	"bitwise_or":  binary(intTypes, always(op.BitwiseOr{})),
	"bitwise_xor": binary(intTypes, always(op.BitwiseXor{})),
	"cast":        tryCast,
	"ceil":        unary(floatTypes, always(op.Ceil{})),
	"celu":        unary(floatTypes, func(d *Draw) ir.Op { return op.Celu{Alpha: d.alpha()} }),
	"clip": unary(numberTypes, func(d *Draw) ir.Op {
		return op.Clip{Lo: Pick(d, math.Inf(-1), 0, 1), Hi: Pick(d, math.Inf(1), 0, 1)}
	}),
	"cos":              unary(floatTypes, always(op.Cos{})),
	"cosh":             unary(floatTypes, always(op.Cosh{})),
	"div":              binary(numberTypes, always(op.Div{})),
	"detach":           unary(floatTypes, func(*Draw) ir.Op { return op.Detach{} }),
	"dropout":          unary(floatTypes, func(d *Draw) ir.Op { return op.Dropout{Rate: 0.5} }),
	"elu":              unary(floatTypes, func(d *Draw) ir.Op { return op.Elu{Alpha: d.alpha()} }),
	"equal":            binary(anyTypes, always(op.Equal{})),
	"erf":              unary(floatTypes, always(op.Erf{})),
	"exp":              unary(floatTypes, always(op.Exp{})),
	"floor":            unary(floatTypes, always(op.Floor{})),
	"gelu":             unary(floatTypes, func(d *Draw) ir.Op { return op.Gelu{Tanh: d.Flag("tanh")} }),
	"greater":          binary(numberTypes, always(op.Greater{})),
	"greater_or_equal": binary(numberTypes, always(op.GreaterOrEqual{})),
	"hard_sigmoid":     unary(floatTypes, func(d *Draw) ir.Op { return op.HardSigmoid{Alpha: d.alpha(), Beta: d.alpha()} }),
	"hard_swish":       unary(floatTypes, always(op.HardSwish{})),
	"is_inf":           unary(floatTypes, func(d *Draw) ir.Op { return op.IsInf{Negative: d.Flag("negative"), Positive: d.Flag("positive")} }),
	"is_na_n":          unary(floatTypes, always(op.IsNaN{})),
	"leaky_relu":       unary(floatTypes, func(d *Draw) ir.Op { return op.LeakyRelu{Alpha: d.alpha()} }),
	"less":             binary(numberTypes, always(op.Less{})),
	"less_or_equal":    binary(numberTypes, always(op.LessOrEqual{})),
	"log":              unary(floatTypes, always(op.Log{})),
	"max":              binary(numberTypes, always(op.Max{})),
	"min":              binary(numberTypes, always(op.Min{})),
	"mish":             unary(floatTypes, always(op.Mish{})),
	"mod":              tryMod,
	"mul":              binary(numberTypes, always(op.Mul{})),
	"murmur_hash3": unary(typesWhere(func(t ir.DType) bool { return t == ir.String || (t.IsInt() || t.IsFloat()) && t.Bits() >= 32 }), func(d *Draw) ir.Op {
		return op.MurmurHash3{Seed: Pick[int64](d, 0, 42, math.MaxUint32), Signed: d.Flag("signed")}
	}),
	"neg":              unary(signedTypes, always(op.Neg{})),
	"noise":            unary(floatTypes, func(*Draw) ir.Op { return op.Noise{Deviation: 0.5} }),
	"not":              unary(boolTypes, always(op.Not{})),
	"or":               binary(boolTypes, always(op.Or{})),
	"gate":             tryGate,
	"p_relu":           tryPRelu,
	"pow":              tryPow,
	"reciprocal":       unary(floatTypes, always(op.Reciprocal{})),
	"relu":             unary(numberTypes, always(op.Relu{})),
	"round":            unary(floatTypes, always(op.Round{})),
	"selu":             unary(floatTypes, func(d *Draw) ir.Op { return op.Selu{Alpha: d.alpha(), Gamma: d.alpha()} }),
	"shrink":           unary(numberTypes, func(d *Draw) ir.Op { return op.Shrink{Bias: Pick(d, 0, 0.5, 3), Lambda: Pick(d, 0.5, 2)} }),
	"sigmoid":          unary(floatTypes, always(op.Sigmoid{})),
	"sign":             unary(numberTypes, always(op.Sign{})),
	"sin":              unary(floatTypes, always(op.Sin{})),
	"sinh":             unary(floatTypes, always(op.Sinh{})),
	"softplus":         unary(floatTypes, always(op.Softplus{})),
	"softsign":         unary(floatTypes, always(op.Softsign{})),
	"sqrt":             unary(floatTypes, always(op.Sqrt{})),
	"sub":              binary(numberTypes, always(op.Sub{})),
	"swish":            unary(floatTypes, func(d *Draw) ir.Op { return op.Swish{Alpha: d.alpha()} }),
	"tan":              unary(floatTypes, always(op.Tan{})),
	"tanh":             unary(floatTypes, always(op.Tanh{})),
	"thresholded_relu": unary(floatTypes, func(d *Draw) ir.Op { return op.ThresholdedRelu{Alpha: d.alpha()} }),
	"where":            tryWhere,
	"xor":              binary(boolTypes, always(op.Xor{})),
}

func tryBitCast(d *Draw) Trial {
	from := d.DType(slices.DeleteFunc(ir.DTypes(), func(t ir.DType) bool { return t == ir.String }))
	to := d.DType(typesWhere(func(t ir.DType) bool { return t.Bits() == from.Bits() && (t == ir.Bool) == (from == ir.Bool) }))
	return Trial{Op: op.BitCast{To: to}, Args: []*ir.Tensor{d.Any(from, d.Shape(0, 3)...)}, Exact: true}
}

func tryCast(d *Draw) Trial {
	from, to := d.DType(anyTypes), d.DType(anyTypes)
	o := op.Cast{To: to, Unsaturated: d.Flag("unsaturated")}
	if to == ir.F8E8M0 {
		o.Round = Pick(d, "", "down", "nearest")
	}
	x := d.Any(from, d.Shape(0, 3)...)
	if from == ir.String {
		for i := range x.Len() {
			x.SetText(i, Pick(d, "7", "-2.5", "1e3", "NaN", "-INF", " 3 ", "18446744073709551615", "0.1"))
		}
		if x.Len() > 0 && d.Int(0, 9, "no number") == 0 {
			x.SetText(0, Pick(d, "", "seven", "1 2"))
		}
		return Trial{Op: o, Args: []*ir.Tensor{x}, Exact: true}
	}
	if d.Flag("all bits") && from.Size() > 0 && from != ir.Bool && from.Bits() >= 8 {
		data := make([]byte, x.Len()*from.Size())
		for i := range data {
			data[i] = byte(rt.Hash(uint32(len(data)), uint32(i)) >> 8)
		}
		x, _ = ir.DecodeTensor(from, x.Shape, data)
	}
	return Trial{Op: o, Args: []*ir.Tensor{x}, Exact: true}
}

func tryMod(d *Draw) Trial {
	o := op.Mod{Truncated: d.Flag("truncated")}
	types := intTypes
	if o.Truncated {
		types = numberTypes
	}
	return binary(types, always(o))(d)
}

// tryPow raises numbers to powers, with a looser tolerance. Integers are raised to powers below 8.
func tryPow(d *Draw) Trial {
	t, shapes := d.DType(numberTypes), d.broadcast(2)
	c := Trial{Op: op.Pow{}, Args: []*ir.Tensor{d.Any(t, shapes[0]...), d.Any(t, shapes[1]...)}, Loose: 4}
	if t.IsInt() {
		for i := range c.Args[1].Len() {
			c.Args[1].SetInt(i, c.Args[1].Int(i)%8)
		}
	}
	return c
}

func tryGate(d *Draw) Trial {
	t, shape := d.DType(usualFloats), d.Shape(0, 3)
	return Trial{Op: op.Gate{}, Args: []*ir.Tensor{d.Any(t, shape...), d.Any(t, d.part(shape)...)}, Exact: true}
}

func tryPRelu(d *Draw) Trial {
	t, shape := d.DType(numberTypes), d.Shape(0, 4)
	return Trial{Op: op.PRelu{}, Args: []*ir.Tensor{d.Any(t, shape...), d.Any(t, d.part(shape)...)}}
}

func tryWhere(d *Draw) Trial {
	t, shapes := d.DType(anyTypes), d.broadcast(3)
	return Trial{Op: op.Where{}, Args: []*ir.Tensor{d.Tensor(ir.Bool, shapes[0]...), d.Any(t, shapes[1]...), d.Any(t, shapes[2]...)}, Exact: true}
}
