package op

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// parsed reads a tensor of the text form, "f32[2](1,NaN)".
func parsed(t testing.TB, text string) *ir.Tensor {
	t.Helper()
	typ := text[:strings.Index(text, "(")]
	m, err := ir.Parse("func @f() -> (x: "+typ+") { %x = constant {value="+text+"} : "+typ+" return %x }", Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0].Nodes[0].Op.(ir.Constant).Value
}

func TestElementwiseValues(t *testing.T) {
	for _, test := range []struct {
		name     string
		op       ir.Op
		operands string // separated by blanks
		want     string // or part of the error
	}{
		{"adds with broadcast", Add{}, "f32[2,1](1,2) f32[3](10,20,30)", "f32[2,3](11,21,31,12,22,32)"},
		{"wraps sums of i8", Add{}, "i8[2](127,-128) i8[](1)", "i8[2](-128,-127)"},
		{"wraps differences of u8", Sub{}, "u8[1](1) u8[1](2)", "u8[1](255)"},
		{"wraps differences of u64", Sub{}, "u64[1](1) u64[1](2)", "u64[1](18446744073709551615)"},
		{"wraps products of i32", Mul{}, "i32[1](65536) i32[1](65537)", "i32[1](65536)"},
		{"wraps products of i4", Mul{}, "i4[1](7) i4[1](3)", "i4[1](5)"},
		{"rounds sums of f16", Add{}, "f16[1](2048) f16[1](1)", "f16[1](2048)"},
		{"divides by zero to infinity", Div{}, "f32[3](1,-1,0) f32[1](0)", "f32[3](+Inf,-Inf,NaN)"},
		{"truncates quotients", Div{}, "i32[4](7,-7,7,-7) i32[4](2,2,-2,-2)", "i32[4](3,-3,-3,3)"},
		{"wraps the quotient of the least integer", Div{}, "i8[1](-128) i8[1](-1)", "i8[1](-128)"},
		{"divides u64 above i64", Div{}, "u64[1](18446744073709551615) u64[1](2)", "u64[1](9223372036854775807)"},
		{"reports integer division by zero", Div{}, "i64[2](1,2) i64[2](1,0)", "division by zero"},
		{"gives remainders the divisor's sign", Mod{}, "i32[4](7,-7,7,-7) i32[4](3,3,-3,-3)", "i32[4](1,2,-2,-1)"},
		{"gives truncated remainders the dividend's sign", Mod{Truncated: true}, "i32[4](7,-7,7,-7) i32[4](3,3,-3,-3)", "i32[4](1,-1,1,-1)"},
		{"gives remainders of floats the dividend's sign", Mod{Truncated: true}, "f32[2](-5.5,5.5) f32[2](2,-2)", "f32[2](-1.5,1.5)"},
		{"reports a remainder by zero", Mod{}, "u8[1](1) u8[1](0)", "division by zero"},
		{"raises floats", Pow{}, "f32[3](2,4,-8) f32[3](10,0.5,3)", "f32[3](1024,2,-512)"},
		{"raises integers, wrapping", Pow{}, "i32[3](2,3,-2) i32[3](31,4,3)", "i32[3](-2147483648,81,-8)"},
		{"raises integers to negative powers", Pow{}, "i32[4](1,-1,-1,5) i32[4](-3,-3,-2,-1)", "i32[4](1,-1,1,0)"},
		{"takes NaN as the lesser", Min{}, "f32[3](1,NaN,2) f32[3](3,1,NaN)", "f32[3](1,NaN,NaN)"},
		{"takes NaN as the greater", Max{}, "f32[3](1,NaN,2) f32[3](3,1,NaN)", "f32[3](3,NaN,NaN)"},
		{"compares u64 above i64", Max{}, "u64[1](18446744073709551615) u64[1](1)", "u64[1](18446744073709551615)"},

		{"equates zeros and no NaN", Equal{}, "f32[3](-0,NaN,1) f32[3](0,NaN,2)", "bool[3](1,0,0)"},
		{"equates strings", Equal{}, `string[2]("a","b") string[1]("b")`, "bool[2](0,1)"},
		{"equates booleans", Equal{}, "bool[2](1,0) bool[2](1,1)", "bool[2](1,0)"},
		{"orders u64", Less{}, "u64[1](1) u64[1](18446744073709551615)", "bool[1](1)"},
		{"finds NaN unordered", GreaterOrEqual{}, "f32[2](NaN,2) f32[1](2)", "bool[2](0,1)"},
		{"finds NaN not less", LessOrEqual{}, "f32[2](NaN,2) f32[1](2)", "bool[2](0,1)"},
		{"is greater", Greater{}, "i8[2](-1,1) i8[1](0)", "bool[2](0,1)"},

		{"joins by and", And{}, "bool[4](0,0,1,1) bool[4](0,1,0,1)", "bool[4](0,0,0,1)"},
		{"joins by or", Or{}, "bool[4](0,0,1,1) bool[4](0,1,0,1)", "bool[4](0,1,1,1)"},
		{"joins by xor", Xor{}, "bool[4](0,0,1,1) bool[4](0,1,0,1)", "bool[4](0,1,1,0)"},
		{"negates truth", Not{}, "bool[2](0,1)", "bool[2](1,0)"},
		{"joins bits", BitwiseAnd{}, "i8[1](-2) i8[1](7)", "i8[1](6)"},
		{"adds bits", BitwiseOr{}, "u8[1](5) u8[1](10)", "u8[1](15)"},
		{"flips bits", BitwiseXor{}, "i8[1](-1) i8[1](5)", "i8[1](-6)"},
		{"inverts bits", BitwiseNot{}, "u8[1](5)", "u8[1](250)"},
		{"shifts left out of the width", BitShift{Left: true}, "u8[3](1,129,1) u8[3](3,1,8)", "u8[3](8,2,0)"},
		{"shifts right", BitShift{}, "u64[2](18446744073709551615,4) u64[2](63,64)", "u64[2](1,0)"},

		{"keeps the least integer's sign", Neg{}, "i8[2](-128,5)", "i8[2](-128,-5)"},
		{"negates zero", Neg{}, "f32[1](0)", "f32[1](-0)"},
		{"takes magnitudes", Abs{}, "i8[2](-128,-5)", "i8[2](-128,5)"},
		{"keeps zeros and NaN in signs", Sign{}, "f32[4](-0,NaN,-3,+Inf)", "f32[4](-0,NaN,-1,1)"},
		{"takes signs of integers", Sign{}, "i64[3](-9,0,9)", "i64[3](-1,0,1)"},
		{"rounds halves to even", Round{}, "f32[5](0.5,1.5,2.5,-0.5,-1.5)", "f32[5](0,2,2,-0,-2)"},
		{"limits to hi where lo is above it", Clip{Lo: 5, Hi: 1}, "f32[3](0,3,NaN)", "f32[3](1,1,NaN)"},
		{"limits u8 below only", Clip{Lo: 3, Hi: math.Inf(1)}, "u8[2](0,255)", "u8[2](3,255)"},
		{"keeps NaN in relu", Relu{}, "f32[3](-1,NaN,2)", "f32[3](0,NaN,2)"},
		{"scales what is negative", PRelu{}, "f32[2,2](-1,2,-3,4) f32[2](10,20)", "f32[2,2](-10,2,-30,4)"},
		{"shrinks", Shrink{Bias: 1, Lambda: 1.5}, "f32[5](-2,-1,0,1,2)", "f32[5](-1,0,0,0,1)"},
		{"is zero up to the threshold", ThresholdedRelu{Alpha: 1}, "f32[3](0.5,1,1.5)", "f32[3](0,0,1.5)"},
		{"finds infinities of one sign", IsInf{Negative: true}, "f32[3](+Inf,-Inf,NaN)", "bool[3](0,1,0)"},
		{"finds NaN", IsNaN{}, "f32[2](+Inf,NaN)", "bool[2](0,1)"},
		{"chooses", Where{}, "bool[2,1](1,0) i64[2](1,2) i64[](9)", "i64[2,2](1,2,9,9)"},

		{"truncates to integers", Cast{To: ir.I32}, "f32[4](1.9,-1.9,NaN,3e9)", "i32[4](1,-1,-2147483648,-2147483648)"},
		{"keeps low bits of narrow integers", Cast{To: ir.U8}, "f32[3](-1,256,300)", "u8[3](255,0,44)"},
		{"takes u64 from floats", Cast{To: ir.U64}, "f64[3](-1,9.223372036854775808e18,1e20)", "u64[3](18446744073709551615,9223372036854775808,0)"},
		{"wraps integers", Cast{To: ir.I8}, "i16[1](200)", "i8[1](-56)"},
		{"wraps to four bits", Cast{To: ir.I4}, "f32[3](-9,8,7)", "i4[3](7,-8,7)"},
		{"finds NaN true", Cast{To: ir.Bool}, "f32[3](-0,NaN,0.1)", "bool[3](0,1,1)"},
		{"rounds i64 to f32 once", Cast{To: ir.F32}, "i64[1](9007199791611905)", "f32[1](9.0072e+15)"},
		{"overflows f16 to infinity", Cast{To: ir.F16}, "f32[2](65519,65520)", "f16[2](65504,+Inf)"},
		{"saturates eight bits", Cast{To: ir.F8E4M3FN}, "f32[2](1000,-Inf)", "f8e4m3fn[2](448,-448)"},
		{"saturates eight bits only if told", Cast{To: ir.F8E5M2, Unsaturated: true}, "f32[2](1e6,-Inf)", "f8e5m2[2](+Inf,-Inf)"},
		{"rounds powers of two up", Cast{To: ir.F8E8M0}, "f32[3](1.1,2,3)", "f8e8m0[3](2,2,4)"},
		{"rounds powers of two down", Cast{To: ir.F8E8M0, Round: "down"}, "f32[3](1.1,2,3)", "f8e8m0[3](1,2,2)"},
		{"reads numbers", Cast{To: ir.F32}, `string[6]("1e-5","1E8","\t3.5","+inf","-INF","nan")`, "f32[6](1e-05,1e+08,3.5,+Inf,-Inf,NaN)"},
		{"reads integers", Cast{To: ir.I64}, `string[2]("9223372036854775807","-3.7")`, "i64[2](9223372036854775807,-3)"},
		{"refuses text that is not a number", Cast{To: ir.F32}, `string[1]("seven")`, `"seven" is not a number`},
		{"writes the shortest numbers", Cast{To: ir.String}, "f32[7](0.1,1,-2.5,1e-5,1e20,NaN,-Inf)", `string[7]("0.1","1.0","-2.5","1e-05","1e+20","NaN","-INF")`},
		{"writes the shortest half", Cast{To: ir.String}, "f16[1](0.1)", `string[1]("0.1")`},
		{"writes integers", Cast{To: ir.String}, "u64[1](18446744073709551615)", `string[1]("18446744073709551615")`},
		{"reads bits", BitCast{To: ir.I32}, "f32[2](1,-0)", "i32[2](1065353216,-2147483648)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var args []*ir.Tensor
			var in []ir.Type
			for _, text := range strings.Split(test.operands, " ") {
				if n := len(args); n > 0 && strings.Count(text, `"`)%2 != 0 {
					t.Fatal("a blank in a string: use the text form without blanks")
				}
				x := parsed(t, text)
				args, in = append(args, x), append(in, x.Type())
			}
			out, err := tryRun(nodeFunc(t, test.op, in...), args...)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Fatalf("%v, want %s", err, test.want)
				}
				return
			}
			if got := out[0].String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// unaries are operators of one operand, with the element types to test. The operands have values
// between lo and hi.
var unaries = []struct {
	op     ir.Op
	dtypes string
	lo, hi float64
	want   func(x float64) float64 // nil where TestElementwiseValues says it
}{
	{Abs{}, "f32 f16 i8 u8 i4", -8, 7, math.Abs},
	{Acos{}, "f32 f64 f16", -1, 1, math.Acos},
	{Acosh{}, "f32 f64", 1, 9, math.Acosh},
	{Asin{}, "f32 f64 bf16", -1, 1, math.Asin},
	{Asinh{}, "f32 f64", -9, 9, math.Asinh},
	{Atan{}, "f32 f64", -9, 9, math.Atan},
	{Atanh{}, "f32 f64", -0.9, 0.9, math.Atanh},
	{BitwiseNot{}, "i8 u16 i64 u4", -8, 7, nil},
	{Ceil{}, "f32 f64 f16", -9, 9, math.Ceil},
	{Celu{Alpha: 2}, "f32 f64", -9, 9, func(x float64) float64 { return max(0, x) + min(0, 2*(math.Exp(x/2)-1)) }},
	{Clip{Lo: -2, Hi: 3}, "f32 f64 f16 i8 i64", -9, 9, func(x float64) float64 { return min(3, max(x, -2)) }},
	{Cos{}, "f32 f64", -9, 9, math.Cos},
	{Cosh{}, "f32 f64", -4, 4, math.Cosh},
	{Elu{Alpha: 0.5}, "f32 f64 f16", -9, 9, func(x float64) float64 { return max(0, x) + min(0, 0.5*(math.Exp(x)-1)) }},
	{Erf{}, "f32 f64", -4, 4, math.Erf},
	{Exp{}, "f32 f64 f16", -9, 9, math.Exp},
	{Floor{}, "f32 f64", -9, 9, math.Floor},
	{Gelu{}, "f32 f64 f16", -9, 9, func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }},
	{Gelu{Tanh: true}, "f32 f64", -9, 9, func(x float64) float64 {
		return x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) / 2
	}},
	{HardSigmoid{Alpha: 0.2, Beta: 0.5}, "f32 f64", -9, 9, func(x float64) float64 { return max(0, min(1, 0.2*x+0.5)) }},
	{HardSwish{}, "f32 f64", -9, 9, func(x float64) float64 { return x * max(0, min(1, x/6+0.5)) }},
	{LeakyRelu{Alpha: 0.1}, "f32 f64 bf16", -9, 9, func(x float64) float64 { return max(x, 0.1*x) }},
	{Log{}, "f32 f64", 0.1, 9, math.Log},
	{Mish{}, "f32 f64", -9, 9, func(x float64) float64 { return x * math.Tanh(math.Log(1+math.Exp(x))) }},
	{Neg{}, "f32 i8 i64 f8e5m2", -8, 7, func(x float64) float64 { return -x }},
	{Reciprocal{}, "f32 f64 f16", 0.5, 9, func(x float64) float64 { return 1 / x }},
	{Relu{}, "f32 f64 i8 u8", -9, 9, func(x float64) float64 { return max(0, x) }},
	{Round{}, "f32 f64", -9, 9, math.RoundToEven},
	{Selu{Alpha: 1.5, Gamma: 1.25}, "f32 f64", -9, 9, func(x float64) float64 {
		return 1.25 * (max(0, x) + min(0, 1.5*(math.Exp(x)-1)))
	}},
	{Shrink{Bias: 0.5, Lambda: 1}, "f32 f64 i32 u8", -9, 9, nil},
	{Sigmoid{}, "f32 f64 f16", -9, 9, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{Sign{}, "f32 f16 i8 u8", -9, 9, nil},
	{Sin{}, "f32 f64", -9, 9, math.Sin},
	{Sinh{}, "f32 f64", -4, 4, math.Sinh},
	{Softplus{}, "f32 f64", -9, 9, func(x float64) float64 { return math.Log(1 + math.Exp(x)) }},
	{Softsign{}, "f32 f64", -9, 9, func(x float64) float64 { return x / (1 + math.Abs(x)) }},
	{Sqrt{}, "f32 f64 f16", 0, 9, math.Sqrt},
	{Swish{Alpha: 1.5}, "f32 f64", -9, 9, func(x float64) float64 { return x / (1 + math.Exp(-1.5*x)) }},
	{Tan{}, "f32 f64", -1.4, 1.4, math.Tan},
	{Tanh{}, "f32 f64 bf16", -9, 9, math.Tanh},
	{ThresholdedRelu{Alpha: 1}, "f32 f64", -9, 9, nil},
	{Not{}, "bool", 0, 1, nil},
	{IsNaN{}, "f32 f64 f16", -9, 9, nil},
	{IsInf{Positive: true}, "f32 f64 f16", -9, 9, nil},
	{Cast{To: ir.F32}, "f16 i4 u64 bool f64", 0, 1, func(x float64) float64 { return x }},
	{Cast{To: ir.I4}, "f16 i8 u2 u8 bool", 0, 1, nil},
	{Cast{To: ir.F8E4M3FN, Unsaturated: true}, "f16 i8 f32", -9, 9, nil},
	{Cast{To: ir.F8E8M0}, "f16 f32", 0.5, 9, nil},
	{Cast{To: ir.Bool}, "f16 f32 i8", -1, 1, nil},
}

