package nn

import (
	"math"

	"github.com/burngen/burngen/ir/op"
)

// ScaledDotProductAttention returns softmax(query·keyᵀ/√D + mask)·value. Queries are [N, H, S, D]: S queries for
// each of H heads. Keys are [N, G, T, D] and values [N, G, T, E]: T keys for each of G heads, where G divides H. The
// result is [N, H, S, E]. mask broadcasts to [N, H, S, T]. A bool mask hides keys where it is true, a float mask is
// added to the scores, and the zero Value is no mask. If causal is true, query i sees only the keys 0 to i. The
// result for a query that sees no key is 0.
func ScaledDotProductAttention(query, key, value, mask Value, causal bool) Value {
	depth, ok := query.typ().Shape[max(query.Rank()-1, 0)].Int()
	if query.Rank() != 4 || !ok || depth == 0 {
		fail("queries %s, [N,H,S,D] expected", query.typ())
	}
	if mask.Valid() && mask.DType() == Bool {
		mask = mask.Not()
	}
	o := op.Attention{Scale: 1 / math.Sqrt(float64(depth)), Before: -1, After: -1}
	if causal {
		o.After = 0
	}
	return one(o, query, key, value, mask)
}

// MultiHeadAttention is PyTorch's multi-head attention. Its parameters are in_proj_weight [3·features, features],
// in_proj_bias [3·features], and the linear layer out_proj.
type MultiHeadAttention struct {
	InProjWeight, InProjBias Param
	OutProj                  Linear
	heads                    int
	options                  transformerOptions
}

// NewMultiHeadAttention returns an attention layer with the given number of heads. `features` must be a multiple of
// `heads`. Training zeroes 10 % of the attention weights unless [DropoutRate] sets another rate.
func NewMultiHeadAttention(features, heads int, options ...AttentionOption) MultiHeadAttention {
	t := transformerOptions{dropout: 0.1}
	for _, o := range options {
		o.attention(&t)
	}
	return newAttention(features, heads, t)
}

func newAttention(features, heads int, t transformerOptions) MultiHeadAttention {
	if heads < 1 || features%heads != 0 {
		fail("%d features in %d heads", features, heads)
	}
	m := MultiHeadAttention{InProjWeight: NewParam(XavierUniform(1), 3*features, features), heads: heads, options: t}
	if t.noBias {
		m.OutProj = NewLinear(features, features, NoBias)
		return m
	}
	m.InProjBias = NewParam(Constant(0), 3*features)
	m.OutProj = NewLinear(features, features)
	m.OutProj.Bias = NewParam(Constant(0), features)
	return m
}

func (m MultiHeadAttention) check() error { return made(m.InProjWeight, "NewMultiHeadAttention") }

// Forward returns the attention of query, [N, S, features], to key and value, [N, T, features]. The result is [N,
// S, features]. A bool mask hides keys where it is true, a float mask is added to the scores, and the zero Value is
// no mask. A mask is [S, T], [N, S, T], or broadcasts to [N, heads, S, T]. See [MinScore] for queries whose keys
// are all hidden.
func (m MultiHeadAttention) Forward(query, key, value, mask Value) Value {
	required(m)
	y, _ := m.Cached(query, key, value, mask, Value{}, Value{})
	return y
}

// Cached is like [MultiHeadAttention.Forward] with a key-value cache. Queries attend to pastKeys and pastValues,
// followed by the keys and values of this call. pastKeys and pastValues are [N, heads, P, features/heads] for P past
// positions; in the first call they are zero Values. The second result holds all keys and all values. Pass them to
// the next call as pastKeys and pastValues.
func (m MultiHeadAttention) Cached(query, key, value, mask, pastKeys, pastValues Value) (Value, [2]Value) {
	required(m)
	q, memory := m.projected(query, 0), m.Memory(key, value)
	if pastKeys.Valid() {
		memory[0], memory[1] = Concat(2, pastKeys, memory[0]), Concat(2, pastValues, memory[1])
	}
	return m.recall(q, memory, mask), memory
}

