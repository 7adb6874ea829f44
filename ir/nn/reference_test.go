package nn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/nn"
)

// reference is a case of testdata/references.json, which PyTorch computed.
type reference struct {
	Name    string
	Inputs  []elements
	Outputs []elements
	State   map[string]elements
	Grads   map[string]elements
	// After are the buffers after a step, of a reference that trains.
	After map[string]elements
}

type elements struct {
	Type  string
	Shape []int
	Data  []any
}

func (e elements) floats() []float64 {
	out := make([]float64, len(e.Data))
	for i, x := range e.Data {
		switch x := x.(type) {
		case float64:
			out[i] = x
		case string:
			out[i], _ = strconv.ParseFloat(x, 64)
		}
	}
	return out
}

func (e elements) value() nn.Value {
	v := nn.Of(e.floats(), append([]int{}, e.Shape...)...)
	if len(e.Shape) == 0 {
		v = v.Reshape()
	}
	d, err := ir.ParseDType(e.Type)
	if err != nil {
		panic(err)
	}
	return v.Cast(d)
}

func references(t *testing.T) []reference {
	t.Helper()
	text, err := os.ReadFile("testdata/references.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []reference
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// trial is what nn has for a reference: a module, which may be nil, and a function.
type trial struct {
	module any
	f      func(x []nn.Value) []nn.Value
}

func unary(f func(nn.Value) nn.Value) trial {
	return trial{nil, func(x []nn.Value) []nn.Value { return []nn.Value{f(x[0])} }}
}

func binary(f func(nn.Value, nn.Operand) nn.Value) trial {
	return trial{nil, func(x []nn.Value) []nn.Value { return []nn.Value{f(x[0], x[1])} }}
}

func pairs(f func(a, b nn.Value) nn.Value) trial {
	return trial{nil, func(x []nn.Value) []nn.Value { return []nn.Value{f(x[0], x[1])} }}
}

func triples(f func(a, b, c nn.Value) nn.Value) trial {
	return trial{nil, func(x []nn.Value) []nn.Value { return []nn.Value{f(x[0], x[1], x[2])} }}
}

func layer[L nn.Layer](l L) trial {
	return trial{l, func(x []nn.Value) []nn.Value { return []nn.Value{l.Forward(x[0])} }}
}

func with(module any, f func(x []nn.Value) []nn.Value) trial { return trial{module, f} }

// loss returns a loss of two operands and its options.
func loss(f func(a, b nn.Value, o ...nn.LossOption) nn.Value, o ...nn.LossOption) trial {
	return pairs(func(a, b nn.Value) nn.Value { return f(a, b, o...) })
}

var none nn.Value

// signs returns the targets of losses that want 1 or −1, for each of three rows.
func signs() nn.Value { return nn.Of([]float64{1, -1, -1}) }

func trials() map[string]trial {
	weights := nn.Of([]float64{0.5, 1, 2, 1.5})
	rnn := nn.NewRNN(3, 4)
	rnnReLU := nn.NewRNN(3, 4, nn.Nonlinearity("relu"), nn.BatchFirst, nn.Bidirectional)
	lstm := nn.NewLSTM(3, 4, nn.Layers(2))
	lstmBoth := nn.NewLSTM(3, 4, nn.BatchFirst, nn.Bidirectional, nn.NoBias)
	gru := nn.NewGRU(3, 4, nn.Layers(2), nn.Bidirectional)
	mha, masked := nn.NewMultiHeadAttention(8, 2, nn.DropoutRate(0)), nn.NewMultiHeadAttention(8, 2, nn.DropoutRate(0))
	encoder := nn.NewTransformerEncoder(8, 2, 2, nn.DropoutRate(0), nn.FeedForward(16))
	first := nn.NewTransformerEncoderLayer(8, 2, nn.DropoutRate(0), nn.FeedForward(16), nn.NormFirst, nn.WithActivation(nn.GELU))
	decoder := nn.NewTransformerDecoder(8, 2, 2, nn.DropoutRate(0), nn.FeedForward(16))
	cross := nn.NewCrossAttention(8, 4, 2, nn.DropoutRate(0))
	embedding := nn.NewEmbedding(7, 3)
	at := func(f func(nn.Value, int) nn.Value, axis int) trial {
		return unary(func(x nn.Value) nn.Value { return f(x, axis) })
	}
	over := func(f func(nn.Value, ...int) nn.Value, axes ...int) trial {
		return unary(func(x nn.Value) nn.Value { return f(x, axes...) })
	}
	return map[string]trial{
		"Add": binary(nn.Value.Add), "Sub": binary(nn.Value.Sub), "Mul": binary(nn.Value.Mul), "Div": binary(nn.Value.Div),
		"Rem": binary(nn.Value.Rem), "Fmod": binary(nn.Value.Fmod), "Maximum": binary(nn.Value.Maximum), "Minimum": binary(nn.Value.Minimum),
		"Atan2": binary(nn.Value.Atan2), "Hypot": binary(nn.Value.Hypot),
		"Greater": binary(nn.Value.Greater), "GreaterEqual": binary(nn.Value.GreaterEqual), "Less": binary(nn.Value.Less),
		"LessEqual": binary(nn.Value.LessEqual), "Equal": binary(nn.Value.Equal), "NotEqual": binary(nn.Value.NotEqual),
		"IntAdd": binary(nn.Value.Add), "IntDiv": binary(nn.Value.Div), "IntRem": binary(nn.Value.Rem), "IntFmod": binary(nn.Value.Fmod), "IntPow": binary(nn.Value.Pow),
		"BitAnd": binary(nn.Value.BitAnd), "BitOr": binary(nn.Value.BitOr), "BitXor": binary(nn.Value.BitXor), "ShiftLeft": binary(nn.Value.ShiftLeft),
		"And": binary(nn.Value.And), "Or": binary(nn.Value.Or), "Xor": binary(nn.Value.Xor),

		"Neg": unary(nn.Value.Neg), "Abs": unary(nn.Value.Abs), "Sign": unary(nn.Value.Sign), "Square": unary(nn.Value.Square), "Recip": unary(nn.Value.Recip),
		"Exp": unary(nn.Value.Exp), "Expm1": unary(nn.Value.Expm1), "Erf": unary(nn.Value.Erf), "Sin": unary(nn.Value.Sin), "Cos": unary(nn.Value.Cos), "Tan": unary(nn.Value.Tan),
		"Asin": unary(nn.Value.Asin), "Acos": unary(nn.Value.Acos), "Atan": unary(nn.Value.Atan), "Sinh": unary(nn.Value.Sinh), "Cosh": unary(nn.Value.Cosh), "Tanh": unary(nn.Tanh),
		"Asinh": unary(nn.Value.Asinh), "Acosh": unary(func(x nn.Value) nn.Value { return x.Add(1.5).Acosh() }), "Atanh": unary(nn.Value.Atanh),
		"Floor": unary(nn.Value.Floor), "Ceil": unary(nn.Value.Ceil), "Round": unary(nn.Value.Round), "Trunc": unary(nn.Value.Trunc),
		"Sqrt": unary(nn.Value.Sqrt), "Rsqrt": unary(nn.Value.Rsqrt), "Log": unary(nn.Value.Log), "Log1p": unary(nn.Value.Log1p), "Log2": unary(nn.Value.Log2), "Log10": unary(nn.Value.Log10),
		"Pow": unary(func(x nn.Value) nn.Value { return x.Pow(2.5) }), "Deg2Rad": unary(nn.Value.Deg2Rad),
		"Clamp": unary(func(x nn.Value) nn.Value { return x.Clamp(-0.5, 0.5) }), "Int": unary(func(x nn.Value) nn.Value { return x.Mul(3).Int() }),
		"IsFinite": unary(func(x nn.Value) nn.Value { return x.Div(x.Round()).IsFinite() }),

		"ReLU": unary(nn.ReLU), "ReLU6": unary(nn.ReLU6), "GELU": unary(nn.GELU), "GELUTanh": unary(nn.GELUTanh), "Sigmoid": unary(nn.Sigmoid), "LogSigmoid": unary(nn.LogSigmoid),
		"SiLU": unary(nn.SiLU), "Mish": unary(nn.Mish), "SELU": unary(nn.SELU), "Softsign": unary(nn.Softsign), "HardSigmoid": unary(nn.HardSigmoid), "HardSwish": unary(nn.HardSwish), "TanhShrink": unary(nn.TanhShrink),
		"LeakyReLU":  unary(func(x nn.Value) nn.Value { return nn.LeakyReLU(x, 0.1) }),
		"ELU":        unary(func(x nn.Value) nn.Value { return nn.ELU(x, 0.7) }),
		"CELU":       unary(func(x nn.Value) nn.Value { return nn.CELU(x, 0.7) }),
		"Softplus":   unary(func(x nn.Value) nn.Value { return nn.Softplus(x, 2) }),
		"HardTanh":   unary(func(x nn.Value) nn.Value { return nn.HardTanh(x, -0.5, 0.7) }),
		"HardShrink": unary(func(x nn.Value) nn.Value { return nn.HardShrink(x, 0.5) }),
		"SoftShrink": unary(func(x nn.Value) nn.Value { return nn.SoftShrink(x, 0.5) }),
		"Threshold":  unary(func(x nn.Value) nn.Value { return nn.Threshold(x, 0.1, 20) }),
		"RReLU":      unary(func(x nn.Value) nn.Value { return nn.RReLU(x, 0.1, 0.3) }),
		"GLU":        at(nn.GLU, -1), "Softmax": at(nn.Softmax, 1), "LogSoftmax": at(nn.LogSoftmax, -1), "Softmin": at(nn.Softmin, 2),

		"Sum": over(nn.Value.Sum), "SumDim": over(nn.Value.Sum, 1), "Mean": over(nn.Value.Mean), "MeanDim": over(nn.Value.Mean, 2, 0), "Prod": over(nn.Value.Prod, 2),
		"Max": over(nn.Value.Max, 1), "Min": over(nn.Value.Min, 1), "LogSumExp": over(nn.Value.LogSumExp, 1), "Var": over(nn.Value.Var, 1), "VarBiased": over(nn.Value.VarBiased, 1), "Std": over(nn.Value.Std),
		"Any": unary(func(x nn.Value) nn.Value { return x.Greater(1).Any(1) }), "All": unary(func(x nn.Value) nn.Value { return x.Greater(-1).All(2) }),
		"CumSum": at(nn.Value.CumSum, 1), "CumProd": at(nn.Value.CumProd, 2), "CumMax": at(nn.Value.CumMax, 2), "CumMin": at(nn.Value.CumMin, 1),
		"Sort": at(nn.Value.Sort, 2), "SortDescending": at(nn.Value.SortDescending, 1), "ArgSort": at(nn.Value.ArgSort, 2), "Median": at(nn.Value.Median, 2),
		"ArgMax": at(nn.Value.ArgMax, 1), "ArgMin": at(nn.Value.ArgMin, 2),
		"TopK":    unary(func(x nn.Value) nn.Value { return x.TopK(2, 2) }),
		"ArgTopK": unary(func(x nn.Value) nn.Value { return x.ArgTopK(2, 1) }),

		"Reshape": unary(func(x nn.Value) nn.Value { return x.Reshape(4, -1) }), "Permute": over(nn.Value.Permute, 2, 0, 1), "Flip": over(nn.Value.Flip, 0, 2),
		"MoveDim":   unary(func(x nn.Value) nn.Value { return x.MoveDim(0, 2) }),
		"Unflatten": unary(func(x nn.Value) nn.Value { return x.Unflatten(2, 2, 2) }),
		"Expand":    unary(func(x nn.Value) nn.Value { return x.Unsqueeze(1).Expand(2, 5, -1, -1) }),
		"Repeat":    unary(func(x nn.Value) nn.Value { return x.Repeat(1, 2, 1) }),
		"Slice": unary(func(x nn.Value) nn.Value {
			return x.Slice(nn.All, nn.R(1, nn.End), nn.Span{From: 0, To: nn.End, Step: 2})
		}),
		"Narrow":     unary(func(x nn.Value) nn.Value { return x.Narrow(2, 1, 2) }),
		"SelectDim":  unary(func(x nn.Value) nn.Value { return x.SelectDim(1, 1) }),
		"Roll":       unary(func(x nn.Value) nn.Value { return x.Roll(1, 2) }),
		"Pad":        unary(func(x nn.Value) nn.Value { return x.Pad("constant", 0.5, 1, 2, 0, 1) }),
		"PadReflect": unary(func(x nn.Value) nn.Value { return x.Pad("reflect", 0, 1, 2) }), "PadEdge": unary(func(x nn.Value) nn.Value { return x.Pad("edge", 0, 2, 1) }),
		"PadCircular": unary(func(x nn.Value) nn.Value { return x.Pad("circular", 0, 2, 1) }), "PadNegative": unary(func(x nn.Value) nn.Value { return x.Pad("constant", 0, -1, 0, 1, -1) }),
		"Tril": at(nn.Value.Tril, 0), "Triu": at(nn.Value.Triu, 1), "Diagonal": unary(nn.Value.Diagonal),
		"Unfold":       unary(func(x nn.Value) nn.Value { return x.Unfold(2, 2, 1) }),
		"Norm1":        unary(func(x nn.Value) nn.Value { return x.Norm(1, 1) }),
		"Norm2":        unary(func(x nn.Value) nn.Value { return x.Norm(2, 1) }),
		"Norm3":        unary(func(x nn.Value) nn.Value { return x.Norm(3, 1) }),
		"Normalize":    unary(func(x nn.Value) nn.Value { return x.Normalize(2, 1, 1e-12) }),
		"SliceAssign":  unary(func(x nn.Value) nn.Value { return x.SliceAssign([]nn.Span{nn.All, nn.R(1, 2)}, 5) }),
		"MaskFill":     unary(func(x nn.Value) nn.Value { return x.MaskFill(x.Greater(0), -1) }),
		"ArgWhere":     unary(func(x nn.Value) nn.Value { return x.Greater(0.5).ArgWhere() }),
		"MaskSelect":   unary(func(x nn.Value) nn.Value { return x.MaskSelect(x.Greater(0)) }),
		"Gather":       pairs(func(x, i nn.Value) nn.Value { return x.Gather(1, i) }),
		"Scatter":      triples(func(x, i, u nn.Value) nn.Value { return x.Scatter(1, i, u) }),
		"Select":       pairs(func(x, i nn.Value) nn.Value { return x.Select(2, i) }),
		"SelectAssign": triples(func(x, i, u nn.Value) nn.Value { return x.SelectAssign(1, i, u) }),
		"OneHot":       unary(func(i nn.Value) nn.Value { return i.OneHot(5) }),
		"Where":        triples(func(c, x, y nn.Value) nn.Value { return nn.Where(c, x, y) }),
		"Meshgrid":     with(nil, func(x []nn.Value) []nn.Value { return nn.Meshgrid(x...) }),

		"MatMul": pairs(nn.Value.MatMul), "MatMulBatch": pairs(nn.Value.MatMul), "Outer": pairs(nn.Value.Outer),
		"Einsum": pairs(func(a, b nn.Value) nn.Value { return nn.Einsum("bij,bkj->bik", a, b) }),
		"AddMM":  triples(func(c, a, b nn.Value) nn.Value { return nn.AddMM(c, a, b, 2, 0.5) }),
		"Cross":  pairs(func(a, b nn.Value) nn.Value { return a.Cross(b, 1) }),
		"Det":    unary(nn.Value.Det), "Inverse": unary(nn.Value.Inverse), "Trace": unary(nn.Value.Trace),
		"CosineSimilarity": pairs(func(a, b nn.Value) nn.Value { return nn.CosineSimilarity(a, b, 1, 1e-8) }),
		"PairwiseDistance": pairs(func(a, b nn.Value) nn.Value { return nn.PairwiseDistance(a, b, 2, 1e-6) }),
		"RFFT":             unary(nn.RFFT),
		"IRFFT":            unary(func(x nn.Value) nn.Value { return nn.IRFFT(x, 7) }),
		"STFT":             unary(func(x nn.Value) nn.Value { return nn.STFT(x, 8, 3, nn.HannWindow(8, true)) }),

		"Conv1d":              layer(nn.NewConv1d(4, 6, 3, nn.Stride(2), nn.Padding(1))),
		"Conv2d":              layer(nn.NewConv2d(4, 6, 3)),
		"Conv2d/options":      layer(nn.NewConv2d(4, 6, 3, nn.Kernel(3, 2), nn.Stride(2, 1), nn.Padding(1, 2), nn.Dilation(1, 2), nn.Groups(2), nn.NoBias)),
		"Conv2d/same":         layer(nn.NewConv2d(4, 2, 3, nn.Same)),
		"Conv2d/reflect":      layer(nn.NewConv2d(4, 2, 3, nn.Padding(1), nn.PaddingMode("reflect"))),
		"Conv3d":              layer(nn.NewConv3d(2, 3, 2)),
		"ConvTranspose1d":     layer(nn.NewConvTranspose1d(4, 6, 3, nn.Stride(2), nn.Padding(1), nn.OutputPadding(1))),
		"ConvTranspose2d":     layer(nn.NewConvTranspose2d(4, 6, 3, nn.Stride(2), nn.Groups(2))),
		"ConvTranspose3d":     layer(nn.NewConvTranspose3d(2, 3, 2, nn.Stride(2))),
		"MaxPool1d":           layer(nn.NewMaxPool1d(2)),
		"MaxPool2d":           layer(nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1))),
		"MaxPool2d/ceil":      layer(nn.NewMaxPool2d(2, nn.CeilMode)),
		"MaxPool3d":           layer(nn.NewMaxPool3d(2)),
		"AvgPool1d":           layer(nn.NewAvgPool1d(3, nn.Stride(2))),
		"AvgPool2d":           layer(nn.NewAvgPool2d(3, nn.Stride(2), nn.Padding(1))),
		"AvgPool2d/nocount":   layer(nn.NewAvgPool2d(3, nn.Stride(2), nn.Padding(1), nn.NoCountPad)),
		"AvgPool3d":           layer(nn.NewAvgPool3d(2)),
		"AdaptiveAvgPool1d":   layer(nn.NewAdaptiveAvgPool1d(4)),
		"AdaptiveAvgPool2d":   layer(nn.NewAdaptiveAvgPool2d(3, 4)),
		"AdaptiveAvgPool2d/1": layer(nn.NewAdaptiveAvgPool2d(1, 1)),
		"AdaptiveAvgPool3d":   layer(nn.NewAdaptiveAvgPool3d(2, 2, 1)),
		"AdaptiveMaxPool2d":   layer(nn.NewAdaptiveMaxPool2d(3, 4)),
		"PixelShuffle":        unary(func(x nn.Value) nn.Value { return nn.PixelShuffle(x, 2) }),
		"PixelUnshuffle":      unary(func(x nn.Value) nn.Value { return nn.PixelUnshuffle(x, 2) }),
		"Unfold4d":            unary(func(x nn.Value) nn.Value { return nn.Unfold4d(x, 3, nn.Padding(1), nn.Stride(2)) }),
		"Fold4d":              unary(func(x nn.Value) nn.Value { return nn.Fold4d(x, 4, 5, 2) }),
		"Interpolate/nearest": unary(func(x nn.Value) nn.Value { return nn.Interpolate(x, "nearest", false, 5, 9) }),
		"Interpolate/exact":   unary(func(x nn.Value) nn.Value { return nn.Interpolate(x, "nearest-exact", false, 5, 9) }),
		"Interpolate/linear":  unary(func(x nn.Value) nn.Value { return nn.Interpolate(x, "bilinear", false, 5, 9) }),
		"Interpolate/align":   unary(func(x nn.Value) nn.Value { return nn.Interpolate(x, "bilinear", true, 9, 5) }),
		"Interpolate/cubic":   unary(func(x nn.Value) nn.Value { return nn.Interpolate(x, "bicubic", false, 9, 12) }),
		"Upsample":            layer(nn.Upsample{Scale: 2, Mode: "nearest"}),
		"GridSample":          pairs(func(x, g nn.Value) nn.Value { return nn.GridSample(x, g, "bilinear", "zeros", false) }),
		"AffineGrid":          unary(func(x nn.Value) nn.Value { return nn.AffineGrid(x, 3, 4, false) }),
		"LocalResponseNorm":   layer(nn.NewLocalResponseNorm(3)),
		"BatchNorm":           layer(nn.NewBatchNorm(4)),
		"BatchNorm/1d":        layer(nn.NewBatchNorm(4, nn.Epsilon(1e-3), nn.NoAffine)),
		"BatchNorm/train":     layer(nn.NewBatchNorm(4, nn.Momentum(0.2))),
		"BatchNorm/train 1d":  layer(nn.NewBatchNorm(4, nn.Epsilon(1e-3))),
		"GroupNorm":           layer(nn.NewGroupNorm(2, 4)),
		"InstanceNorm":        layer(nn.NewInstanceNorm(4)),
		"LayerNorm":           layer(nn.NewLayerNorm(6)),
		"LayerNorm/shape":     layer(nn.NewLayerNormOf([]int{7, 6}, nn.NoAffine)),
		"Linear":              layer(nn.NewLinear(4, 3)),
		"PReLU":               layer(nn.NewPReLU(4)),
		"Embedding":           with(embedding, func(x []nn.Value) []nn.Value { return []nn.Value{embedding.Forward(x[0])} }),
		"RNN":                 with(rnn, func(x []nn.Value) []nn.Value { y, h := rnn.Forward(x[0], none); return []nn.Value{y, h} }),
		"RNN/relu":            with(rnnReLU, func(x []nn.Value) []nn.Value { y, h := rnnReLU.Forward(x[0], none); return []nn.Value{y, h} }),
		"LSTM":                with(lstm, func(x []nn.Value) []nn.Value { y, h, c := lstm.Forward(x[0], x[1], x[2]); return []nn.Value{y, h, c} }),
		"LSTM/bidirectional": with(lstmBoth, func(x []nn.Value) []nn.Value {
			y, h, c := lstmBoth.Forward(x[0], none, none)
			return []nn.Value{y, h, c}
		}),
		"GRU":                with(gru, func(x []nn.Value) []nn.Value { y, h := gru.Forward(x[0], none); return []nn.Value{y, h} }),
		"MultiHeadAttention": with(mha, func(x []nn.Value) []nn.Value { return []nn.Value{mha.Forward(x[0], x[1], x[2], none)} }),
		"MultiHeadAttention/mask": with(masked, func(x []nn.Value) []nn.Value {
			return []nn.Value{masked.Forward(x[0], x[0], x[0], nn.CausalMask(x[0].Dim(1)))}
		}),
		"CrossAttention":                with(cross, func(x []nn.Value) []nn.Value { return []nn.Value{cross.Forward(x[0], x[1], none)} }),
		"TransformerEncoder":            with(encoder, func(x []nn.Value) []nn.Value { return []nn.Value{encoder.Forward(x[0], none)} }),
		"TransformerEncoderLayer/first": with(first, func(x []nn.Value) []nn.Value { return []nn.Value{first.Forward(x[0], none)} }),
		"TransformerDecoder": with(decoder, func(x []nn.Value) []nn.Value {
			return []nn.Value{decoder.Forward(x[0], x[1], nn.CausalMask(x[0].Dim(1)), none)}
		}),

		"CrossEntropy":           loss(nn.CrossEntropy),
		"CrossEntropy/sum":       loss(nn.CrossEntropy, nn.ReduceSum),
		"CrossEntropy/none":      loss(nn.CrossEntropy, nn.NoReduction),
		"CrossEntropy/weights":   loss(nn.CrossEntropy, nn.ClassWeights(weights)),
		"CrossEntropy/smoothing": loss(nn.CrossEntropy, nn.LabelSmoothing(0.1)),
		"CrossEntropy/all":       loss(nn.CrossEntropy, nn.ClassWeights(weights), nn.LabelSmoothing(0.1), nn.IgnoreIndex(2)),
		"CrossEntropy/ignored":   loss(nn.CrossEntropy, nn.IgnoreIndex(1)),
		"CrossEntropy/images":    loss(nn.CrossEntropy),
		"CrossEntropy/soft": pairs(func(x, y nn.Value) nn.Value {
			return nn.CrossEntropy(x, nn.Softmax(y, 1), nn.LabelSmoothing(0.2))
		}),
		"NLL":                pairs(func(x, y nn.Value) nn.Value { return nn.NLL(nn.LogSoftmax(x, 1), y) }),
		"BinaryCrossEntropy": loss(nn.BinaryCrossEntropy), "BCEWithLogits": loss(nn.BCEWithLogits),
		"MSE": loss(nn.MSE), "MSE/sum": loss(nn.MSE, nn.ReduceSum), "L1": loss(nn.L1),
		"Huber":    pairs(func(x, y nn.Value) nn.Value { return nn.Huber(x, y, 0.7) }),
		"SmoothL1": pairs(func(x, y nn.Value) nn.Value { return nn.SmoothL1(x, y, 0.7) }),
		"KLDiv": pairs(func(x, y nn.Value) nn.Value {
			return nn.KLDiv(nn.LogSoftmax(x, 1), nn.Softmax(y, 1), false, nn.BatchMean)
		}),
		"KLDiv/log": pairs(func(x, y nn.Value) nn.Value {
			return nn.KLDiv(nn.LogSoftmax(x, 1), nn.LogSoftmax(y, 1), true, nn.ReduceSum)
		}),
		"PoissonNLL":        pairs(func(x, y nn.Value) nn.Value { return nn.PoissonNLL(x, y.Exp(), true, true) }),
		"PoissonNLL/linear": pairs(func(x, y nn.Value) nn.Value { return nn.PoissonNLL(x.Exp(), y.Exp(), false, false) }),
		"GaussianNLL":       pairs(func(x, y nn.Value) nn.Value { return nn.GaussianNLL(x, y, x.Exp().Add(0.1), true) }),
		"HingeEmbedding":    unary(func(x nn.Value) nn.Value { return nn.HingeEmbedding(x, signs().Unsqueeze(1).Expand(3, 4), 1) }),
		"CosineEmbedding":   pairs(func(x, y nn.Value) nn.Value { return nn.CosineEmbedding(x, y, signs(), 0.1) }),
		"MarginRanking":     pairs(func(x, y nn.Value) nn.Value { return nn.MarginRanking(x, y, signs().Unsqueeze(1), 0.3) }),
		"SoftMargin":        unary(func(x nn.Value) nn.Value { return nn.SoftMargin(x, signs().Unsqueeze(1)) }),
		"MultiMargin":       unary(func(x nn.Value) nn.Value { return nn.MultiMargin(x, nn.Of([]int{1, 0, 3}), 1, 1) }),
		"MultiMargin/2":     unary(func(x nn.Value) nn.Value { return nn.MultiMargin(x, nn.Of([]int{1, 0, 3}), 2, 0.5) }),
		"TripletMargin":     triples(func(a, b, c nn.Value) nn.Value { return nn.TripletMargin(a, b, c, 1, 2) }),
		"CTC":               pairs(func(x, y nn.Value) nn.Value { return nn.CTC(nn.LogSoftmax(x, 2), y, nn.Of([]int{3, 2}), 0) }),
	}
}

