package nn_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir/nn"
)

// whole are models of several kinds, each with a loss.
var whole = map[string]func(r *nn.Recorder){
	"language model": func(r *nn.Recorder) {
		m := newDecoderOnly(16, 8, 2)
		r.Model(m)
		r.Method(method("Forward", "(i64[N,S]) -> f32[N,S,16]", "tokens", "logits"), just(m.forward))
		r.Method(method("Loss", "(i64[N,S], i64[N,S]) -> f32[]", "tokens target", "loss"), func(in []nn.Value) []nn.Value {
			return []nn.Value{nn.CrossEntropy(m.forward(in[0]).Transpose(1, 2), in[1])}
		})
	},
	"text classifier": func(r *nn.Recorder) {
		m := &struct {
			Embed   nn.Embedding
			Encoder nn.TransformerEncoder
			Head    nn.Linear
		}{nn.NewEmbedding(20, 8), nn.NewTransformerEncoder(8, 2, 2, nn.FeedForward(16), nn.NormFirst), nn.NewLinear(8, 3)}
		positions := nn.NewPositionalEncoding(8, 32)
		f := func(tokens nn.Value) nn.Value {
			x := positions.Forward(m.Embed.Forward(tokens))
			x = m.Encoder.Forward(x, nn.PaddingMask(tokens, 0))
			return m.Head.Forward(x.MeanSqueezed(1))
		}
		r.Model(m)
		r.Method(method("Forward", "(i64[N,12]) -> f32[N,3]", "tokens", "logits"), just(f))
		r.Method(method("Loss", "(i64[N,12], i64[N]) -> f32[]", "tokens target", "loss"), func(in []nn.Value) []nn.Value {
			return []nn.Value{nn.CrossEntropy(f(in[0]), in[1], nn.LabelSmoothing(0.1))}
		})
	},
	"recurrent": func(r *nn.Recorder) {
		m := &struct {
			Embed nn.Embedding
			LSTM  nn.LSTM
			Head  nn.Linear
		}{nn.NewEmbedding(10, 4), nn.NewLSTM(4, 6, nn.BatchFirst, nn.Bidirectional, nn.Layers(2), nn.DropoutRate(0.1)), nn.NewLinear(12, 2)}
		f := func(tokens nn.Value) nn.Value {
			y, _, _ := m.LSTM.Forward(m.Embed.Forward(tokens), nn.Value{}, nn.Value{})
			return m.Head.Forward(y.SelectDim(1, -1))
		}
		r.Model(m)
		r.Method(method("Forward", "(i64[N,7]) -> f32[N,2]", "tokens", "logits"), just(f))
		r.Method(method("Loss", "(i64[N,7], i64[N]) -> f32[]", "tokens target", "loss"), func(in []nn.Value) []nn.Value {
			return []nn.Value{nn.CrossEntropy(f(in[0]), in[1])}
		})
	},
	"segmentation": func(r *nn.Recorder) {
		m := &struct {
			Down, Middle nn.Conv2d
			Norm         nn.GroupNorm
			Batch        nn.BatchNorm
			Up           nn.ConvTranspose2d
			Out          nn.Conv2d
		}{nn.NewConv2d(3, 8, 3, nn.Stride(2), nn.Padding(1)), nn.NewConv2d(8, 8, 3, nn.Same), nn.NewGroupNorm(2, 8), nn.NewBatchNorm(8),
			nn.NewConvTranspose2d(8, 4, 2, nn.Stride(2)), nn.NewConv2d(7, 2, 1)}
		f := func(x nn.Value) nn.Value {
			h := nn.ReLU(m.Norm.Forward(m.Down.Forward(x)))
			h = nn.MaxPool2d(nn.SiLU(m.Batch.Forward(m.Middle.Forward(h))), 2)
			h = nn.Interpolate(h, "bilinear", false, 8, 8)
			return m.Out.Forward(nn.Concat(1, m.Up.Forward(h), x))
		}
		r.Model(m)
		r.Method(method("Forward", "(f32[N,3,16,16]) -> f32[N,2,16,16]", "image", "logits"), just(f))
		r.Method(method("Loss", "(f32[N,3,16,16], i64[N,16,16]) -> f32[]", "image target", "loss"), func(in []nn.Value) []nn.Value {
			return []nn.Value{nn.CrossEntropy(f(in[0]), in[1], nn.IgnoreIndex(-1))}
		})
	},
	"adversaries": func(r *nn.Recorder) {
		m := &struct{ Gen, Disc nn.Sequential }{
			nn.Sequential{nn.NewLinear(4, 8), nn.Activation(nn.ReLU), nn.NewLinear(8, 6)},
			nn.Sequential{nn.NewLinear(6, 8), nn.Activation(nn.GELU), nn.NewLinear(8, 1)},
		}
		r.Model(m)
		noise := func(x nn.Value) nn.Value { return m.Gen.Forward(nn.Normal(0, 1, x.Dim(0), 4)) }
		r.Method(method("Forward", "(f32[N,4]) -> f32[N,6]", "noise", "made"), just(m.Gen.Forward))
		r.Method(method("GenLoss", "(f32[N,6]) -> f32[]", "real", "loss"), just(func(x nn.Value) nn.Value {
			y := nn.Detached(m.Disc).Forward(noise(x))
			return nn.BCEWithLogits(y, nn.OnesLike(y))
		}))
		r.Method(method("DiscLoss", "(f32[N,6]) -> f32[]", "real", "loss"), just(func(x nn.Value) nn.Value {
			real, fake := m.Disc.Forward(x), m.Disc.Forward(noise(x).Detach())
			return nn.BCEWithLogits(real, nn.OnesLike(real)).Add(nn.BCEWithLogits(fake, nn.ZerosLike(fake)))
		}))
	},
	"speech": func(r *nn.Recorder) {
		m := &struct {
			Conv nn.Conv1d
			GRU  nn.GRU
			Head nn.Linear
		}{nn.NewConv1d(8, 6, 3, nn.Stride(2)), nn.NewGRU(6, 5), nn.NewLinear(5, 4)}
		f := func(x nn.Value) nn.Value {
			h, _ := m.GRU.Forward(nn.ReLU(m.Conv.Forward(x)).Permute(2, 0, 1), nn.Value{})
			return nn.LogSoftmax(m.Head.Forward(h), 2)
		}
		r.Model(m)
		r.Method(method("Forward", "(f32[N,8,21]) -> f32[10,N,4]", "sound", "probabilities"), just(f))
		r.Method(method("Loss", "(f32[N,8,21], i64[N,3], i64[N]) -> f32[]", "sound target lengths", "loss"), func(in []nn.Value) []nn.Value {
			return []nn.Value{nn.CTC(f(in[0]), in[1], in[2], 0)}
		})
	},
}