// Memory returns keys and values for [MultiHeadAttention.Recall]. key and value are [N, T, features]. Memory
// multiplies them by the weights and splits them into heads: [N, heads, T, features/heads].
func (m MultiHeadAttention) Memory(key, value Value) [2]Value {
	required(m)
	return [2]Value{m.projected(key, 1), m.projected(value, 2)}
}

// Recall returns the attention of query, [N, S, features], to keys and values. memory is a result of Memory or
// Cached. For the mask see [MultiHeadAttention.Forward].
func (m MultiHeadAttention) Recall(query Value, memory [2]Value, mask Value) Value {
	required(m)
	return m.recall(m.projected(query, 0), memory, mask)
}

// recall is [MultiHeadAttention.Recall] for a query that is projected already.
func (m MultiHeadAttention) recall(q Value, memory [2]Value, mask Value) Value {
	if mask.Valid() && mask.Rank() == 3 {
		mask = mask.Unsqueeze(1)
	}
	depth := m.InProjWeight.Shape()[1] / m.heads
	y := m.options.attend(q.Mul(1/math.Sqrt(float64(depth))), memory[0], memory[1], mask)
	return m.OutProj.Forward(y.Transpose(1, 2).Flatten(2, 3))
}

// projected returns x times the i-th third of the weights, split into heads: [N, heads, S, features/heads].
func (m MultiHeadAttention) projected(x Value, i int) Value {
	features := m.InProjWeight.Shape()[1]
	if x.Rank() != 3 || !x.Dim(2).Equal(features) {
		m.InProjWeight.failAt("input %s, layer expects [N,S,%d]", x.typ(), features)
	}
	y := x.MatMul(m.InProjWeight.Value().Narrow(0, i*features, features).T())
	if m.InProjBias.Valid() {
		y = y.Add(m.InProjBias.Value().Narrow(0, i*features, features))
	}
	return y.Reshape(x.Dim(0), x.Dim(1), m.heads, features/m.heads).Transpose(1, 2)
}

// CrossAttention is multi-head attention to another sequence. Several heads of queries may use one head of keys and
// values (Ainslie and others, GQA, 2023).
type CrossAttention struct {
	Query, Key, Value, Output Linear
	heads, shared, depth      int
	options                   transformerOptions
}

// NewCrossAttention returns an attention layer for vectors of `features` elements with the given number of heads.
// `shared` is the number of heads of keys and values, and must divide `heads`.
func NewCrossAttention(features, heads, shared int, options ...AttentionOption) CrossAttention {
	if heads < 1 || shared < 1 || features%heads != 0 || heads%shared != 0 {
		fail("%d features in %d heads, which share %d", features, heads, shared)
	}
	t := transformerOptions{dropout: 0.1}
	for _, o := range options {
		o.attention(&t)
	}
	var linear []LinearOption
	if t.noBias {
		linear = append(linear, NoBias)
	}
	depth := features / heads
	return CrossAttention{
		Query: NewLinear(features, features, linear...), Key: NewLinear(features, shared*depth, linear...),
		Value: NewLinear(features, shared*depth, linear...), Output: NewLinear(features, features, linear...),
		heads: heads, shared: shared, depth: depth, options: t,
	}
}

func (c CrossAttention) check() error { return made(c.Query.Weight, "NewCrossAttention") }

