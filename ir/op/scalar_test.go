package op

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// variants are the operators whose attributes matter to their formulas. Others are tested as in Ops.
var variants = map[string][]ir.Op{
	"bit_cast":         each(func(d ir.DType) ir.Op { return BitCast{To: d} }),
	"bit_shift":        {BitShift{}, BitShift{Left: true}},
	"cast":             each(func(d ir.DType) ir.Op { return Cast{To: d} }),
	"celu":             {Celu{Alpha: 1}, Celu{Alpha: 0.3}},
	"clip":             {Clip{Lo: 0, Hi: 6}, Clip{Lo: math.Inf(-1), Hi: 3}, Clip{Lo: -2, Hi: math.Inf(1)}, Clip{Lo: 5, Hi: 1}, Clip{Lo: 0.1, Hi: 0.7}},
	"dequantize":       {Dequantize{Scale: 0.1}, Dequantize{Scale: 0.37, Zero: 1}},
	"elu":              {Elu{Alpha: 1}, Elu{Alpha: 0.3}},
	"gelu":             {Gelu{}, Gelu{Tanh: true}},
	"hard_sigmoid":     {HardSigmoid{Alpha: 0.25, Beta: 0.5}, HardSigmoid{Alpha: 0.2, Beta: 0.6}},
	"is_inf":           {IsInf{}, IsInf{Negative: true}, IsInf{Positive: true}, IsInf{Negative: true, Positive: true}},
	"leaky_relu":       {LeakyRelu{Alpha: 0.01}},
	"mod":              {Mod{}, Mod{Truncated: true}},
	"quantize":         each(func(d ir.DType) ir.Op { return Quantize{Scale: 0.1, Zero: 1, To: d} }),
	"selu":             {Selu{Alpha: 1.67326, Gamma: 1.0507}},
	"shrink":           {Shrink{Bias: 0.5, Lambda: 1.5}},
	"swish":            {Swish{Alpha: 1}, Swish{Alpha: 1.702}},
	"thresholded_relu": {ThresholdedRelu{Alpha: 1}},
}

// each returns an operator for each element type.
func each(of func(ir.DType) ir.Op) (list []ir.Op) {
	for _, d := range ir.DTypes() {
		list = append(list, of(d))
	}
	return list
}

// withoutScalar says why elementwise operators have no formula.
var withoutScalar = map[string]string{
	"change_case":      "it is for strings",
	"regex_full_match": "it is for strings",
	"string_concat":    "it is for strings",
}

// withoutFormula says why an operator has no formula for types that kernels compute on, or returns "".
// divisor is the last operand if it is constant.
func withoutFormula(o ir.Op, in, out ir.DType, divisor *ir.Tensor) string {
	switch o.(type) {
	case Div, Mod:
		if in.IsInt() && (divisor == nil || divisor.Int(0) == 0) {
			return "an integer may be divided by 0"
		}
	case Cast:
		if kernel.Arithmetic(out) == ir.Invalid {
			return "kernels have no strings, and no floats of less than 16 bits"
		}
	case BitCast:
		switch {
		case kernel.Arithmetic(out) == ir.Invalid:
			return "kernels have no floats of less than 16 bits"
		case in.IsFloat() && in.Bits() == 16:
			return "an operand of f16 or bf16 is widened"
		case in == ir.Bool || out == ir.Bool:
			return "not all bytes are bools"
		}
	case Shrink:
		if in.IsInt() {
			return "integers are lowered to f64"
		}
	}
	return ""
}

// tolerance is how much results may differ from Eval: in units in the last place of f32, relative to f64,
// and relative to the operand or to 1.
type tolerance struct{ f32, f64, operand float64 }

// tolerances are those of operators that are not exact. The operand matters where a sigmoid is a subnormal
// number, or numbers are subtracted after rounding.
var tolerances = map[string]tolerance{
	"acos": {2, 1e-13, 0}, "acosh": {3, 1e-13, 0}, "asin": {2, 1e-13, 0}, "asinh": {3, 1e-13, 0},
	"atan": {3, 1e-13, 0}, "atanh": {3, 1e-13, 0}, "celu": {4, 1e-13, 0}, "cos": {2, 1e-13, 0},
	"cosh": {2, 1e-13, 0}, "elu": {4, 1e-13, 0}, "erf": {2, 1e-13, 0}, "exp": {1.5, 1e-13, 0},
	"gelu": {300, 3e-13, 0x1p-149}, "hard_sigmoid": {1, 1e-15, 0x1p-24}, "hard_swish": {2, 1e-15, 0x1p-22},
	"leaky_relu": {1.5, 1e-15, 0}, "log": {1.5, 1e-13, 0}, "mish": {4, 1e-13, 0x1p-149},
	"pow": {2.5, 2e-13, 0}, "selu": {4, 1e-13, 0}, "sigmoid": {3, 1e-13, 0}, "sin": {2, 1e-13, 0},
	"sinh": {2, 1e-13, 0}, "softplus": {2.5, 1e-13, 0}, "softsign": {1.5, 1e-15, 0}, "swish": {100, 1e-13, 0x1p-149},
	"tan": {3, 1e-13, 0}, "tanh": {2.5, 1e-13, 0},
}

