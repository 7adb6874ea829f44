package main

import (
	"github.com/burngen/burngen/ir/nn"
)

type kase struct {
	name      string
	signature string   // the type of the loss
	args      []string // Go expressions of the arguments of the loss
	classes   int      // integers among the arguments are below it
	dropout   float64  // the rate that the model is timed with
	loss      func(dropout float64) (model any, loss func(in []nn.Value) nn.Value)
}

// cases lists the models. torch_side.py has models of the same names.
var cases = []kase{
	{"tiny", "(f32[N,8], i64[N]) -> f32[]", []string{"make([][8]float32, 8)", "make([]int64, 8)"}, 4, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &perceptron{nn.NewLinear(8, 16), nn.NewLinear(16, 16), nn.NewLinear(16, 4)}
		return m, classify(m)
	}},
	{"mlp", "(f32[N,784], i64[N]) -> f32[]", []string{"make([][784]float32, 64)", "make([]int64, 64)"}, 10, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &perceptron{nn.NewLinear(784, 512), nn.NewLinear(512, 512), nn.NewLinear(512, 10)}
		return m, classify(m)
	}},
	{"mnist", "(f32[N,1,28,28], i64[N]) -> f32[]", []string{"make([][1][28][28]float32, 64)", "make([]int64, 64)"}, 10, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &digits{nn.NewConv2d(1, 8, 3), nn.NewConv2d(8, 16, 3), nn.NewLinear(1024, 512), nn.NewLinear(512, 10)}
		return m, classify(m)
	}},
	{"cnn", "(f32[N,1,28,28], i64[N]) -> f32[]", []string{"make([][1][28][28]float32, 64)", "make([]int64, 64)"}, 10, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &pooled{nn.NewConv2d(1, 32, 3), nn.NewConv2d(32, 64, 3), nn.NewLinear(9216, 128), nn.NewLinear(128, 10)}
		return m, classify(m)
	}},
	{"resnet18", "(f32[N,3,64,64], i64[N]) -> f32[]", []string{"make([][3][64][64]float32, 16)", "make([]int64, 16)"}, 1000, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := newResNet()
		return m, classify(m)
	}},
	{"transformer", "(f32[N,128,256], i64[N]) -> f32[]", []string{"make([][128][256]float32, 8)", "make([]int64, 8)"}, 10, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &encoder{nn.NewTransformerEncoder(256, 4, 4, nn.DropoutRate(0), nn.FeedForward(1024)), nn.NewLinear(256, 10)}
		return m, classify(m)
	}},
	{"lstm", "(f32[N,50,64], i64[N]) -> f32[]", []string{"make([][50][64]float32, 32)", "make([]int64, 32)"}, 10, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &sequence{nn.NewLSTM(64, 128, nn.BatchFirst), nn.NewLinear(128, 10)}
		return m, classify(m)
	}},
	{"gru", "(f32[N,50,64], i64[N,50]) -> f32[]", []string{"make([][50][64]float32, 32)", "make([][50]int64, 32)"}, 20, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := &tagger{nn.NewGRU(64, 128, nn.BatchFirst), nn.NewLinear(128, 20)}
		return m, label(m)
	}},
	{"unet", "(f32[N,3,64,64], i64[N,64,64]) -> f32[]", []string{"make([][3][64][64]float32, 8)", "make([][64][64]int64, 8)"}, 4, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := newUNet()
		return m, classify(m)
	}},
	{"vit", "(f32[N,3,64,64], i64[N]) -> f32[]", []string{"make([][3][64][64]float32, 8)", "make([]int64, 8)"}, 10, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := newVisionTransformer()
		return m, classify(m)
	}},
	{"gpt", "(f32[N,128,256], i64[N,128]) -> f32[]", []string{"make([][128][256]float32, 8)", "make([][128]int64, 8)"}, 512, .1, func(dropout float64) (any, func([]nn.Value) nn.Value) {
		m := newDecoder(dropout)
		return m, label(m)
	}},
	{"gan", "(f32[N,1,28,28], f32[N,64]) -> f32[]", []string{"make([][1][28][28]float32, 32)", "make([][64]float32, 32)"}, 1, 0, func(float64) (any, func([]nn.Value) nn.Value) {
		m := newGAN()
		return m, m.loss
	}},
}