// Forward returns the attention of query, [N, S, features], to memory, [N, T, features]. For the
// mask see [MultiHeadAttention.Forward].
func (c CrossAttention) Forward(query, memory, mask Value) Value {
	required(c)
	split := func(x Value, heads int) Value {
		return x.Reshape(x.Dim(0), x.Dim(1), heads, c.depth).Transpose(1, 2)
	}
	// Queries of heads that share keys become rows of one product.
	groups := c.heads / c.shared
	q := split(c.Query.Forward(query), c.heads).Unflatten(1, c.shared, groups)
	k, v := split(c.Key.Forward(memory), c.shared).Unsqueeze(2), split(c.Value.Forward(memory), c.shared).Unsqueeze(2)
	if mask.Valid() {
		switch mask.Rank() {
		case 3:
			mask = mask.UnsqueezeDims(1, 2)
		case 4:
			if mask.Dim(1).Equal(1) {
				mask = mask.Unsqueeze(1)
			} else {
				mask = mask.Unflatten(1, c.shared, groups)
			}
		}
	}
	y := c.options.attend(q.Mul(1/math.Sqrt(float64(c.depth))), k, v, mask)
	return c.Output.Forward(y.Flatten(1, 2).Transpose(1, 2).Flatten(2, 3))
}

// hiddenScore is the score of keys that a bool mask hides. The zero hiddenScore is −∞.
type hiddenScore struct {
	value float64
	given bool
}

func (h hiddenScore) score() float64 {
	if h.given {
		return h.value
	}
	return math.Inf(-1)
}

// attend returns softmax(q·kᵀ + mask)·v, with dropout of the softmax. A bool mask replaces scores by t.hidden where
// it is true. The zero Value is no mask. If t.quiet is set, [QuietSoftmax] replaces the softmax.
func (t transformerOptions) attend(q, k, v, mask Value) Value {
	scores := q.MatMul(k.T())
	if mask.Valid() {
		if mask.DType() == Bool {
			scores = Where(mask, t.hidden.score(), scores)
		} else {
			scores = scores.Add(mask)
		}
	}
	weights := Softmax
	if t.quiet {
		weights = QuietSoftmax
	}
	return NewDropout(t.dropout).Forward(weights(scores, -1)).MatMul(v)
}

// PositionWiseFeedForward is a linear layer, a GELU, a dropout and a second linear layer.
type PositionWiseFeedForward struct {
	LinearInner, LinearOuter Linear
	Drop                     Dropout
}

// NewPositionWiseFeedForward returns a layer from `features` to `inner` and back to `features` features. `dropout`
// is the fraction of inner features that training zeroes.
func NewPositionWiseFeedForward(features, inner int, dropout float64) PositionWiseFeedForward {
	return PositionWiseFeedForward{NewLinear(features, inner), NewLinear(inner, features), Dropout{dropout}}
}

// Forward applies the layers in order.
func (p PositionWiseFeedForward) Forward(x Value) Value {
	return p.LinearOuter.Forward(p.Drop.Forward(GELU(p.LinearInner.Forward(x))))
}

// TransformerEncoderLayer is self-attention followed by a feed-forward network. Both have a residual connection and
// layer normalisation. The parameters have PyTorch's names.
type TransformerEncoderLayer struct {
	SelfAttn         MultiHeadAttention
	Linear1, Linear2 Linear
	Norm1, Norm2     LayerNorm
	options          transformerOptions
}

func transforming(options []TransformerOption) transformerOptions {
	t := transformerOptions{dropout: 0.1, feedForward: 2048, activation: ReLU}
	for _, o := range options {
		o.transformer(&t)
	}
	return t
}

// NewTransformerEncoderLayer returns a layer with the given numbers of features and of attention heads.
func NewTransformerEncoderLayer(features, heads int, options ...TransformerOption) TransformerEncoderLayer {
	t := transforming(options)
	return TransformerEncoderLayer{
		SelfAttn: newAttention(features, heads, t),
		Linear1:  NewLinear(features, t.feedForward), Linear2: NewLinear(t.feedForward, features),
		Norm1: NewLayerNorm(features), Norm2: NewLayerNorm(features),
		options: t,
	}
}

// Forward applies the layer to x, [N, S, features]. For the mask see [MultiHeadAttention.Forward].
func (l TransformerEncoderLayer) Forward(x, mask Value) Value {
	y, _ := l.Cached(x, mask, [2]Value{})
	return y
}