// objective returns the scalar whose gradients the references hold: the sum of the elements of all
// float results, each times the cosine of its index.
func objective(out []nn.Value) nn.Value {
	loss := nn.Scalar(0)
	for _, v := range out {
		if v.DType() == nn.F32 {
			flat := v.Reshape(-1)
			loss = loss.Add(flat.Mul(nn.Arange(flat.Dim(0)).Float().Cos()).Sum())
		}
	}
	return loss
}

// near compares numbers with what PyTorch says.
func near(got []float64, want elements, tolerance float64) error {
	w := want.floats()
	if len(got) != len(w) {
		return fmt.Errorf("%d elements, want %d", len(got), len(w))
	}
	for i, x := range got {
		if d := math.Abs(x - w[i]); !(d <= tolerance*(1+math.Abs(w[i]))) && !(math.IsNaN(x) && math.IsNaN(w[i])) && x != w[i] {
			return fmt.Errorf("element %d is %v, want %v", i, x, w[i])
		}
	}
	return nil
}

func shapeOf(v nn.Value) []int {
	shape := []int{}
	for _, d := range v.Shape() {
		shape = append(shape, d.Int())
	}
	return shape
}

// TestReferences compares results and gradients with PyTorch's.
func TestReferences(t *testing.T) {
	table := trials()
	for _, c := range references(t) {
		trial, ok := table[c.Name]
		delete(table, c.Name)
		if c.After != nil {
			continue // a value does not train
		}
		t.Run(c.Name, func(t *testing.T) {
			if !ok {
				t.Fatal("there is no trial")
			}
			if err := nn.Try(func() { compare(t, c, trial) }); err != nil {
				t.Error(err)
			}
		})
	}
	for name := range table {
		t.Errorf("%s: there is no reference", name)
	}
}

