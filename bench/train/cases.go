package main

import (
	"github.com/burngen/burngen/ir/nn"
)

type kase struct {
	name      string
	signature string   // the type of the loss
	args      []string // Go expressions of the arguments of the loss
	classes   int      // integers among the arguments are below it
	loss      func() (model any, loss func(in []nn.Value) nn.Value)
}

// cases lists the models. torch_side.py has models of the same names.
var cases = []kase{
	{"tiny", "(f32[N,8], i64[N]) -> f32[]", []string{"make([][8]float32, 8)", "make([]int64, 8)"}, 4, func() (any, func([]nn.Value) nn.Value) {
		m := &perceptron{nn.NewLinear(8, 16), nn.NewLinear(16, 16), nn.NewLinear(16, 4)}
		return m, classify(m)
	}},
	{"mlp", "(f32[N,784], i64[N]) -> f32[]", []string{"make([][784]float32, 64)", "make([]int64, 64)"}, 10, func() (any, func([]nn.Value) nn.Value) {
		m := &perceptron{nn.NewLinear(784, 512), nn.NewLinear(512, 512), nn.NewLinear(512, 10)}
		return m, classify(m)
	}},
	{"mnist", "(f32[N,1,28,28], i64[N]) -> f32[]", []string{"make([][1][28][28]float32, 64)", "make([]int64, 64)"}, 10, func() (any, func([]nn.Value) nn.Value) {
		m := &digits{nn.NewConv2d(1, 8, 3), nn.NewConv2d(8, 16, 3), nn.NewLinear(1024, 512), nn.NewLinear(512, 10)}
		return m, classify(m)
	}},
	{"cnn", "(f32[N,1,28,28], i64[N]) -> f32[]", []string{"make([][1][28][28]float32, 64)", "make([]int64, 64)"}, 10, func() (any, func([]nn.Value) nn.Value) {
		m := &pooled{nn.NewConv2d(1, 32, 3), nn.NewConv2d(32, 64, 3), nn.NewLinear(9216, 128), nn.NewLinear(128, 10)}
		return m, classify(m)
	}},
	{"resnet18", "(f32[N,3,64,64], i64[N]) -> f32[]", []string{"make([][3][64][64]float32, 16)", "make([]int64, 16)"}, 1000, func() (any, func([]nn.Value) nn.Value) {
		m := newResNet()
		return m, classify(m)
	}},
	{"transformer", "(f32[N,128,256], i64[N]) -> f32[]", []string{"make([][128][256]float32, 8)", "make([]int64, 8)"}, 10, func() (any, func([]nn.Value) nn.Value) {
		m := &encoder{nn.NewTransformerEncoder(256, 4, 4, nn.DropoutRate(0), nn.FeedForward(1024)), nn.NewLinear(256, 10)}
		return m, classify(m)
	}},
	{"lstm", "(f32[N,50,64], i64[N]) -> f32[]", []string{"make([][50][64]float32, 32)", "make([]int64, 32)"}, 10, func() (any, func([]nn.Value) nn.Value) {
		m := &sequence{nn.NewLSTM(64, 128, nn.BatchFirst), nn.NewLinear(128, 10)}
		return m, classify(m)
	}},
}

func classify(m nn.Layer) func(in []nn.Value) nn.Value {
	return func(in []nn.Value) nn.Value { return nn.CrossEntropy(m.Forward(in[0]), in[1]) }
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