// Cached is like [TransformerEncoderLayer.Forward] for the next positions of a sequence. past is the second result
// of the call for the previous positions: all keys and all values so far. In the first call, past holds zero
// Values.
func (l TransformerEncoderLayer) Cached(x, mask Value, past [2]Value) (Value, [2]Value) {
	t := l.options
	x = t.residual(x, l.Norm1, func(x Value) (y Value) {
		y, past = l.SelfAttn.Cached(x, x, x, mask, past[0], past[1])
		return y
	})
	return t.residual(x, l.Norm2, func(x Value) Value { return t.feed(x, l.Linear1, l.Linear2) }), past
}

// residual returns x + f(x), with dropout of f(x). If t.normFirst is set, it returns x + f(norm(x)). Otherwise it
// returns norm(x + f(x)).
func (t transformerOptions) residual(x Value, norm LayerNorm, f func(Value) Value) Value {
	drop := NewDropout(t.dropout)
	if t.normFirst {
		return x.Add(drop.Forward(f(norm.Forward(x))))
	}
	return norm.Forward(x.Add(drop.Forward(f(x))))
}

func (t transformerOptions) feed(x Value, first, second Linear) Value {
	return second.Forward(NewDropout(t.dropout).Forward(t.activation(first.Forward(x))))
}

// TransformerEncoder is a stack of encoder layers.
type TransformerEncoder struct{ Layers []TransformerEncoderLayer }

// NewTransformerEncoder returns a stack of encoder layers.
func NewTransformerEncoder(features, heads, layers int, options ...TransformerOption) TransformerEncoder {
	e := TransformerEncoder{}
	for range layers {
		e.Layers = append(e.Layers, NewTransformerEncoderLayer(features, heads, options...))
	}
	return e
}

// Forward applies the layers to x, [N, S, features]. For the mask see [MultiHeadAttention.Forward].
func (e TransformerEncoder) Forward(x, mask Value) Value {
	y, _ := e.Cached(x, mask, nil)
	return y
}

// Cached is like [TransformerEncoder.Forward] for the next positions of a sequence. past is the second result of
// the call for the previous positions: the keys and values of each layer. It is nil in the first call. A causal
// language model that generates token by token calls Cached with one position and no mask.
func (e TransformerEncoder) Cached(x, mask Value, past [][2]Value) (Value, [][2]Value) {
	next := make([][2]Value, len(e.Layers))
	copy(next, ofLayers(past, len(e.Layers)))
	for i, l := range e.Layers {
		x, next[i] = l.Cached(x, mask, next[i])
	}
	return x, next
}

func ofLayers(all [][2]Value, n int) [][2]Value {
	if len(all) != 0 && len(all) != n {
		fail("keys and values of %d layers, the stack has %d", len(all), n)
	}
	return all
}

// TransformerDecoderLayer is self-attention, followed by attention to a memory, and a feed-forward network. All
// three have a residual connection and layer normalisation. The parameters have PyTorch's names.
type TransformerDecoderLayer struct {
	SelfAttn, MultiheadAttn MultiHeadAttention
	Linear1, Linear2        Linear
	Norm1, Norm2, Norm3     LayerNorm
	options                 transformerOptions
}

// NewTransformerDecoderLayer returns a layer with the given numbers of features and of attention heads.
func NewTransformerDecoderLayer(features, heads int, options ...TransformerOption) TransformerDecoderLayer {
	t := transforming(options)
	return TransformerDecoderLayer{
		SelfAttn: newAttention(features, heads, t), MultiheadAttn: newAttention(features, heads, t),
		Linear1: NewLinear(features, t.feedForward), Linear2: NewLinear(t.feedForward, features),
		Norm1: NewLayerNorm(features), Norm2: NewLayerNorm(features), Norm3: NewLayerNorm(features),
		options: t,
	}
}

