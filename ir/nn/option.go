package nn

// Each kind of layer has its own type of options. So a layer accepts only options that apply to it.
type (
	// ConvOption is an option of convolutions: [Stride], [Padding], [Dilation],
	// [Groups], [Kernel], [Same], [PaddingMode], [NoBias], [WeightInit].
	ConvOption interface{ conv(*window) }
	// ConvTransposeOption is an option of transposed convolutions: [Stride],
	// [Padding], [Dilation], [Groups], [Kernel], [OutputPadding], [NoBias],
	// [WeightInit].
	ConvTransposeOption interface{ convTranspose(*window) }
	// PoolOption is an option of pools: [Stride], [Padding], [Kernel] and [CeilMode]. Maximum pools also take
	// [Dilation], and average pools [NoCountPad].
	PoolOption interface{ pool(*window) }
	// LinearOption is an option of [Linear]: [NoBias], [WeightInit].
	LinearOption interface{ linear(*window) }
	// EmbeddingOption is an option of [Embedding]: [WeightInit].
	EmbeddingOption interface{ embedding(*window) }
	// NormOption is an option of normalisations: [Epsilon], [NoAffine] and [NoBias]. Batch normalisation also takes
	// [Momentum].
	NormOption interface{ norm(*normOptions) }
	// RecurrentOption is an option of recurrent layers: [Layers], [Bidirectional], [Reversed], [BatchFirst],
	// [NoBias], [DropoutRate] and [GateClip]. [RNN] also takes [Nonlinearity], [LSTM] also [InputForget], and [GRU]
	// also [ResetBefore].
	RecurrentOption interface{ recurrent(*recurrentOptions) }
	// AttentionOption is an option of [MultiHeadAttention] and [CrossAttention]:
	// [DropoutRate], [NoBias], [Quiet], [MinScore].
	AttentionOption interface{ attention(*transformerOptions) }
	// TransformerOption is an option of transformers: [DropoutRate], [NormFirst],
	// [WithActivation], [FeedForward], [Quiet], [MinScore].
	TransformerOption interface{ transformer(*transformerOptions) }
)

// window holds the options of a convolution, a pool or a linear layer.
type window struct {
	kernel, stride, padding, dilation, outPadding []int
	groups                                        int
	same, ceil, noBias, noCountPad                bool
	mode                                          string
	init                                          Init
}

type (
	strideOption     []int
	paddingOption    []int
	dilationOption   []int
	kernelOption     []int
	outPaddingOption []int
	groupsOption     int
	sameOption       struct{}
	ceilOption       struct{}
	countOption      struct{}
	noBiasOption     struct{}
	modeOption       string
	initOption       struct{ Init }
)

// Stride sets the distance between adjacent windows: one number for all axes, or one for each axis.
func Stride(n ...int) strideOption { return n }

// Padding sets the number of padding cells on each side of an axis: one number for all axes, or one for each axis.
func Padding(n ...int) paddingOption { return n }

// Dilation sets the distance between adjacent cells of a window: one number for all axes, or one for each axis.
func Dilation(n ...int) dilationOption { return n }

// Kernel sets the size of the window along each axis, for windows that are not square.
func Kernel(n ...int) kernelOption { return n }

// OutputPadding sets the number of cells that a transposed convolution adds at the end of an axis: one number for
// all axes, or one for each axis.
func OutputPadding(n ...int) outPaddingOption { return n }

// Groups splits the channels of a convolution into n groups with separate weights.
func Groups(n int) groupsOption { return groupsOption(n) }

// PaddingMode selects what a convolution pads with: "zeros", "reflect", "edge" or "circular".
func PaddingMode(mode string) modeOption { return modeOption(mode) }

// WeightInit sets the initialisation of a layer's weight.
func WeightInit(init Init) initOption { return initOption{init} }

var (
	// Same pads a convolution so that the result has ⌈extent/stride⌉ elements along each axis. If the number of
	// padding cells is odd, the extra cell is at the end.
	Same sameOption
	// CeilMode allows the last window of a pool to extend beyond the padding.
	CeilMode ceilOption
	// NoCountPad excludes the padding from averages.
	NoCountPad countOption
	// NoBias omits the bias.
	NoBias noBiasOption
)

