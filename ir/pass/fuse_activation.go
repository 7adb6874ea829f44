package pass

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// fuseActivation replaces an activation that is written out as several operators by one operator. The factors of a
// product may be in any order. It recognises sigmoid, swish (SiLU), GELU with erf or tanh, hard swish, and mish.
func fuseActivation(ctx *Context, m *ir.Module) (changed bool, err error) {
	if ctx.Strict {
		return false, nil
	}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if len(n.Results) != 1 || !n.Results[0].Type.DType.IsFloat() {
			return nil
		}
		var y *ir.Value
		switch n.Op.(type) {
		case op.Mul:
			y = gated(b, n.Results[0])
		case op.Reciprocal:
			y = logistic(b, n.Args[0])
		case op.Div:
			switch _, isNumber := numberOf(n.Args[1]); {
			case isNumber:
				y = gated(b, n.Results[0])
			case isAbout(n.Args[0], 1):
				y = logistic(b, n.Args[1])
			default:
				y = dividedSwish(b, n.Args[0], n.Args[1])
			}
		}
		if y == nil || !y.Type.Equal(n.Results[0].Type) {
			return nil
		}
		ctx.Count(FusedFormulas, 1)
		return []*ir.Value{y}
	})
}

// logistic returns a sigmoid that equals 1/v, if v is 1 + e^(c·x). Otherwise it returns nil.
func logistic(b *ir.Builder, v *ir.Value) *ir.Value {
	x, c, ok := onePlusExp(v)
	if !ok {
		return nil
	}
	if c != -1 {
		x = b.Node(op.Mul{}, x, b.Scalar(x.Type.DType, -c))
	}
	return b.Node(op.Sigmoid{}, x)
}

// dividedSwish returns a swish that equals x/v, if v is 1 + e^(−a·x). Otherwise it returns nil.
func dividedSwish(b *ir.Builder, x, v *ir.Value) *ir.Value {
	y, c, ok := onePlusExp(v)
	if !ok || y != x {
		return nil
	}
	return b.Node(op.Swish{Alpha: asFloat32(-c)}, x)
}

// onePlusExp returns x and c if v is 1 + e^(c·x). ok is false if v is something else.
func onePlusExp(v *ir.Value) (x *ir.Value, c float64, ok bool) {
	e, ok := plus(v, 1)
	if !ok {
		return nil, 0, false
	}
	n, _, ok := madeBy[op.Exp](e)
	if !ok {
		return nil, 0, false
	}
	x, c = unscaled(n.Args[0])
	return x, c, true
}

// plus returns x if v is x + c. ok is false if v is something else.
func plus(v *ir.Value, c float64) (x *ir.Value, ok bool) {
	n, _, ok := madeBy[op.Add](v)
	if !ok {
		return nil, false
	}
	for i, a := range n.Args {
		if isAbout(a, c) && n.Args[1-i].Type.Equal(v.Type) {
			return n.Args[1-i], true
		}
	}
	return nil, false
}

// gated returns an activation that equals v, if v is the product of a value x and a gate, which is a function of x.
// A number may be a further factor. gated returns nil if v is something else.
func gated(b *ir.Builder, v *ir.Value) *ir.Value {
	parts, c := factors(b, v)
	if len(parts) != 2 {
		return nil
	}
	for i, x := range parts {
		for _, gate := range gates {
			o, scale, ok := gate(x, parts[1-i])
			if !ok || !about(c*scale, 1, x.Type.DType) {
				continue
			}
			return b.Node(o, x)
		}
	}
	return nil
}

// gates are functions that recognise a gate, such as the sigmoid of x. Each returns an operator o and a scale, for
// which x·gate = scale·o(x). ok is false if the gate has another form.
var gates = []func(x, gate *ir.Value) (o ir.Op, scale float64, ok bool){
	sigmoidGate, erfGate, tanhGate, hardGate, mishGate,
}

// sigmoidGate is one of [gates]. It recognises σ(a·x), and returns Swish with alpha a.
func sigmoidGate(x, gate *ir.Value) (ir.Op, float64, bool) {
	n, _, ok := madeBy[op.Sigmoid](gate)
	if !ok {
		return nil, 0, false
	}
	y, a := unscaled(n.Args[0])
	return op.Swish{Alpha: asFloat32(a)}, 1, y == x
}

func asFloat32(x float64) float64 { return float64(float32(x)) }

// erfGate is one of [gates]. It recognises a multiple of 1 + erf(x/√2), and returns GELU.
func erfGate(x, gate *ir.Value) (ir.Op, float64, bool) {
	inner, scale, ok := onePlus(gate)
	n, _, isErf := madeBy[op.Erf](inner)
	if !ok || !isErf {
		return nil, 0, false
	}
	y, c := unscaled(n.Args[0])
	return op.Gelu{}, scale, y == x && about(c, 1/math.Sqrt2, x.Type.DType)
}