// assign gives a trial's module the parameters of a reference.
func assign(c reference, trial trial) map[string]nn.Value {
	state := map[string]nn.Value{}
	for name, e := range c.State {
		state[name] = e.value()
	}
	nn.Assign(trial.module, state)
	return state
}

func compare(t *testing.T, c reference, trial trial) {
	if trial.module != nil {
		state := assign(c, trial)
		if n := len(nn.Params(trial.module)) + len(nn.Buffers(trial.module)); n != len(state) {
			t.Errorf("%d parameters and buffers, want %d", n, len(state))
		}
	}
	inputs := make([]nn.Value, len(c.Inputs))
	for i, e := range c.Inputs {
		inputs[i] = e.value()
	}
	out := trial.f(inputs)
	if len(out) != len(c.Outputs) {
		t.Fatalf("%d results, want %d", len(out), len(c.Outputs))
	}
	for i, v := range out {
		want := c.Outputs[i]
		if got := shapeOf(v); !slices.Equal(got, want.Shape) || v.DType().String() != want.Type {
			t.Fatalf("result %d is %s%v, want %s%v", i, v.DType(), got, want.Type, want.Shape)
		}
		if err := near(v.Floats(), want, 2e-5); err != nil {
			t.Fatalf("result %d: %v", i, err)
		}
	}
	loss := objective(out)
	if len(c.Grads) == 0 {
		return
	}
	var wrt []nn.Value
	var wants []elements
	var names []string
	add := func(name string, v nn.Value) {
		if g, ok := c.Grads[name]; ok {
			wrt, wants, names = append(wrt, v), append(wants, g), append(names, name)
		}
	}
	for i, v := range inputs {
		add(fmt.Sprintf("input %d", i), v)
	}
	if trial.module != nil {
		for _, p := range nn.Params(trial.module) {
			add(p.Name(), p.Value())
		}
	}
	if len(wrt) != len(c.Grads) {
		t.Errorf("%d gradients, want %d", len(wrt), len(c.Grads))
	}
	var grads []nn.Value
	err := nn.Try(func() { grads = nn.Grad(loss, wrt...) })
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range grads {
		if err := near(g.Floats(), wants[i], 2e-4); err != nil {
			t.Errorf("gradient of %s: %v", names[i], err)
		}
	}
}
