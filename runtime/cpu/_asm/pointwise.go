package main

import "slices"

func pointwiseFamily(f *file) {
	t := &table{name: "constants"}
	indices(f)
	for _, p := range slices.Concat(arithmetic, rounding, elementary, slopes, activations, standardisation,
		signs, hyperbolic, fused(trigonometry), fused(powers), smooth) {
		p.write(f, t)
	}
	t.write(f)
}

// fused marks kernels whose results need fused multiply-adds.
func fused(kernels []pointwise) []pointwise {
	marked := slices.Clone(kernels)
	for i := range marked {
		marked[i].fused = true
	}
	return marked
}

// arithmetic lists IEEE arithmetic between two slices, or between a slice and a scalar.
var arithmetic = slices.Concat(
	operation("add", "+", instruction("VADDPS"), commutes),
	operation("sub", "−", instruction("VSUBPS"), ordered),
	operation("mul", "·", instruction("VMULPS"), commutes),
	operation("div", "/", instruction("VDIVPS"), ordered),
	operation("min", "min", extremum("VMINPS"), commutes),
	operation("max", "max", extremum("VMAXPS"), commutes),
)

const (
	commutes = false
	ordered  = true // whether there is also a kernel with the scalar first
)

// operation returns the kernels of a binary operation. apply writes the code for a = a op b.
// `order` is `commutes` if the operands may be exchanged, and `ordered` otherwise.
func operation(name, symbol string, apply func(k *vectors, a value, b any), order bool) []pointwise {
	upper := string(name[0]-'a'+'A') + name[1:]
	kernels := []pointwise{
		{
			name: name, doc: "a[i] " + symbol + " b[i]", inputs: []string{"a", "b"},
			body: func(k *vectors) value {
				apply(k, k.in[0], k.in[1])
				return k.in[0]
			},
		},
		{
			name: name + "Scalar", doc: "a[i] " + symbol + " b", inputs: []string{"a"}, scalars: []string{"b"},
			body: func(k *vectors) value {
				apply(k, k.in[0], k.scalars[0])
				return k.in[0]
			},
		},
	}
	if order == ordered {
		kernels = append(kernels, pointwise{
			name: "scalar" + upper, doc: "a " + symbol + " b[i]", inputs: []string{"b"}, scalars: []string{"a"},
			body: func(k *vectors) value {
				a := k.temp()
				k.do("VMOVAPS", k.scalars[0], a)
				apply(k, a, k.in[0])
				return a
			},
		})
	}
	return kernels
}

func instruction(name string) func(k *vectors, a value, b any) {
	return func(k *vectors, a value, b any) { k.do(name, b, a, a) }
}

// extremum returns a function that writes the minimum or maximum of a and b to a. `name` is VMINPS
// or VMAXPS. These instructions return b if an operand is NaN or both are zero. The function leaves
// a unchanged if a is NaN.
func extremum(name string) func(k *vectors, a value, b any) {
	return func(k *vectors, a value, b any) {
		t := k.temp()
		k.do(name, b, a, t)
		k.choose(k.compare(unordered, a, a), a, t, a)
		k.free(t)
	}
}

// slopes lists the kernels for ReLU's gradient, and for functions that multiply negative elements
// by a slope.
var slopes = []pointwise{
	{
		name: "gate", doc: "grad[i] where y[i] is above 0, else 0", inputs: []string{"grad", "y"},
		body: func(k *vectors) value {
			k.only(k.compare(greater, k.in[1], k.c(0)), k.in[0], k.in[0])
			return k.in[0]
		},
	},
	{
		name: "pRelu", doc: "x[i], or x[i]·slope[i] below 0", inputs: []string{"x", "slope"},
		body: func(k *vectors) value { return k.sloped(k.in[0], k.in[1]) },
	},
	unary("leakyRelu", "x[i], or x[i]·slope below 0", func(k *vectors, x value) { k.sloped(x, k.scalars[0]) }, "slope"),
}

func (k *vectors) sloped(x value, slope any) value {
	y := k.temp()
	k.do("VMULPS", slope, x, y)
	k.choose(k.compare(less, x, k.c(0)), y, x, x)
	k.free(y)
	return x
}

// unary returns a kernel with one input slice. `body` overwrites x with the result.
func unary(name, doc string, body func(k *vectors, x value), scalars ...string) pointwise {
	return pointwise{
		name: name, doc: doc, inputs: []string{"x"}, scalars: scalars,
		body: func(k *vectors) value {
			body(k, k.in[0])
			return k.in[0]
		},
	}
}

const (
	signBit   = 1 << 31
	magnitude = signBit - 1
)