// onePlus returns y and scale if v is scale·(1 + y)/2. ok is false if v is something else.
func onePlus(v *ir.Value) (y *ir.Value, scale float64, ok bool) {
	v, c := unscaled(v)
	n, _, ok := madeBy[op.Add](v)
	if !ok {
		return nil, 0, false
	}
	for i, a := range n.Args {
		by, isNumber := numberOf(a)
		inner, by2 := unscaled(n.Args[1-i])
		if isNumber && by != 0 && by == by2 {
			return inner, 2 * c * by, true
		}
	}
	return nil, 0, false
}

// tanhGate is one of [gates]. It recognises a multiple of 1 + tanh(√(2/π)·(x + 0.044715·x³)), and returns GELU with
// tanh.
func tanhGate(x, gate *ir.Value) (ir.Op, float64, bool) {
	inner, scale, ok := onePlus(gate)
	n, _, isTanh := madeBy[op.Tanh](inner)
	if !ok || !isTanh {
		return nil, 0, false
	}
	linear, cubic, ok := polynomial(n.Args[0], x)
	const slope = 0.7978845608028654
	d := x.Type.DType
	return op.Gelu{Tanh: true}, scale, ok && about(linear, slope, d) && about(cubic, slope*0.044715, d)
}

// polynomial returns linear and cubic if v is linear·x + cubic·x³. ok is false if v is something else.
func polynomial(v, x *ir.Value) (linear, cubic float64, ok bool) {
	inner, c := unscaled(v)
	switch degree, by := monomial(inner, x); degree {
	case 1:
		return c * by, 0, true
	case 3:
		return 0, c * by, true
	}
	n := inner.Def
	if n == nil {
		return 0, 0, false
	}
	switch n.Op.(type) {
	case op.Add:
		l0, c0, ok0 := polynomial(n.Args[0], x)
		l1, c1, ok1 := polynomial(n.Args[1], x)
		return c * (l0 + l1), c * (c0 + c1), ok0 && ok1
	case op.Mul: // x·(a + c·x²)
		for i, a := range n.Args {
			y, by := unscaled(a)
			sum, more := unscaled(n.Args[1-i])
			if y != x || sum.Def == nil {
				continue
			}
			if _, ok := sum.Def.Op.(op.Add); !ok {
				continue
			}
			for k, s := range sum.Def.Args {
				one, ok := numberOf(s)
				if degree, square := monomial(sum.Def.Args[1-k], x); ok && degree == 2 {
					return c * by * more * one, c * by * more * square, true
				}
			}
		}
	}
	return 0, 0, false
}

// monomial returns degree and c if v is c·x^degree, and degree is 1, 2 or 3. Otherwise it returns 0 and 0.
func monomial(v, x *ir.Value) (degree int, c float64) {
	inner, c := unscaled(v)
	if inner == x {
		return 1, c
	}
	if inner.Def == nil || len(inner.Def.Args) != 2 {
		return 0, 0
	}
	a, b := inner.Def.Args[0], inner.Def.Args[1]
	switch inner.Def.Op.(type) {
	case op.Pow:
		if n, ok := numberOf(b); ok && a == x && (n == 2 || n == 3) {
			return int(n), c
		}
	case op.Mul:
		n, p := monomial(a, x)
		k, q := monomial(b, x)
		if n > 0 && k > 0 && n+k <= 3 {
			return n + k, c * p * q
		}
	}
	return 0, 0
}

// hardGate is one of [gates]. It recognises min(max(x + 3, 0), 6) and a sixth of it, and returns HardSwish.
func hardGate(x, gate *ir.Value) (ir.Op, float64, bool) {
	if n, o, ok := madeBy[op.HardSigmoid](gate); ok {
		d := x.Type.DType
		return op.HardSwish{}, 1, n.Args[0] == x && about(o.Alpha, 1./6, d) && about(o.Beta, 0.5, d)
	}
	n, o, ok := madeBy[op.Clip](gate)
	if !ok || o.Lo != 0 || o.Hi != 6 {
		return nil, 0, false
	}
	y, ok := plus(n.Args[0], 3)
	return op.HardSwish{}, 6, ok && y == x
}

// mishGate, one of [gates], recognises tanh(log(1 + e^x)) and returns Mish.
func mishGate(x, gate *ir.Value) (ir.Op, float64, bool) {
	n, _, ok := madeBy[op.Tanh](gate)
	if !ok {
		return nil, 0, false
	}
	if soft, _, ok := madeBy[op.Softplus](n.Args[0]); ok {
		return op.Mish{}, 1, soft.Args[0] == x
	}
	log, _, ok := madeBy[op.Log](n.Args[0])
	if !ok {
		return nil, 0, false
	}
	y, c, ok := onePlusExp(log.Args[0])
	return op.Mish{}, 1, ok && y == x && c == 1
}