func classify(m nn.Layer) func(in []nn.Value) nn.Value {
	return func(in []nn.Value) nn.Value { return nn.CrossEntropy(m.Forward(in[0]), in[1]) }
}

// label is like [classify], for a model that returns logits for each position of a sequence.
func label(m nn.Layer) func(in []nn.Value) nn.Value {
	return func(in []nn.Value) nn.Value {
		return nn.CrossEntropy(m.Forward(in[0]).Flatten(0, 1), in[1].Flatten(0, 1))
	}
}

type perceptron struct{ FC1, FC2, FC3 nn.Linear }

func (m *perceptron) Forward(x nn.Value) nn.Value {
	return m.FC3.Forward(nn.ReLU(m.FC2.Forward(nn.ReLU(m.FC1.Forward(x)))))
}

// digits is the network of Burn's guide without its dropout.
type digits struct {
	Conv1, Conv2 nn.Conv2d
	FC1, FC2     nn.Linear
}

func (m *digits) Forward(x nn.Value) nn.Value {
	x = nn.ReLU(m.Conv2.Forward(m.Conv1.Forward(x)))
	x = nn.AdaptiveAvgPool2d(x, 8, 8).Flatten(1, -1)
	return m.FC2.Forward(nn.ReLU(m.FC1.Forward(x)))
}

// pooled is the network of PyTorch's example mnist without its dropout.
type pooled struct {
	Conv1, Conv2 nn.Conv2d
	FC1, FC2     nn.Linear
}

func (m *pooled) Forward(x nn.Value) nn.Value {
	x = nn.ReLU(m.Conv2.Forward(nn.ReLU(m.Conv1.Forward(x))))
	return m.FC2.Forward(nn.ReLU(m.FC1.Forward(nn.MaxPool2d(x, 2).Flatten(1, -1))))
}

type residual struct {
	Conv1      nn.Conv2d
	BN1        nn.BatchNorm
	Conv2      nn.Conv2d
	BN2        nn.BatchNorm
	Downsample nn.Sequential
}

func newResidual(in, out, stride int) residual {
	r := residual{
		Conv1: nn.NewConv2d(in, out, 3, nn.Stride(stride), nn.Padding(1), nn.NoBias), BN1: nn.NewBatchNorm(out),
		Conv2: nn.NewConv2d(out, out, 3, nn.Padding(1), nn.NoBias), BN2: nn.NewBatchNorm(out),
	}
	if stride != 1 || in != out {
		r.Downsample = nn.Sequential{nn.NewConv2d(in, out, 1, nn.Stride(stride), nn.NoBias), nn.NewBatchNorm(out)}
	}
	return r
}

func (r residual) Forward(x nn.Value) nn.Value {
	y := r.BN2.Forward(r.Conv2.Forward(nn.ReLU(r.BN1.Forward(r.Conv1.Forward(x)))))
	if r.Downsample != nil {
		x = r.Downsample.Forward(x)
	}
	return nn.ReLU(y.Add(x))
}

type resNet struct {
	Conv1  nn.Conv2d
	BN1    nn.BatchNorm
	Layers []residual
	FC     nn.Linear
}

func newResNet() *resNet {
	m := &resNet{Conv1: nn.NewConv2d(3, 64, 7, nn.Stride(2), nn.Padding(3), nn.NoBias), BN1: nn.NewBatchNorm(64), FC: nn.NewLinear(512, 1000)}
	in := 64
	for i, out := range []int{64, 128, 256, 512} {
		m.Layers = append(m.Layers, newResidual(in, out, min(i+1, 2)), newResidual(out, out, 1))
		in = out
	}
	return m
}