// rounding lists the kernels of one instruction for each vector: changes of the sign, the square
// root, and roundings.
var rounding = []pointwise{
	unary("neg", "−x[i]", func(k *vectors, x value) { k.do("VXORPS", k.word(signBit), x, x) }),
	unary("abs", "|x[i]|", func(k *vectors, x value) { k.do("VANDPS", k.word(magnitude), x, x) }),
	unary("sqrt", "√x[i]", func(k *vectors, x value) { k.do("VSQRTPS", x, x) }),
	unary("floor", "⌊x[i]⌋", func(k *vectors, x value) { k.round(down, x, x) }),
	unary("ceil", "⌈x[i]⌉", func(k *vectors, x value) { k.round(up, x, x) }),
	unary("round", "x[i] rounded to even", func(k *vectors, x value) { k.round(nearestEven, x, x) }),
}

// activations lists piecewise linear activations, and activations made of exp, tanh and erf.
var activations = []pointwise{
	unary("relu", "max(x[i], 0)", func(k *vectors, x value) { k.atLeast(x, k.pin(0)) }),
	unary("clip", "x[i] in lo…hi", func(k *vectors, x value) {
		k.atLeast(x, k.scalars[0])
		k.atMost(x, k.scalars[1])
	}, "lo", "hi"),
	unary("hardSigmoid", "alpha·x[i] + beta in 0…1", hardSigmoid, "alpha", "beta"),
	unary("hardSwish", "x[i]·(alpha·x[i] + beta in 0…1)", func(k *vectors, x value) {
		gate := k.duplicate(x)
		hardSigmoid(k, gate)
		k.do("VMULPS", gate, x, x)
		k.free(gate)
	}, "alpha", "beta"),
	unary("selu", "gamma·x[i], or below 0 negative·(exp(x[i]) − 1)", func(k *vectors, x value) {
		y := k.duplicate(x)
		k.atLeast(y, k.pin(-25))
		k.expm1(y)
		k.do("VMULPS", k.scalars[0], y, y)
		negative := k.compare(less, x, k.c(0))
		k.do("VMULPS", k.scalars[1], x, x)
		k.choose(negative, y, x, x)
		k.free(y)
	}, "negative", "gamma"),
	unary("sigmoid", "1/(1 + exp(−x[i]))", func(k *vectors, x value) {
		one := k.temp()
		k.do("VMOVUPS", k.pin(1), one)
		k.gate(one, x)
		k.do("VMOVAPS", one, x)
		k.free(one)
	}),
	unary("swish", "x[i]/(1 + exp(−alpha·x[i]))", func(k *vectors, x value) {
		u := k.temp()
		k.do("VMULPS", k.scalars[0], x, u)
		k.gate(x, u)
		k.free(u)
	}, "alpha"),
	unary("geluTanh", "x[i]·(1 + tanh(√(2/π)·(x[i] + 0.044715·x[i]³)))/2", func(k *vectors, x value) {
		// (1 + tanh u)/2 is 1/(1 + exp(−2u)).
		const twice = 1.5957691216057308 // 2√(2/π)
		u := k.temp()
		k.do("VMULPS", x, x, u)
		k.do("VMULPS", k.c(twice*0.044715), u, u)
		k.do("VADDPS", k.c(twice), u, u)
		k.do("VMULPS", x, u, u)
		k.gate(x, u)
		k.free(u)
	}),
	unary("mish", "x[i]·tanh(log(1 + exp(x[i])))", func(k *vectors, x value) {
		// With e = exp(x) the tangent is e(e + 2)/(e(e + 2) + 2). It is 1 for x ≥ 20.
		e := k.duplicate(x)
		k.atMost(e, k.pin(20))
		k.atLeast(e, k.pin(expLeast))
		k.exp(e)
		d := k.temp()
		k.do("VADDPS", k.c(2), e, d)
		k.do("VMULPS", d, e, e)
		k.do("VADDPS", k.c(2), e, d)
		k.do("VDIVPS", d, e, e)
		k.do("VMULPS", e, x, x)
		k.free(e, d)
	}),
	unary("gelu", "x[i]·(1 + erf(x[i]/√2))/2", func(k *vectors, x value) {
		y := k.temp()
		k.do("VMULPS", k.c(0.70710678118654752), x, y)
		k.erf(y)
		k.do("VMULPS", k.c(0.5), x, x)
		k.do("VFMADD213PS", x, x, y)
		k.do("VMOVAPS", y, x)
		k.free(y)
	}),
}

var signs = []pointwise{
	unary("sign", "−1, 0 or 1 as x[i] is, or x[i]", func(k *vectors, x value) {
		one := k.temp()
		k.do("VANDPS", k.word(signBit), x, one)
		k.do("VORPS", k.c(1), one, one)
		k.choose(k.compare(unequal, x, k.c(0)), one, x, one)
		k.choose(k.compare(unordered, x, x), x, one, x)
		k.free(one)
	}),
}