// Forward applies the layer to x, [N, S, features], and memory, [N, T, features]. mask hides
// positions of x and memoryMask positions of memory; see [MultiHeadAttention.Forward].
func (l TransformerDecoderLayer) Forward(x, memory, mask, memoryMask Value) Value {
	y, _ := l.cached(x, mask, [2]Value{}, func(x Value) Value { return l.MultiheadAttn.Forward(x, memory, memory, memoryMask) })
	return y
}

// Cached is like [TransformerDecoderLayer.Forward] for the next positions of a sequence. memory holds the keys and
// values that MultiheadAttn computes from the memory. past is the second result of the call for the previous
// positions: the keys and values of self-attention. In the first call, past holds zero Values.
func (l TransformerDecoderLayer) Cached(x Value, memory [2]Value, mask, memoryMask Value, past [2]Value) (Value, [2]Value) {
	return l.cached(x, mask, past, func(x Value) Value { return l.MultiheadAttn.Recall(x, memory, memoryMask) })
}

// cached returns the output of the layer, and the keys and values of self-attention: `past`, followed by the keys
// and values of x. recall returns the attention of its argument to the memory.
func (l TransformerDecoderLayer) cached(x, mask Value, past [2]Value, recall func(x Value) Value) (Value, [2]Value) {
	t := l.options
	x = t.residual(x, l.Norm1, func(x Value) (y Value) {
		y, past = l.SelfAttn.Cached(x, x, x, mask, past[0], past[1])
		return y
	})
	x = t.residual(x, l.Norm2, recall)
	return t.residual(x, l.Norm3, func(x Value) Value { return t.feed(x, l.Linear1, l.Linear2) }), past
}

// TransformerDecoder is a stack of decoder layers.
type TransformerDecoder struct{ Layers []TransformerDecoderLayer }

// NewTransformerDecoder returns a stack of decoder layers.
func NewTransformerDecoder(features, heads, layers int, options ...TransformerOption) TransformerDecoder {
	d := TransformerDecoder{}
	for range layers {
		d.Layers = append(d.Layers, NewTransformerDecoderLayer(features, heads, options...))
	}
	return d
}

// Forward applies the layers; see [TransformerDecoderLayer.Forward].
func (d TransformerDecoder) Forward(x, memory, mask, memoryMask Value) Value {
	for _, l := range d.Layers {
		x = l.Forward(x, memory, mask, memoryMask)
	}
	return x
}

// Memory returns the keys and values of each layer for memory, [N, T, features]. Compute them once,
// and pass them to every call of [TransformerDecoder.Cached].
func (d TransformerDecoder) Memory(memory Value) [][2]Value {
	var out [][2]Value
	for _, l := range d.Layers {
		out = append(out, l.MultiheadAttn.Memory(memory, memory))
	}
	return out
}

// Cached is like [TransformerDecoder.Forward] for the next positions of a sequence. memory is the result of
// [TransformerDecoder.Memory]. past is the second result of the call for the previous positions: the keys and
// values of each layer. It is nil in the first call.
func (d TransformerDecoder) Cached(x Value, memory [][2]Value, mask, memoryMask Value, past [][2]Value) (Value, [][2]Value) {
	if len(memory) != len(d.Layers) {
		fail("a memory of %d layers, the stack has %d", len(memory), len(d.Layers))
	}
	next := make([][2]Value, len(d.Layers))
	copy(next, ofLayers(past, len(d.Layers)))
	for i, l := range d.Layers {
		x, next[i] = l.Cached(x, memory[i], mask, memoryMask, next[i])
	}
	return x, next
}

// CausalMask returns a bool mask [n, n] for [MultiHeadAttention.Forward]. For each position it hides all later
// positions.
func CausalMask(n Extent) Value { return TrilMask(n, n, 0) }

// PaddingMask returns a bool mask [N, 1, 1, S] that hides the positions at which tokens, [N, S], equals padding.
func PaddingMask(tokens Value, padding int) Value {
	return tokens.Equal(padding).Unsqueeze(1).Unsqueeze(1)
}