func (m *resNet) Forward(x nn.Value) nn.Value {
	x = nn.MaxPool2d(nn.ReLU(m.BN1.Forward(m.Conv1.Forward(x))), 3, nn.Stride(2), nn.Padding(1))
	for _, l := range m.Layers {
		x = l.Forward(x)
	}
	return m.FC.Forward(nn.GlobalAvgPool(x).Flatten(1, -1))
}

type encoder struct {
	Encoder nn.TransformerEncoder
	FC      nn.Linear
}

func (m *encoder) Forward(x nn.Value) nn.Value {
	return m.FC.Forward(m.Encoder.Forward(x, nn.Value{}).Mean(1).Squeeze(1))
}

type sequence struct {
	LSTM nn.LSTM
	FC   nn.Linear
}

func (m *sequence) Forward(x nn.Value) nn.Value {
	y, _, _ := m.LSTM.Forward(x, nn.Value{}, nn.Value{})
	return m.FC.Forward(y.Mean(1).Squeeze(1))
}

type tagger struct {
	GRU nn.GRU
	FC  nn.Linear
}

func (m *tagger) Forward(x nn.Value) nn.Value {
	y, _ := m.GRU.Forward(x, nn.Value{})
	return m.FC.Forward(y)
}

// stage is two convolutions of a U-Net.
type stage struct {
	Conv1, Conv2 nn.Conv2d
	BN1, BN2     nn.BatchNorm
}

func newStage(in, out int) stage {
	return stage{
		nn.NewConv2d(in, out, 3, nn.Padding(1), nn.NoBias), nn.NewConv2d(out, out, 3, nn.Padding(1), nn.NoBias),
		nn.NewBatchNorm(out), nn.NewBatchNorm(out),
	}
}

func (s stage) Forward(x nn.Value) nn.Value {
	x = nn.ReLU(s.BN1.Forward(s.Conv1.Forward(x)))
	return nn.ReLU(s.BN2.Forward(s.Conv2.Forward(x)))
}

type uNet struct {
	Down   []stage
	Bottom stage
	Grow   []nn.ConvTranspose2d
	Up     []stage
	Head   nn.Conv2d
}

func newUNet() *uNet {
	m := &uNet{Bottom: newStage(32, 64), Head: nn.NewConv2d(16, 4, 1)}
	for _, c := range [][2]int{{3, 16}, {16, 32}} {
		m.Down = append(m.Down, newStage(c[0], c[1]))
	}
	for _, c := range []int{32, 16} {
		m.Grow = append(m.Grow, nn.NewConvTranspose2d(2*c, c, 2, nn.Stride(2)))
		m.Up = append(m.Up, newStage(2*c, c))
	}
	return m
}

func (m *uNet) Forward(x nn.Value) nn.Value {
	var skips []nn.Value
	for _, s := range m.Down {
		x = s.Forward(x)
		skips = append(skips, x)
		x = nn.MaxPool2d(x, 2)
	}
	x = m.Bottom.Forward(x)
	for i, s := range m.Up {
		x = s.Forward(nn.Concat(1, skips[len(skips)-1-i], m.Grow[i].Forward(x)))
	}
	return m.Head.Forward(x)
}

type visionTransformer struct {
	Patches  nn.Conv2d
	Position nn.Param
	Encoder  nn.TransformerEncoder
	Norm     nn.LayerNorm
	FC       nn.Linear
}

func newVisionTransformer() *visionTransformer {
	return &visionTransformer{
		Patches: nn.NewConv2d(3, 192, 8, nn.Stride(8)), Position: nn.NewParam(nn.NormalInit(0, .02), 64, 192),
		Encoder: nn.NewTransformerEncoder(192, 3, 4, nn.DropoutRate(0), nn.FeedForward(768), nn.NormFirst, nn.WithActivation(nn.GELU)),
		Norm:    nn.NewLayerNorm(192), FC: nn.NewLinear(192, 10),
	}
}

