package kerneltest

import (
	"fmt"
	"math"
	"testing"
)

// A UnaryCase is the definition of a kernel of one slice. If the target divides and takes roots exactly, the error
// may be ULP units in the last place of the result plus PerX times the magnitude of the operand.
type UnaryCase struct {
	Name string
	Want func(x float64) float64
	ULP  float64
	PerX float64
	// Quotient is the number of units in the last place by which the result may change if a quotient in the kernel
	// changes by one unit. Root is the same for a square root.
	Quotient, Root float64
	// Corrected says that the kernel is a quotient or a root, which it corrects by the remainder where it can.
	Corrected bool
	// Divisor returns the number by which the kernel divides, if it may be very large or very small.
	// Otherwise it is nil.
	Divisor func(x float64) float64
	// Factor is a constant above 1 by which the kernel multiplies an intermediate result. It is 0 if there is none.
	Factor float64
}

// Unaries are the kernels of one slice. The names include parameters.
var Unaries = []UnaryCase{
	{Name: "Neg", Want: func(x float64) float64 { return -x }},
	{Name: "Abs", Want: math.Abs},
	{Name: "Sqrt", Want: math.Sqrt, ULP: 0.5, Root: 1, Corrected: true},
	{Name: "Reciprocal", Want: func(x float64) float64 { return 1 / x }, ULP: 0.5, Quotient: 1, Corrected: true, Divisor: func(x float64) float64 { return x }},
	{Name: "Floor", Want: math.Floor},
	{Name: "Ceil", Want: math.Ceil},
	{Name: "Round", Want: math.RoundToEven},
	{Name: "Exp", Want: math.Exp, ULP: 2},
	{Name: "Log", Want: math.Log, ULP: 2},
	{Name: "Erf", Want: math.Erf, ULP: 4},
	// 1 − 2/(e^2x + 1): the quotient is smaller than the result.
	{Name: "Tanh", Want: math.Tanh, ULP: 4, Quotient: 1},
	{Name: "Sigmoid", Want: sigmoid, ULP: 4},
	{Name: "Relu", Want: func(x float64) float64 { return piece(x, 0, x) }},
	{Name: "LeakyRelu(0.1)", Want: func(x float64) float64 { return piece(x, float64(float32(0.1))*x, x) }, ULP: 0.5},
	{Name: "Clip(-1.5, 2)", Want: func(x float64) float64 { return clip(x, -1.5, 2) }},
	{Name: "Clip(1, -1)", Want: func(x float64) float64 { return clip(x, 1, -1) }},
	{Name: "HardSigmoid(0.2, 0.5)", Want: func(x float64) float64 { return clip(float64(float32(0.2))*x+0.5, 0, 1) }, ULP: 2, PerX: 0x1p-24},
	{Name: "HardSwish", Want: func(x float64) float64 { return x * clip(x/6+0.5, 0, 1) }, ULP: 4, PerX: 0x1p-23},
	{Name: "Elu(1)", Want: func(x float64) float64 { return piece(x, math.Expm1(x), x) }, ULP: 4},
	{Name: "Selu(1.6732632, 1.050701)", Want: func(x float64) float64 {
		gamma := float64(float32(1.050701))
		return piece(x, gamma*float64(float32(1.6732632))*math.Expm1(x), gamma*x)
	}, ULP: 4, Factor: 1.6732632 * 1.050701},
	// The relative error of x/2 is at least that of the result, which may be twice as many units.
	{Name: "Celu(2)", Want: func(x float64) float64 { return piece(x, 2*math.Expm1(x/2), x) }, ULP: 4, Quotient: 2, Factor: 2},
	{Name: "ThresholdedRelu(0.5)", Want: func(x float64) float64 {
		if x > 0.5 {
			return x
		}
		return 0
	}},
	{Name: "Shrink(0.25, 0.5)", Want: func(x float64) float64 {
		switch {
		case x < -0.5:
			return x + 0.25
		case x > 0.5:
			return x - 0.25
		}
		return 0
	}, ULP: 0.5},
	{Name: "Swish(1)", Want: func(x float64) float64 { return x * sigmoid(x) }, ULP: 4, PerX: 0x1p-149},
	{Name: "Mish", Want: func(x float64) float64 { return x * math.Tanh(softplus(x)) }, ULP: 6, PerX: 0x1p-149},
	{Name: "Gelu", Want: func(x float64) float64 { return x * 0.5 * math.Erfc(-x/math.Sqrt2) }, ULP: 4, PerX: 0x1p-22},
	{Name: "GeluTanh", Want: func(x float64) float64 {
		return x * sigmoid(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
	}, ULP: 4, PerX: 0x1p-22},
	{Name: "Softplus", Want: softplus, ULP: 4},
	{Name: "Softsign", Want: func(x float64) float64 { return x / (1 + math.Abs(x)) }, ULP: 2, Quotient: 1, Divisor: func(x float64) float64 { return 1 + math.Abs(x) }},
	{Name: "Sign", Want: func(x float64) float64 {
		if x == 0 || x != x {
			return x
		}
		return math.Copysign(1, x)
	}},
	{Name: "Sin", Want: math.Sin, ULP: 2},
	{Name: "Cos", Want: math.Cos, ULP: 2},
	{Name: "Tan", Want: math.Tan, ULP: 2},
	{Name: "Asin", Want: math.Asin, ULP: 2},
	{Name: "Acos", Want: math.Acos, ULP: 2},
	{Name: "Atan", Want: math.Atan, ULP: 2},
	// Half of e^x, less or plus a quarter over it: the quotient is smaller than the result.
	{Name: "Sinh", Want: math.Sinh, ULP: 2, Quotient: 1, Divisor: halfExp},
	{Name: "Cosh", Want: math.Cosh, ULP: 2, Quotient: 1, Divisor: halfExp},
	// log1p(x + x²/(√(x² + 1) + 1)): the quotient is at most half of the sum, and the logarithm makes no
	// relative error larger. A relative error may be twice as many units.
	{Name: "Asinh", Want: math.Asinh, ULP: 2, Quotient: 1, Root: 1},
	{Name: "Acosh", Want: math.Acosh, ULP: 2},
	// log1p(2x + 2x²/(1 − x))/2: the quotient's relative error is at most 0.34 of it in the result.
	{Name: "Atanh", Want: math.Atanh, ULP: 2, Quotient: 1},
}

func halfExp(x float64) float64 { return math.Exp(math.Abs(x)) / 2 }

func piece(x, negative, other float64) float64 {
	if x < 0 {
		return negative
	}
	return other
}

func clip(x, lo, hi float64) float64 {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Unary tests a kernel for each element of [Unaries]. kernels maps names of Unaries to kernels. Each kernel runs on
// numbers of all magnitudes, on special numbers such as NaN, and on slices of 0 to 69 elements. a is the accuracy of
// the target. The test fails if a kernel is missing.
func Unary(t *testing.T, kernels map[string]func(dst, x []float32), a Accuracy) {
	for _, c := range Unaries {
		t.Run(c.Name, func(t *testing.T) {
			f := kernels[c.Name]
			if f == nil {
				t.Fatal("there is no such kernel")
			}
			x := everyKind()
			all := NewSlice[float32](len(x.Data), 1)
			f(all.Data, x.Data)
			all.Check(t, "dst")
			x.Check(t, "x")
			for i, v := range x.Data {
				if !c.accepts(all.Data[i], float64(v), a) {
					t.Fatalf("of %v (%#08x) is %v, want %v", v, math.Float32bits(v), all.Data[i], c.Want(float64(v)))
				}
			}
			for n := range 70 {
				at, shift := n*n%(len(x.Data)-70), n%5
				part := NewSlice[float32](n, shift)
				copy(part.Data, x.Data[at:])
				dst := NewSlice[float32](n, (shift+2)%5)
				f(dst.Data, part.Data)
				f(part.Data, part.Data)
				dst.Check(t, fmt.Sprintf("dst of %d", n))
				part.Check(t, fmt.Sprintf("x of %d in place", n))
				SameBits(t, "alone", dst.Data, all.Data[at:at+n])
				SameBits(t, "in place", part.Data, all.Data[at:at+n])
			}
		})
	}
}

func (c *UnaryCase) accepts(got float32, x float64, a Accuracy) bool {
	if c.Divisor != nil && !a.promised(c.Divisor(x)) {
		return true
	}
	ulp := c.ULP + c.Quotient*a.Division + c.Root*a.Root
	if c.Corrected && a != (Accuracy{}) && correctable(x, c.Want(x)) {
		ulp = corrected
	}
	return a.accepts(got, c.Want, x, ulp, c.PerX*math.Abs(x), max(1, c.Factor)+math.Abs(x))
}

// SameBits fails the test if two slices differ, except in the payload of NaN.
func SameBits(t testing.TB, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s: element %d of %d is %v, want %v", what, i, len(want), g, w)
		}
	}
}