var smooth = []pointwise{
	unary("thresholdedRelu", "x[i], or 0 up to alpha", func(k *vectors, x value) {
		k.only(k.compare(greater, x, k.scalars[0]), x, x)
	}, "alpha"),
	unary("softsign", "x[i]/(1 + |x[i]|)", func(k *vectors, x value) {
		d := k.temp()
		k.do("VANDPS", k.word(magnitude), x, d)
		k.do("VADDPS", k.c(1), d, d)
		k.do("VDIVPS", d, x, x)
		k.free(d)
	}),
	unary("celu", "x[i], or below 0 alpha·(exp(x[i]/alpha) − 1)", func(k *vectors, x value) {
		y := k.temp()
		k.do("VDIVPS", k.scalars[0], x, y)
		k.atLeast(y, k.pin(-25))
		k.atMost(y, k.pin(25))
		k.expm1(y)
		k.do("VMULPS", k.scalars[0], y, y)
		k.choose(k.compare(less, x, k.c(0)), y, x, x)
		k.free(y)
	}, "alpha"),
	unary("softplus", "log(1 + exp(x[i]))", func(k *vectors, x value) {
		// With e = exp(−|x|) it is max(x, 0) + log(1 + e), corrected for the rounding of 1 + e.
		e, u := k.temp(), k.temp()
		k.do("VORPS", k.word(signBit), x, e)
		k.atLeast(e, k.pin(expLeast))
		k.exp(e)
		k.do("VADDPS", k.c(1), e, u)
		lost := k.temp()
		k.do("VSUBPS", k.c(1), u, lost)
		k.do("VSUBPS", lost, e, lost)
		k.do("VDIVPS", u, lost, lost)
		k.logOfNormal(u)
		k.do("VADDPS", lost, u, u)
		k.free(e, lost)
		k.atLeast(x, k.pin(0))
		k.do("VADDPS", u, x, x)
		k.free(u)
	}),
}

// atLeast computes x = max(x, lo), where the register lo holds a bound. atMost computes x = min(x,
// hi). x is the second operand in Intel's order, so that a NaN or −0 in x is kept.
func (k *vectors) atLeast(x value, lo string) { k.do("VMAXPS", x, lo, x) }
func (k *vectors) atMost(x value, hi string)  { k.do("VMINPS", x, hi, x) }

// hardSigmoid computes x = alpha·x + beta, clamped to 0…1. alpha and beta are the scalars of the
// kernel.
func hardSigmoid(k *vectors, x value) {
	k.do("VMULPS", k.scalars[0], x, x)
	k.do("VADDPS", k.scalars[1], x, x)
	k.atLeast(x, k.pin(0))
	k.atMost(x, k.pin(1))
}

// gate multiplies v by 1/(1 + exp(−u)). For a negative u it computes e/(1 + e) with e = exp(u), so
// that e never exceeds 1.
func (k *vectors) gate(v, u value) {
	e := k.temp()
	k.do("VORPS", k.word(signBit), u, e)
	k.atLeast(e, k.pin(expLeast))
	k.exp(e)
	product := k.temp()
	k.do("VMULPS", e, v, product)
	k.choose(k.compare(less, u, k.c(0)), product, v, v)
	k.do("VADDPS", k.c(1), e, e)
	k.do("VDIVPS", e, v, v)
	k.free(e, product)
}

var standardisation = []pointwise{
	unary("affine", "x[i]·factor + shift", func(k *vectors, x value) {
		k.do("VFMADD213PS", k.scalars[1], k.scalars[0], x)
	}, "factor", "shift"),
	{
		name: "standard", doc: "(x[i] − mean)·factor", inputs: []string{"x"}, scalars: []string{"mean", "factor"},
		body: standard,
	},
	{
		name: "standardScaled", doc: "(x[i] − mean)·factor·scale[i]",
		inputs: []string{"x", "scale"}, scalars: []string{"mean", "factor"},
		body: func(k *vectors) value {
			x := standard(k)
			k.do("VMULPS", k.in[1], x, x)
			return x
		},
	},
	{
		name: "standardAffine", doc: "(x[i] − mean)·factor·scale[i] + bias[i]",
		inputs: []string{"x", "scale", "bias"}, scalars: []string{"mean", "factor"},
		body: func(k *vectors) value {
			x := standard(k)
			k.do("VFMADD213PS", k.in[2], k.in[1], x)
			return x
		},
	},
}

func standard(k *vectors) value {
	x := k.in[0]
	k.do("VSUBPS", k.scalars[0], x, x)
	k.do("VMULPS", k.scalars[1], x, x)
	return x
}