func (m *visionTransformer) Forward(x nn.Value) nn.Value {
	x = m.Patches.Forward(x).Flatten(2, -1).Transpose(1, 2).Add(m.Position.Value())
	return m.FC.Forward(m.Norm.Forward(m.Encoder.Forward(x, nn.Value{})).Mean(1).Squeeze(1))
}

// decoder is two blocks of a GPT, which take embeddings.
type decoder struct {
	Encoder nn.TransformerEncoder
	Norm    nn.LayerNorm
	FC      nn.Linear
}

func newDecoder(dropout float64) *decoder {
	return &decoder{
		nn.NewTransformerEncoder(256, 4, 2, nn.DropoutRate(dropout), nn.FeedForward(1024), nn.NormFirst, nn.WithActivation(nn.GELU)),
		nn.NewLayerNorm(256), nn.NewLinear(256, 512),
	}
}

func (m *decoder) Forward(x nn.Value) nn.Value {
	return m.FC.Forward(m.Norm.Forward(m.Encoder.Forward(x, nn.CausalMask(128))))
}

type generator struct {
	FC           nn.Linear
	Grow1, Grow2 nn.ConvTranspose2d
	BN1, BN2     nn.BatchNorm
}

func (g generator) Forward(z nn.Value) nn.Value {
	x := nn.ReLU(g.BN1.Forward(g.FC.Forward(z).Unflatten(1, 64, 7, 7)))
	x = nn.ReLU(g.BN2.Forward(g.Grow1.Forward(x)))
	return nn.Tanh(g.Grow2.Forward(x))
}

type discriminator struct {
	Conv1, Conv2 nn.Conv2d
	FC           nn.Linear
}

func (d discriminator) Forward(x nn.Value) nn.Value {
	x = nn.LeakyReLU(d.Conv2.Forward(nn.LeakyReLU(d.Conv1.Forward(x), .2)), .2)
	return d.FC.Forward(x.Flatten(1, -1)).Squeeze(1)
}

// detached returns d with weights that get no gradient.
func (d discriminator) detached() discriminator {
	for _, p := range []*nn.Param{&d.Conv1.Weight, &d.Conv1.Bias, &d.Conv2.Weight, &d.Conv2.Bias, &d.FC.Weight, &d.FC.Bias} {
		*p = p.Detached()
	}
	return d
}

type gan struct {
	G generator
	D discriminator
}

func newGAN() *gan {
	grow1 := nn.NewConvTranspose2d(64, 32, 4, nn.Stride(2), nn.Padding(1), nn.NoBias)
	grow2 := nn.NewConvTranspose2d(32, 1, 4, nn.Stride(2), nn.Padding(1))
	shrink := func(in, out int) nn.Conv2d { return nn.NewConv2d(in, out, 4, nn.Stride(2), nn.Padding(1)) }
	return &gan{
		generator{nn.NewLinear(64, 64*7*7), grow1, grow2, nn.NewBatchNorm(64), nn.NewBatchNorm(32)},
		discriminator{shrink(1, 32), shrink(32, 64), nn.NewLinear(64*7*7, 1)},
	}
}

// loss returns the sum of the losses of both networks. The gradient of each network depends on its own loss only.
func (m *gan) loss(in []nn.Value) nn.Value {
	real, noise := in[0], in[1]
	made := m.G.Forward(noise)
	bce := func(x nn.Value, target float64) nn.Value { return nn.BCEWithLogits(x, nn.FullLike(x, target)) }
	d := bce(m.D.Forward(real), 1).Add(bce(m.D.Forward(made.Detach()), 0))
	return d.Add(bce(m.D.detached().Forward(made), 1))
}