func (o strideOption) conv(w *window)              { w.stride = o }
func (o strideOption) convTranspose(w *window)     { w.stride = o }
func (o strideOption) pool(w *window)              { w.stride = o }
func (o paddingOption) conv(w *window)             { w.padding = o }
func (o paddingOption) convTranspose(w *window)    { w.padding = o }
func (o paddingOption) pool(w *window)             { w.padding = o }
func (o dilationOption) conv(w *window)            { w.dilation = o }
func (o dilationOption) convTranspose(w *window)   { w.dilation = o }
func (o dilationOption) pool(w *window)            { w.dilation = o }
func (o kernelOption) conv(w *window)              { w.kernel = o }
func (o kernelOption) convTranspose(w *window)     { w.kernel = o }
func (o kernelOption) pool(w *window)              { w.kernel = o }
func (o outPaddingOption) convTranspose(w *window) { w.outPadding = o }
func (o groupsOption) conv(w *window)              { w.groups = int(o) }
func (o groupsOption) convTranspose(w *window)     { w.groups = int(o) }
func (o modeOption) conv(w *window)                { w.mode = string(o) }
func (sameOption) conv(w *window)                  { w.same = true }
func (ceilOption) pool(w *window)                  { w.ceil = true }
func (countOption) pool(w *window)                 { w.noCountPad = true }
func (noBiasOption) conv(w *window)                { w.noBias = true }
func (noBiasOption) convTranspose(w *window)       { w.noBias = true }
func (noBiasOption) linear(w *window)              { w.noBias = true }
func (noBiasOption) norm(n *normOptions)           { n.noBias = true }
func (noBiasOption) recurrent(r *recurrentOptions) { r.noBias = true }
func (noBiasOption) attention(t *transformerOptions) {
	t.noBias = true
}
func (o initOption) conv(w *window)          { w.init = o.Init }
func (o initOption) convTranspose(w *window) { w.init = o.Init }
func (o initOption) linear(w *window)        { w.init = o.Init }
func (o initOption) embedding(w *window)     { w.init = o.Init }

type normOptions struct {
	epsilon, momentum float64
	noAffine, noBias  bool
}

type (
	epsilonOption  float64
	momentumOption float64
	noAffineOption struct{}
)

// Epsilon sets the number that is added to variances. The default is 1e-5.
func Epsilon(e float64) epsilonOption { return epsilonOption(e) }

// Momentum sets the weight of the batch's statistics when the running statistics are updated. The default is 0.1.
func Momentum(m float64) momentumOption { return momentumOption(m) }

// NoAffine omits the weight and the bias of a normalisation.
var NoAffine noAffineOption

func (o epsilonOption) norm(n *normOptions)  { n.epsilon = float64(o) }
func (o momentumOption) norm(n *normOptions) { n.momentum = float64(o) }
func (noAffineOption) norm(n *normOptions)   { n.noAffine = true }

type recurrentOptions struct {
	layers                              int
	bidirectional, reversed, batchFirst bool
	noBias, inputForget, resetBefore    bool
	dropout, clip                       float64
	nonlinearity                        string
}

type (
	layersOption        int
	bidirectionalOption struct{}
	reversedOption      struct{}
	batchFirstOption    struct{}
	inputForgetOption   struct{}
	resetBeforeOption   struct{}
	clipOption          float64
	nonlinearityOption  string
	dropoutOption       float64
)

// Layers sets the number of stacked recurrent layers. The default is 1.
func Layers(n int) layersOption { return layersOption(n) }

// Nonlinearity sets the activation of an [RNN]: "tanh" or "relu".
func Nonlinearity(name string) nonlinearityOption { return nonlinearityOption(name) }

// DropoutRate sets the fraction of elements that training zeroes. Recurrent layers zero elements between layers,
// and their default is 0. Transformers have the default 0.1.
func DropoutRate(rate float64) dropoutOption { return dropoutOption(rate) }

// GateClip clamps the operands of the gates' activation functions in a recurrent layer to [−x, x].
func GateClip(x float64) clipOption { return clipOption(x) }