// drawn returns a tensor of numbers between lo and hi.
func drawn(t *rapid.T, d ir.DType, lo, hi float64, shape ...int) *ir.Tensor {
	x := ir.NewTensor(d, shape...)
	for i := range x.Len() {
		v := rapid.Float64Range(lo, hi).Draw(t, "x")
		if d.Class() == ir.Unsigned || d == ir.Bool {
			v = math.Abs(v)
		}
		x.SetNumber(i, v)
	}
	return x
}

func dtypesOf(t testing.TB, names string) []ir.DType {
	var all []ir.DType
	for _, name := range strings.Fields(names) {
		d, err := ir.ParseDType(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

func TestUnariesLowerToWhatTheyEvaluate(t *testing.T) {
	for _, test := range unaries {
		for _, d := range dtypesOf(t, test.dtypes) {
			t.Run(fmt.Sprintf("%s of %s", ir.OpName(test.op), d), func(t *testing.T) {
				typ := ir.TensorOf(d, dim.Sym("N"), dim.Const(3))
				f := nodeFunc(t, test.op, typ)
				rapid.Check(t, func(r *rapid.T) {
					n := rapid.IntRange(0, 3).Draw(r, "n")
					x := drawn(r, d, test.lo, test.hi, n, 3)
					y := checkLower(t, f, 0.02, x)[0]
					for i := range x.Len() {
						if test.want == nil || !d.IsFloat() || d.Bits() < 32 {
							continue
						}
						if want := test.want(x.Float(i)); math.Abs(y.Float(i)-want) > 1e-6*max(1, math.Abs(want)) {
							t.Fatalf("of %v is %v, want %v", x.Float(i), y.Float(i), want)
						}
					}
				})
			})
		}
	}
}

// binaries are operators of two operands with the element types to test.
var binaries = []struct {
	op     ir.Op
	dtypes string
}{
	{Add{}, "f32 f16 i8 u64 i4"},
	{Sub{}, "f32 bf16 u8 i64"},
	{Mul{}, "f32 f16 i16 u4"},
	{Div{}, "f32 f16 i8 u32"},
	{Mod{}, "i8 u16 i64"},
	{Mod{Truncated: true}, "f32 f16 i8"},
	{Pow{}, "f32 f16 i32 u8"},
	{Min{}, "f32 f16 i8 u64"},
	{Max{}, "f32 f16 i8 u64"},
	{PRelu{}, "f32 f16 i32"},
	{Equal{}, "f32 f16 i8 bool i4"},
	{Less{}, "f32 f16 i8 u4"},
	{LessOrEqual{}, "f32 bf16 u8"},
	{Greater{}, "f32 f16 i64"},
	{GreaterOrEqual{}, "f64 f16 u64"},
	{And{}, "bool"},
	{Or{}, "bool"},
	{Xor{}, "bool"},
	{BitwiseAnd{}, "i8 u64"},
	{BitwiseOr{}, "i16 u32"},
	{BitwiseXor{}, "i8 u8 i4"},
	{BitShift{}, "u8 u64 u4"},
	{BitShift{Left: true}, "u8 u32 u4"},
}

func TestBinariesLowerToWhatTheyEvaluate(t *testing.T) {
	for _, test := range binaries {
		for _, d := range dtypesOf(t, test.dtypes) {
			t.Run(fmt.Sprintf("%s of %s", ir.OpName(test.op), d), func(t *testing.T) {
				n := dim.Sym("N")
				variable := nodeFunc(t, test.op, ir.TensorOf(d, n, dim.Const(2)), ir.TensorOf(d, dim.Const(2)))
				rapid.Check(t, func(r *rapid.T) {
					x := drawn(r, d, -3, 7, rapid.IntRange(0, 3).Draw(r, "n"), 2)
					y := drawn(r, d, 1, 4, 2)
					checkLower(t, variable, 0.02, x, y)
					c := drawn(r, d, 1, 4)
					constant := buildFunc(t, []ir.Type{ir.TensorOf(d, n, dim.Const(2))}, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
						return b.Nodes(test.op, p[0], b.Const(c))
					})
					checkLower(t, constant, 0.02, x)
				})
			})
		}
	}
}

func TestWhereLowersToWhatItEvaluates(t *testing.T) {
	for _, d := range dtypesOf(t, "f32 f16 i8 bool i4") {
		t.Run(d.String(), func(t *testing.T) {
			f := nodeFunc(t, Where{}, ir.TensorOf(ir.Bool, dim.Sym("N"), dim.Const(1)), ir.TensorOf(d, dim.Const(2)), ir.TensorOf(d))
			rapid.Check(t, func(r *rapid.T) {
				n := rapid.IntRange(0, 3).Draw(r, "n")
				checkLower(t, f, 0, drawn(r, ir.Bool, 0, 2, n, 1), drawn(r, d, -3, 3, 2), drawn(r, d, -3, 3))
			})
		})
	}
}

func TestElementwiseTypes(t *testing.T) {
	for _, test := range []struct {
		name     string
		op       ir.Op
		operands string
		want     string // the result's type, or part of the error
	}{
		{"broadcasts symbols against constants", Add{}, "f32[N,1,3] f32[M,1]", "f32[N,M,3]"},
		{"broadcasts a symbol against itself", Add{}, "f32[N,3] f32[N,3]", "f32[N,3]"},
		{"takes the greater of two symbols", Mul{}, "f32[N] f32[M]", "f32[max(M,N)]"},
		{"takes the constant of a symbol and it", Mul{}, "f32[N] f32[4]", "f32[4]"},
		{"refuses other extents", Add{}, "f32[3] f32[2]", "3 and 2 do not broadcast"},
		{"refuses two types", Add{}, "f32[3] f16[3]", "operand 1 is f16, operand 0 is f32"},
		{"refuses sums of booleans", Add{}, "bool[3] bool[3]", "operand 0 is bool, numbers expected"},
		{"refuses one operand of two", Add{}, "f32[3]", "1 operands, 2 expected"},
		{"refuses two operands of one", Exp{}, "f32[3] f32[3]", "2 operands, 1 expected"},
		{"refuses containers", Exp{}, "seq<f32[3]>", "a tensor expected"},
		{"refuses exponentials of integers", Exp{}, "i32[3]", "floats expected"},
		{"refuses negative u8", Neg{}, "u8[3]", "floats or signed integers expected"},
		{"refuses floored remainders of floats", Mod{}, "f32[3] f32[3]", "integers expected"},
		{"takes truncated remainders of floats", Mod{Truncated: true}, "f32[3] f32[3]", "f32[3]"},
		{"refuses shifts of signed integers", BitShift{}, "i8[3] i8[3]", "unsigned integers expected"},
		{"gives booleans", Less{}, "f32[N] f32[]", "bool[N]"},
		{"refuses the order of strings", Less{}, "string[1] string[1]", "numbers expected"},
		{"keeps the shape of x", PRelu{}, "f32[N,3] f32[3]", "f32[N,3]"},
		{"refuses a slope of higher rank", PRelu{}, "f32[3] f32[2,3]", "does not broadcast"},
		{"refuses a longer slope", PRelu{}, "f32[1,3] f32[2,3]", "dimension 0 of the slope"},
		{"unifies the slope's extent", PRelu{}, "f32[N,M] f32[3]", "f32[N,3]"},
		{"refuses a condition of numbers", Where{}, "i8[1] f32[1] f32[1]", "the condition is i8"},
		{"refuses a choice of two types", Where{}, "bool[1] f32[1] f16[1]", "operand 1 is f16"},
		{"refuses bounds that a type lacks", Clip{Lo: -1, Hi: 1}, "u8[1]", "bound -1 does not fit u8"},
		{"refuses an unknown rounding", Cast{To: ir.F8E8M0, Round: "odd"}, "f32[1]", "unknown rounding"},
		{"refuses bits of another width", BitCast{To: ir.F16}, "f32[1]", "width"},
		{"casts any shape", Cast{To: ir.I64}, "f32[N,2]", "i64[N,2]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got string
			err := ir.Try(func() {
				f := &ir.Func{Name: "f"}
				b := ir.NewBuilder(f)
				var args []*ir.Value
				for _, typ := range types(t, strings.Fields(test.operands)...) {
					args = append(args, b.Param("x", typ))
				}
				got = b.Node(test.op, args...).Type.String()
			})
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