// PositionalEncoding adds sines and cosines of the position to its input. Their wavelengths are from 2π to 10000·2π
// (Vaswani and others, Attention is all you need, 2017).
type PositionalEncoding struct {
	table Value
}

// NewPositionalEncoding returns an encoding for sequences of at most `longest` positions.
func NewPositionalEncoding(features, longest int) PositionalEncoding {
	a := angles(longest, features, 10000)
	return PositionalEncoding{Stack(2, a.Sin(), a.Cos()).Flatten(1, 2).Narrow(1, 0, features).Float()}
}

// angles returns position·θ^(−2i/d), where θ is theta, for each position below `longest` and each pair i of d
// features. The result is f64 [longest, ⌈d/2⌉]. Its bits are the same on every machine.
func angles(longest, d int, theta float64) Value {
	places := Arange(longest).Cast(F64).Unsqueeze(1)
	pairs := Arange((d + 1) / 2).Cast(F64).Mul(-2 / float64(max(d, 1)))
	return places.Mul(pairs.Mul(FullOf(F64, theta).Log()).Exp())
}

// Forward adds the encoding to x, [N, S, features].
func (p PositionalEncoding) Forward(x Value) Value {
	if x.Rank() != 3 || !x.Dim(2).Equal(p.table.Dim(1)) {
		fail("input %s, [N,S,%s] expected", x.typ(), p.table.Dim(1))
	}
	return x.Add(rowsUpTo(p.table, x.Dim(1)).Cast(x.DType()))
}

// rowsUpTo returns the first n rows of a table. It gathers them by index. So the model returns an error when it
// runs if n is too large.
func rowsUpTo(table Value, n Dim) Value {
	if n.IsStatic() {
		return table.Narrow(0, 0, n)
	}
	return table.Select(0, Arange(n))
}

// RotaryEncoding rotates pairs of features of queries and keys by angles proportional to the
// position (Su and others, RoFormer, 2021). Pair i rotates by position·θ^(−2i/d). A pair consists
// of features 2i and 2i+1, or of features i and i + d/2 if halves is set.
type RotaryEncoding struct {
	sin, cos Value // [longest, d/2]
	halves   bool
}

// NewRotaryEncoding returns an encoding of d features for sequences of at most `longest` positions. theta is
// commonly 10000. If halves is set, feature i is paired with feature i + d/2; otherwise feature 2i is paired with
// 2i + 1. NewRotaryEncoding panics with an [*Error] if d is odd.
func NewRotaryEncoding(d, longest int, theta float64, halves bool) RotaryEncoding {
	if d%2 != 0 {
		fail("%d features have no pairs", d)
	}
	a := angles(longest, d, theta)
	return RotaryEncoding{a.Sin().Float(), a.Cos().Float(), halves}
}

// Forward rotates x, […, S, d]. The first element of x along S has position `start`.
func (r RotaryEncoding) Forward(x Value, start int) Value {
	half := r.sin.Dim(1)
	if x.Rank() < 2 || !x.Dim(-1).Equal(half.Mul(2)) {
		fail("input %s, %s features expected", x.typ(), half.Mul(2))
	}
	places := Arange(x.Dim(-2)).Add(start)
	sin, cos := r.sin.Select(0, places).Cast(x.DType()), r.cos.Select(0, places).Cast(x.DType())
	if r.halves {
		a, b := halves(x, -1)
		return Concat(-1, a.Mul(cos).Sub(b.Mul(sin)), b.Mul(cos).Add(a.Mul(sin)))
	}
	pairs := x.Unflatten(-1, half, 2)
	a, b := pairs.SelectDim(-1, 0), pairs.SelectDim(-1, 1)
	return Stack(-1, a.Mul(cos).Sub(b.Mul(sin)), b.Mul(cos).Add(a.Mul(sin))).Flatten(-2, -1)
}