// within reports whether got equals want. A difference of `ulp` units in the last place of a float32, plus `room`,
// is allowed.
func within(got float32, want, ulp, room float64) bool {
	switch {
	case want != want:
		return got != got
	case float64(got) == want || got == float32(want):
		return true
	case math.IsInf(want, 0) || math.IsInf(float64(got), 0):
		return false
	}
	exponent := -126
	if want != 0 {
		exponent = max(exponent, math.Ilogb(want))
	}
	return math.Abs(float64(got)-want) <= ulp*math.Ldexp(1, exponent-23)+room
}

var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, -2,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), -float32(math.NaN()),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-126, -0x1p-126, 0x1.fffffcp-127, -0x1.fffffcp-127,
	math.MaxFloat32, -math.MaxFloat32, 88.72283, 88.72284, -87.33655, -103.97208, -103.97209, -150, 1.5, 2.5, -1.5, 0x1p23, 0x1p24 + 2,
}

// everyKind returns special numbers, numbers of all magnitudes, and numbers near zero.
func everyKind() *Slice[float32] {
	const steps, near = 8000, 4000
	s := NewSlice[float32](len(special)+steps+near, 3)
	copy(s.Data, special)
	rest := s.Data[len(special):]
	for i := range steps {
		rest[i] = math.Float32frombits(uint32(i) * 536881)
	}
	for i := range near {
		rest[steps+i] = float32(i-near/2) / 150
	}
	s.Freeze()
	return s
}