var (
	// Bidirectional runs a recurrent layer in both directions.
	Bidirectional bidirectionalOption
	// Reversed runs a recurrent layer from the last time step to the first.
	Reversed reversedOption
	// InputForget sets the forget gate of an [LSTM] to 1 minus the input gate.
	InputForget inputForgetOption
	// ResetBefore makes a [GRU] apply the reset gate r to the hidden state h before the product with the recurrent
	// weights R: (r⊙h)·Rᵀ. By default, the GRU applies the gate to the product: r⊙(h·Rᵀ).
	ResetBefore resetBeforeOption
	// BatchFirst puts the batch first and the sequence second in the inputs and outputs of a
	// recurrent layer.
	BatchFirst batchFirstOption
)

func (o layersOption) recurrent(r *recurrentOptions)       { r.layers = int(o) }
func (bidirectionalOption) recurrent(r *recurrentOptions)  { r.bidirectional = true }
func (reversedOption) recurrent(r *recurrentOptions)       { r.reversed = true }
func (inputForgetOption) recurrent(r *recurrentOptions)    { r.inputForget = true }
func (resetBeforeOption) recurrent(r *recurrentOptions)    { r.resetBefore = true }
func (o clipOption) recurrent(r *recurrentOptions)         { r.clip = float64(o) }
func (batchFirstOption) recurrent(r *recurrentOptions)     { r.batchFirst = true }
func (o nonlinearityOption) recurrent(r *recurrentOptions) { r.nonlinearity = string(o) }
func (o dropoutOption) recurrent(r *recurrentOptions)      { r.dropout = float64(o) }
func (o dropoutOption) attention(t *transformerOptions)    { t.dropout = float64(o) }
func (o dropoutOption) transformer(t *transformerOptions)  { t.dropout = float64(o) }

type transformerOptions struct {
	dropout           float64
	feedForward       int
	normFirst, noBias bool
	quiet             bool
	hidden            hiddenScore
	activation        Activation
}

type (
	normFirstOption   struct{}
	quietOption       struct{}
	feedForwardOption int
	minScoreOption    float64
	activationOption  struct{ Activation }
)

// FeedForward sets the number of inner features of the feed-forward network in a transformer layer. The default is
// 2048.
func FeedForward(n int) feedForwardOption { return feedForwardOption(n) }

// MinScore sets the score of keys that a bool mask hides. The default is −∞, with which hidden keys get no
// attention. If all keys of a query are hidden, the result is then NaN, or 0 with [Quiet]. With a finite score,
// such as −1e4, [Softmax] spreads the attention of such a query evenly over its keys.
func MinScore(score float64) minScoreOption { return minScoreOption(score) }

// WithActivation sets the activation of the feed-forward network. The default is [ReLU].
func WithActivation(f Activation) activationOption { return activationOption{f} }

var (
	// NormFirst normalises the inputs of the attention and of the feed-forward network. By default, the sums at the
	// end of the residual connections are normalised.
	NormFirst normFirstOption
	// Quiet makes attention use [QuietSoftmax] instead of [Softmax].
	Quiet quietOption
)

func (normFirstOption) transformer(t *transformerOptions)     { t.normFirst = true }
func (o minScoreOption) attention(t *transformerOptions)      { t.hidden = hiddenScore{float64(o), true} }
func (o minScoreOption) transformer(t *transformerOptions)    { t.hidden = hiddenScore{float64(o), true} }
func (quietOption) attention(t *transformerOptions)           { t.quiet = true }
func (quietOption) transformer(t *transformerOptions)         { t.quiet = true }
func (o feedForwardOption) transformer(t *transformerOptions) { t.feedForward = int(o) }
func (o activationOption) transformer(t *transformerOptions)  { t.activation = o.Activation }

// each returns one number for each of `axes` axes. A list of that length is returned as it is, and a single number
// is repeated. An empty list gives def for each axis. each panics, as [fail] does, if list has another length.
func each(list []int, axes, def int) []int {
	out := make([]int, axes)
	for i := range out {
		switch {
		case len(list) == 0:
			out[i] = def
		case len(list) == 1:
			out[i] = list[0]
		case len(list) == axes:
			out[i] = list[i]
		default:
			fail("%d numbers for %d axes", len(list), axes)
		}
	}
	return out
}