// TestScalarIsEval evaluates every formula on odd and random elements of every type that the operator
// accepts, with each operand variable, and with constants as the last of two operands.
func TestScalarIsEval(t *testing.T) {
	for _, o := range Ops {
		name := ir.OpName(o)
		if !has[Scalar](o) {
			if _, ok := withoutScalar[name]; has[Elementwise](o) && !ok {
				t.Errorf("%s has no formula", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := variants[name]
			if list == nil {
				list = []ir.Op{o}
			}
			tested := 0
			for _, o := range list {
				for _, d := range ir.DTypes() {
					tested += scalarTrial{t, o.(Scalar), d}.all()
				}
			}
			if tested == 0 {
				t.Error("no type has a formula")
			}
		})
	}
	for name := range withoutScalar {
		if i := slices.IndexFunc(Ops, func(o ir.Op) bool { return ir.OpName(o) == name }); i < 0 || !has[Elementwise](Ops[i]) || has[Scalar](Ops[i]) {
			t.Errorf("%s is not elementwise, or has a formula", name)
		}
	}
}

// scalarTrial tests a formula for operands of a type.
type scalarTrial struct {
	t  *testing.T
	op Scalar
	d  ir.DType
}

// all runs the trials with the operands that the operator accepts, and returns their number.
func (s scalarTrial) all() (tested int) {
	if kernel.Arithmetic(s.d) == ir.Invalid {
		return 0
	}
	for _, list := range [][]ir.DType{{s.d}, {s.d, s.d}, {ir.Bool, s.d, s.d}} {
		types := make([]ir.Type, len(list))
		for i, d := range list {
			types[i] = ir.StaticTensor(d, 1)
		}
		if _, err := s.op.Infer(types); err == nil {
			tested += s.operands(list)
		}
	}
	return tested
}

// operands tests with operands of these types.
func (s scalarTrial) operands(types []ir.DType) (tested int) {
	if s.compare(combined(types), nil) {
		tested++
	}
	if len(types) == 2 {
		first := elements(types[0])
		for i := range elements(types[1]).Len() {
			y := ir.NewTensor(types[1])
			y.Copy(0, elements(types[1]), i)
			if s.compare([]*ir.Tensor{first, ir.Splat(y, first.Shape...)}, y) {
				tested++
			}
		}
	}
	return tested
}

// combined returns operands of all combinations of elements.
func combined(types []ir.DType) (in []*ir.Tensor) {
	n := 1
	for _, d := range types {
		n *= elements(d).Len()
	}
	step := 1
	for _, d := range types {
		from := elements(d)
		x := ir.NewTensor(d, n)
		for i := range n {
			x.Copy(i, from, i/step%from.Len())
		}
		step *= from.Len()
		in = append(in, x)
	}
	return in
}

// elements returns odd and random elements of a type.
func elements(d ir.DType) *ir.Tensor {
	r := rand.New(rand.NewPCG(uint64(d), 9))
	var list *ir.Tensor
	switch {
	case d == ir.Bool:
		return ir.IntTensor(d, 0, 1)
	case d.IsFloat():
		x := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.75, 2, 3, 2.5, -2.5, 127.6, -128.5, 255.9, 300, -3e4, 2147483647.5, -2147483648, -2147483648.5, 3e9, 0x1p53, -0x1p63, 0x1p63, 1.5e19, 0x1p64, -1e30, 1e-30, 1e-42, math.MaxFloat32, math.Inf(1), math.Inf(-1), math.NaN(), -3, 88.5, -88, -104}
		for range 12 {
			x = append(x, r.NormFloat64(), r.NormFloat64()*10)
		}
		list = ir.FloatTensor(d, x...)
	default:
		x := []int64{0, 1, -1, 2, 3, 7, -8, 31, 32, 63, 64, 100, -100, math.MinInt64, math.MaxInt64, 1<<24 + 1, 1<<32 + 1}
		least := int64(math.MinInt64) >> (64 - d.Bits())
		x = append(x, least, least+1, -(least + 1), -least)
		for range 20 {
			x = append(x, int64(r.Uint64()), int64(r.Uint64()>>r.IntN(64)))
		}
		list = ir.IntTensor(d, x...)
	}
	return list
}