// decoderOnly is a transformer with shared embeddings.
type decoderOnly struct {
	Embed  nn.Embedding
	Layers []decoderBlock
	Norm   nn.RMSNorm
	Head   nn.Linear
}

type decoderBlock struct {
	Attn         nn.CrossAttention
	Gate         nn.SwiGLU
	Down         nn.Linear
	Norm1, Norm2 nn.RMSNorm
}

func newDecoderOnly(vocabulary, width, layers int) *decoderOnly {
	m := &decoderOnly{Embed: nn.NewEmbedding(vocabulary, width), Norm: nn.NewRMSNorm(width), Head: nn.NewLinear(width, vocabulary, nn.NoBias)}
	m.Head.Weight = m.Embed.Weight.Tied()
	for range layers {
		m.Layers = append(m.Layers, decoderBlock{
			nn.NewCrossAttention(width, 4, 2, nn.DropoutRate(0.1)), nn.NewSwiGLU(width, 2*width), nn.NewLinear(2*width, width), nn.NewRMSNorm(width), nn.NewRMSNorm(width),
		})
	}
	return m
}

func (m *decoderOnly) forward(tokens nn.Value) nn.Value {
	x := m.Embed.Forward(tokens)
	for _, b := range m.Layers {
		h := b.Norm1.Forward(x)
		x = x.Add(b.Attn.Forward(h, h, nn.CausalMask(h.Dim(1))))
		x = x.Add(b.Down.Forward(b.Gate.Forward(b.Norm2.Forward(x))))
	}
	return m.Head.Forward(m.Norm.Forward(x))
}

// TestWholeModels generates programs that train the models.
func TestWholeModels(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, describe := range whole {
		t.Run(name, func(t *testing.T) {
			r, err := nn.Record(describe)
			if err != nil {
				t.Fatal(err)
			}
			src, err := gen.FromRecord("net", "model.go", strings.Repeat("0", 64), nil, r)
			if err != nil {
				t.Fatal(err)
			}
			model, err := gen.CompileSource(src, gen.Options{Train: true, Package: "model"})
			if err != nil {
				t.Fatal(err)
			}
			files, err := model.Files()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if f.Name == "weights.go" && !strings.Contains(string(f.Data), "func New(seed uint64) *Model") {
					t.Error("the program does not begin with weights of a seed")
				}
			}
		})
	}
}
