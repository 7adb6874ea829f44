package nn

import (
	"fmt"
	"strings"
)

// Layer is a module with one operand and one result.
type Layer interface{ Forward(x Value) Value }

// Forward applies the function. It makes an Activation a [Layer].
func (f Activation) Forward(x Value) Value { return f(x) }

// Sequential applies layers one after the other. The index of a layer is its name in the paths of
// parameters.
type Sequential []Layer

// Forward applies the layers in order.
func (s Sequential) Forward(x Value) Value {
	for _, l := range s {
		x = l.Forward(x)
	}
	return x
}

// Identity is a layer that returns its operand.
type Identity struct{}

// Forward returns x.
func (Identity) Forward(x Value) Value { return x }

// Flatten is a layer that merges all axes but the first, the batch, into one.
type Flatten struct{}

// Forward flattens x.
func (Flatten) Forward(x Value) Value { return x.Flatten(1, -1) }

// made returns an error if w is the zero Param. The layer was then not created by `constructor`.
func made(w Param, constructor string) error {
	if !w.Valid() {
		return fmt.Errorf("use nn.%s", constructor)
	}
	return nil
}

func (p Param) failAt(format string, args ...any) {
	pos, function := caller()
	name := calledName(function)
	if path := p.p.path; path != "" {
		if module, _, ok := cutLast(path); ok {
			path = module
		}
		name = path + ": " + name
	}
	panic(&Error{pos, name + ": " + fmt.Sprintf(format, args...)})
}

func cutLast(path string) (before, last string, ok bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// Linear is x·Wᵀ + b over the last axis. The weight is [out, in].
type Linear struct{ Weight, Bias Param }

// NewLinear returns a linear layer from `in` to `out` features. Weight and bias are initialised uniformly in [−k,
// k], where k = 1/√in. [WeightInit] sets another initialisation of the weight.
func NewLinear(in, out int, options ...LinearOption) Linear {
	w := window{init: fanIn(in)}
	for _, o := range options {
		o.linear(&w)
	}
	l := Linear{Weight: NewParam(w.init, out, in)}
	if !w.noBias {
		l.Bias = NewParam(fanIn(in), out)
	}
	return l
}

func (l Linear) check() error { return made(l.Weight, "NewLinear") }

// Forward applies the layer to x, […, in]. The result is […, out].
func (l Linear) Forward(x Value) Value {
	required(l)
	w := l.Weight.Value()
	if x.Rank() == 0 || !x.Dim(-1).Equal(w.Dim(1)) {
		l.Weight.failAt("input %s, layer expects %s features", x.typ(), w.Dim(1))
	}
	y := x.MatMul(w.T())
	if l.Bias.Valid() {
		y = y.Add(l.Bias.Value())
	}
	return y
}

func required(layer interface{ check() error }) {
	if err := layer.check(); err != nil {
		fail("the layer is zero; %v", err)
	}
}

// Embedding maps a token to a vector of features: token i to row i of the weight, [n, features]. n is the number of
// different tokens.
type Embedding struct{ Weight Param }

// NewEmbedding returns an embedding of the tokens 0 to n−1, each as a vector of `features` elements. Its weight is
// initialised from the standard normal distribution unless [WeightInit] is given.
func NewEmbedding(n, features int, options ...EmbeddingOption) Embedding {
	w := window{init: NormalInit(0, 1)}
	for _, o := range options {
		o.embedding(&w)
	}
	return Embedding{Weight: NewParam(w.init, n, features)}
}

func (e Embedding) check() error { return made(e.Weight, "NewEmbedding") }

// Forward returns the rows of the weight whose indices are in tokens. tokens are i64 or i32, [shape…]. The result is
// [shape…, features]. The generated code returns an error if a token is not the index of a row.
func (e Embedding) Forward(tokens Value) Value {
	required(e)
	if tokens.DType() != I64 && tokens.DType() != I32 {
		e.Weight.failAt("input %s, tokens of i64 or i32 expected", tokens.typ())
	}
	rows := e.Weight.Value()
	return rows.Select(0, tokens.oneOf(rows.Dim(0), "token", "rows"))
}

// PReLULayer is [PReLU] with a trained slope: one number for all channels, or one for each channel.
type PReLULayer struct{ Weight Param }

// NewPReLU returns a [PReLULayer] with `slopes` slopes, initialised to 0.25.
func NewPReLU(slopes int) PReLULayer { return PReLULayer{NewParam(Constant(0.25), slopes)} }

func (l PReLULayer) check() error { return made(l.Weight, "NewPReLU") }

// Forward returns [PReLU] of x with the layer's weight.
func (l PReLULayer) Forward(x Value) Value { required(l); return PReLU(x, l.Weight.Value()) }

// SwiGLU returns SiLU(Inner(x))⊙Outer(x), where Inner and Outer are linear layers.
type SwiGLU struct{ Inner, Outer Linear }

// NewSwiGLU returns a SwiGLU layer from `in` to `out` features.
func NewSwiGLU(in, out int, options ...LinearOption) SwiGLU {
	return SwiGLU{NewLinear(in, out, options...), NewLinear(in, out, options...)}
}

// Forward applies the layer to x.
func (l SwiGLU) Forward(x Value) Value { return SiLU(l.Inner.Forward(x)).Mul(l.Outer.Forward(x)) }