// compare reports whether there is a formula, and tests it. last is the element of the last of two
// operands if it is constant.
func (s scalarTrial) compare(in []*ir.Tensor, last *ir.Tensor) bool {
	s.t.Helper()
	types := make([]ir.Type, len(in))
	for i, x := range in {
		types[i] = x.Type()
	}
	out, err := s.op.Infer(types)
	if err != nil {
		s.t.Fatal(err)
	}
	d := out[0].DType
	got := s.run(in, last, d)
	if reason := withoutFormula(s.op, s.d, d, last); (got == nil) != (reason != "") {
		s.t.Errorf("%s of %s to %s: is there a formula: %v, but %s", ir.OpName(s.op), s.d, d, got != nil, cmp.Or(reason, "there is no reason"))
	}
	if got == nil {
		return false
	}
	want, err := s.op.Eval(in)
	if err != nil {
		s.t.Fatalf("%s of %s: there is a formula, but %v", ir.OpName(s.op), s.d, err)
	}
	failures := 0
	for i := range got.Len() {
		if s.near(got, want[0], i, in[0]) {
			continue
		}
		var operands []string
		for _, x := range in {
			operands = append(operands, fmt.Sprint(x.Number(i)))
		}
		s.t.Errorf("%s %+v of %s(%s) is %v, want %v", ir.OpName(s.op), s.op, s.d, strings.Join(operands, ", "), got.Number(i), want[0].Number(i))
		if failures++; failures == 5 {
			break
		}
	}
	return true
}

// run evaluates the formula for each element by a kernel. It returns nil if there is none.
func (s scalarTrial) run(in []*ir.Tensor, last *ir.Tensor, d ir.DType) *ir.Tensor {
	s.t.Helper()
	n := in[0].Len()
	to := kernel.Arithmetic(d)
	var args []kernel.Arg
	missing := false
	k, err := kernel.Build(ir.OpName(s.op), []int{1}, func(b *kernel.Builder) {
		var arrays []*kernel.Value
		for i, x := range in {
			if i == 1 && last != nil {
				arrays = append(arrays, nil)
				continue
			}
			stored := storedAs(x.DType)
			arrays = append(arrays, b.Pointer(fmt.Sprint("x", i), stored))
			args = append(args, kernel.Bytes(stored, x.Bytes()))
		}
		if to == ir.Invalid {
			to = ir.F32 // of a type that kernels do not have; there is no formula
		}
		y := b.Pointer("y", to)
		b.Times(b.Int(n), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			var x []*kernel.Value
			for j, p := range arrays {
				if p == nil {
					x = append(x, constantOf(b, last))
					continue
				}
				x = append(x, b.Convert(kernel.Arithmetic(in[j].DType), b.Load(p, i)))
			}
			if r := s.op.Scalar(b, d, x); r == nil {
				missing = true
			} else {
				b.Store(y, i, r)
			}
			return nil
		})
	})
	if missing {
		return nil
	}
	if err != nil {
		s.t.Fatalf("%s of %s: %v", ir.OpName(s.op), s.d, err)
	}
	result := make([]byte, n*to.Size())
	if err := k.Run([3]int{1, 1, 1}, append(args, kernel.Bytes(to, result)), kernel.Options{IgnoreRaces: true}); err != nil {
		s.t.Fatalf("%s of %s: %v\n%s", ir.OpName(s.op), s.d, err, k)
	}
	y, err := ir.DecodeTensor(to, []int{n}, result)
	if err != nil {
		s.t.Fatal(err)
	}
	return y
}

// storedAs returns the type in which kernels load elements of a type.
func storedAs(d ir.DType) ir.DType {
	if d.Bits() < 8 {
		return wide(d)
	}
	return d
}

// constantOf returns the only element of a tensor as a constant.
func constantOf(b *kernel.Builder, x *ir.Tensor) *kernel.Value {
	d := kernel.Arithmetic(x.DType)
	if d.IsFloat() {
		return b.Float(d, x.Float(0))
	}
	return b.Whole(d, x.Int(0))
}

// near reports whether element i of a result is what it should be, for an element of x.
func (s scalarTrial) near(got, want *ir.Tensor, i int, x *ir.Tensor) bool {
	d := want.DType
	if !d.IsFloat() {
		return got.Int(i) == want.Int(i)
	}
	g, w := got.Float(i), want.Float(i)
	if _, isCast := s.op.(Cast); !isCast {
		g = ir.RoundFloat(d, g)
	}
	if g == w && math.Signbit(g) == math.Signbit(w) || g != g && w != w {
		return true
	}
	allowed, ok := tolerances[ir.OpName(s.op)]
	if !ok || g != g || w != w || g == 0 && w == 0 || math.IsInf(g, 0) != math.IsInf(w, 0) {
		return false
	}
	most := allowed.operand * max(1, math.Abs(x.Number(i)))
	difference := math.Abs(g - w)
	switch _, e := math.Frexp(w); d {
	case ir.F64:
		return difference <= allowed.f64*max(math.Abs(w), 0x1p-1022)+most*0x1p-29
	case ir.F32:
		return difference <= allowed.f32*math.Ldexp(1, max(e, -125)-24)+most
	case ir.F16: // computed in f32 and rounded
		return difference <= math.Ldexp(1, max(e, -13)-11)+most
	default:
		return difference <= math.Ldexp(1, max(e, -125)-8)+most
	}
}
