package nn

// Options of layers are typed: each layer takes those that it has.
type (
	// ConvOption is an option of convolutions: [Stride], [Padding], [Dilation],
	// [Groups], [Kernel], [Same], [PaddingMode], [NoBias], [WeightInit].
	ConvOption interface{ conv(*window) }
	// ConvTransposeOption is an option of transposed convolutions: [Stride],
	// [Padding], [Dilation], [Groups], [Kernel], [OutputPadding], [NoBias],
	// [WeightInit].
	ConvTransposeOption interface{ convTranspose(*window) }
	// PoolOption is an option of pools: [Stride], [Padding], [Dilation] of the greatest,
	// [Kernel], [CeilMode], [NoCountPad] of means.
	PoolOption interface{ pool(*window) }
	// LinearOption is an option of [Linear]: [NoBias], [WeightInit].
	LinearOption interface{ linear(*window) }
	// EmbeddingOption is an option of [Embedding]: [WeightInit].
	EmbeddingOption interface{ embedding(*window) }
	// NormOption is an option of normalisations: [Epsilon], [Momentum] of batches,
	// [NoAffine], [NoBias].
	NormOption interface{ norm(*normOptions) }
	// RecurrentOption is an option of recurrent layers: [Layers], [Bidirectional],
	// [Reversed], [BatchFirst], [NoBias], [DropoutRate], [GateClip], [Nonlinearity] of
	// [RNN], [InputForget] of [LSTM], [ResetBefore] of [GRU].
	RecurrentOption interface{ recurrent(*recurrentOptions) }
	// AttentionOption is an option of [MultiHeadAttention] and [CrossAttention]:
	// [DropoutRate], [NoBias], [Quiet].
	AttentionOption interface{ attention(*transformerOptions) }
	// TransformerOption is an option of transformers: [DropoutRate], [NormFirst],
	// [WithActivation], [FeedForward], [Quiet].
	TransformerOption interface{ transformer(*transformerOptions) }
)

// window is how a convolution, a pool or a linear layer is made.
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

// Stride is how many cells lie from a window to the next, one number or one for each
// axis.
func Stride(n ...int) strideOption { return n }

// Padding is how many cells of padding lie before the first and after the last, one
// number or one for each axis.
func Padding(n ...int) paddingOption { return n }

// Dilation is how many cells lie from a cell of a window to the next, one number or one
// for each axis.
func Dilation(n ...int) dilationOption { return n }

// Kernel is how many cells a window has along each axis, where they differ.
func Kernel(n ...int) kernelOption { return n }

// OutputPadding is how many cells a transposed convolution adds after the last, one
// number or one for each axis.
func OutputPadding(n ...int) outPaddingOption { return n }

// Groups splits the channels of a convolution: each group has its own weights.
func Groups(n int) groupsOption { return groupsOption(n) }

// PaddingMode is what the padding of a convolution is: "zeros", "reflect", "edge" or
// "circular".
func PaddingMode(mode string) modeOption { return modeOption(mode) }

// WeightInit says how a layer's weight begins.
func WeightInit(init Init) initOption { return initOption{init} }

var (
	// Same pads a convolution so that the result has ⌈extent/stride⌉ places, an odd cell
	// of it after the last.
	Same sameOption
	// CeilMode lets the last window of a pool reach beyond the padding.
	CeilMode ceilOption
	// NoCountPad leaves the padding out of means.
	NoCountPad countOption
	// NoBias leaves the bias out.
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

// Epsilon is added to variances, 1e-5 unless it is given.
func Epsilon(e float64) epsilonOption { return epsilonOption(e) }

// Momentum is the weight of a batch in running statistics, 0.1 unless it is given.
func Momentum(m float64) momentumOption { return momentumOption(m) }

// NoAffine leaves the weight and the bias of a normalisation out.
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

// Layers is the number of recurrent layers, each fed by the one before.
func Layers(n int) layersOption { return layersOption(n) }

// Nonlinearity is the function of an [RNN]: "tanh" or "relu".
func Nonlinearity(name string) nonlinearityOption { return nonlinearityOption(name) }

// DropoutRate is the share of elements that are dropped in training: between recurrent
// layers (0 unless it is given), and in transformers (0.1).
func DropoutRate(rate float64) dropoutOption { return dropoutOption(rate) }

// GateClip limits what the functions of a recurrent layer's gates take to −x…x.
func GateClip(x float64) clipOption { return clipOption(x) }

var (
	// Bidirectional runs a recurrent layer in both directions.
	Bidirectional bidirectionalOption
	// Reversed runs a recurrent layer from the last step to the first.
	Reversed reversedOption
	// InputForget makes the forget gate of an [LSTM] 1 less its input gate.
	InputForget inputForgetOption
	// ResetBefore makes the reset gate of a [GRU] multiply the hidden state before its
	// product with the weights, and not the product.
	ResetBefore resetBeforeOption
	// BatchFirst makes the batch the first axis of what a recurrent layer takes and
	// gives, and the sequence the second.
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
	activation        Activation
}

type (
	normFirstOption   struct{}
	quietOption       struct{}
	feedForwardOption int
	activationOption  struct{ Activation }
)

// FeedForward is the number of features between the two linear layers of a transformer
// layer, 2048 unless it is given.
func FeedForward(n int) feedForwardOption { return feedForwardOption(n) }

// WithActivation is the function between them, [ReLU] unless it is given.
func WithActivation(f Activation) activationOption { return activationOption{f} }

var (
	// NormFirst normalises what the parts of a transformer layer take, and not what they
	// give.
	NormFirst normFirstOption
	// Quiet attends by [QuietSoftmax].
	Quiet quietOption
)

func (normFirstOption) transformer(t *transformerOptions)     { t.normFirst = true }
func (quietOption) attention(t *transformerOptions)           { t.quiet = true }
func (quietOption) transformer(t *transformerOptions)         { t.quiet = true }
func (o feedForwardOption) transformer(t *transformerOptions) { t.feedForward = int(o) }
func (o activationOption) transformer(t *transformerOptions)  { t.activation = o.Activation }

// each returns one number for each of so many axes.
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