// A BinaryCase is the definition of a kernel of two slices, or of a slice and a scalar. Its results are rounded
// correctly. Only a quotient may have an error, which the target's [Accuracy] bounds.
type BinaryCase struct {
	Name string
	Want func(a, b float32) float32
}

func (c *BinaryCase) check(t *testing.T, what string, got []float32, operands func(i int) (x, y float32), a Accuracy) {
	t.Helper()
	for i, g := range got {
		if x, y := operands(i); !a.acceptsBinary(g, c.Want, x, y, c.Name == "Div") {
			t.Fatalf("%s: element %d of %d, of %v and %v, is %v, want %v", what, i, len(got), x, y, g, c.Want(x, y))
		}
	}
}

// Binaries are the definitions of kernels with two operands. The results must be exact if the target computes
// exactly.
var Binaries = []BinaryCase{
	{"Add", func(a, b float32) float32 { return a + b }},
	{"Sub", func(a, b float32) float32 { return a - b }},
	{"Mul", func(a, b float32) float32 { return a * b }},
	{"Div", func(a, b float32) float32 { return a / b }},
	{"Min", func(a, b float32) float32 {
		if a < b || a != a {
			return a
		}
		return b
	}},
	{"Max", func(a, b float32) float32 {
		if a > b || a != a {
			return a
		}
		return b
	}},
	{"Gate", func(a, b float32) float32 {
		if b > 0 {
			return a
		}
		return 0
	}},
	{"PRelu", func(a, b float32) float32 {
		if a < 0 {
			return a * b
		}
		return a
	}},
}

// BinaryForms are the kernels of a binary operation. A form may be nil.
type BinaryForms struct {
	Slices func(dst, a, b []float32)
	Scalar func(dst, a []float32, b float32)           // the second operand is a scalar
	First  func(dst []float32, a float32, b []float32) // the first operand is a scalar
}

// Binary tests the kernels for [Binaries], by name, on slices of all short lengths. It also tests the forms with a
// scalar on all pairs of special numbers. accuracy is the accuracy of the target.
func Binary(t *testing.T, kernels map[string]BinaryForms, accuracy Accuracy) {
	for _, c := range Binaries {
		t.Run(c.Name, func(t *testing.T) {
			forms, ok := kernels[c.Name]
			if !ok {
				t.Fatal("there is no such kernel")
			}
			r := NewRandom(7)
			r.special = true
			for n := range 150 {
				a, b := r.Input(n, n%7), r.Input(n, n%3)
				dst := NewSlice[float32](n, n%4)
				check := func(what string) {
					t.Helper()
					c.check(t, what, dst.Data, func(i int) (x, y float32) { return a.Data[i], b.Data[i] }, accuracy)
				}
				forms.Slices(dst.Data, a.Data, b.Data)
				check("of slices")
				for _, s := range []*Slice[float32]{dst, a, b} {
					s.Check(t, "operand")
				}
				copy(dst.Data, a.Data)
				forms.Slices(dst.Data, dst.Data, b.Data)
				check("over the first operand")
				copy(dst.Data, b.Data)
				forms.Slices(dst.Data, a.Data, dst.Data)
				check("over the second operand")
				dst.Check(t, "operand in place")
			}
			for _, y := range special {
				x := NewSlice[float32](len(special), 1)
				copy(x.Data, special)
				x.Freeze()
				dst := NewSlice[float32](len(special), 2)
				if forms.Scalar != nil {
					forms.Scalar(dst.Data, x.Data, y)
					c.check(t, "with a scalar", dst.Data, func(i int) (float32, float32) { return special[i], y }, accuracy)
				}
				if forms.First != nil {
					forms.First(dst.Data, y, x.Data)
					c.check(t, "of a scalar", dst.Data, func(i int) (float32, float32) { return y, special[i] }, accuracy)
				}
				x.Check(t, "x")
				dst.Check(t, "dst")
			}
		})
	}
}
