package nn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

// Functions that the references of PyTorch do not have.
func TestValues(t *testing.T) {
	x := nn.Of([][]float64{{1, -2, 3}, {4, 5, -6}})
	i := nn.Of([]int{6, -7, 8})
	odd := nn.Of([]float64{1, math.NaN(), math.Inf(-1)})
	list := func(values []nn.Value) string { return fmt.Sprint(values) }
	for _, c := range []struct {
		name string
		got  any
		want string
	}{
		{"SubFrom", x.SubFrom(1), "f32[2,3] [[0 3 -2] [-3 -4 7]]"},
		{"DivFrom", x.DivFrom(60), "f32[2,3] [[60 -30 20] [15 12 -10]]"},
		{"Add of an extent", x.Sum(1).Mul(x.Dim(1)), "f32[2,1] [[6] [9]]"},
		{"Rad2Deg", nn.Of([]float64{math.Pi}).Rad2Deg(), "f32[1] [180]"},
		{"ClampMin", x.ClampMin(0), "f32[2,3] [[1 0 3] [4 5 0]]"},
		{"ClampMax", x.ClampMax(2), "f32[2,3] [[1 -2 2] [2 2 -6]]"},
		{"Clamp of integers", i.Clamp(0, 7), "i64[3] [6 0 7]"},
		{"BitNot", i.BitNot(), "i64[3] [-7 6 -9]"},
		{"ShiftRight", nn.Of([]uint8{12, 255}).ShiftRight(2), "u8[2] [3 63]"},
		{"ShiftRight of signed", nn.Of([]int{12, 7}).ShiftRight(1), "i64[2] [6 3]"},
		{"ThresholdedReLU", nn.ThresholdedReLU(x, 2), "f32[2,3] [[0 0 3] [4 5 0]]"},
		{"Bool", x.Add(2).Bool(), "bool[2,3] [[true false true] [true true true]]"},
		{"IsNaN", odd.IsNaN(), "bool[3] [false true false]"},
		{"IsInf", odd.IsInf(), "bool[3] [false false true]"},
		{"IsFinite of f16", odd.Cast(nn.F16).IsFinite(), "bool[3] [true false false]"},
		{"IsFinite of f64", x.Cast(nn.F64).Mul(1e300).IsFinite().All(), "bool[] true"},
		{"ContainsNaN", odd.ContainsNaN(), "bool[] true"},
		{"Where of numbers", nn.Where(x.Greater(0), 1, 0), "f32[2,3] [[1 0 1] [1 1 0]]"},
		{"MaskWhere", x.MaskWhere(x.Less(0), nn.Zeros(3)), "f32[2,3] [[1 0 3] [4 5 0]]"},
		{"MaxAbs", x.MaxAbs(1), "f32[2,1] [[3] [6]]"},
		{"MaxWithIndices", list(both(x.MaxWithIndices(1))), "[f32[2,1] [[3] [5]] i64[2,1] [[2] [1]]]"},
		{"MinWithIndices", list(both(x.MinWithIndices(0))), "[f32[1,3] [[1 -2 -6]] i64[1,3] [[0 0 1]]]"},
		{"SortWithIndices", list(both(x.SortWithIndices(1))), "[f32[2,3] [[-2 1 3] [-6 4 5]] i64[2,3] [[1 0 2] [2 0 1]]]"},
		{"ArgSortDescending", x.ArgSortDescending(1), "i64[2,3] [[2 0 1] [1 0 2]]"},
		{"MedianWithIndices", list(both(x.MedianWithIndices(1))), "[f32[2,1] [[1] [4]] i64[2,1] [[0] [0]]]"},
		{"SumSqueezed", x.SumSqueezed(0), "f32[3] [5 3 -3]"},
		{"MeanSqueezed", x.MeanSqueezed(1, 0), "f32[] 0.8333333"},
		{"Norm of nothing but zeros", nn.Zeros(2).Norm(2), "f32[] 0"},
		{"Norm 0", x.Sub(1).Norm(0, 1), "f32[2,1] [[2] [3]]"},
		{"Norm ∞", x.Norm(math.Inf(1)), "f32[] 6"},
		{"Norm −∞", x.Norm(math.Inf(-1)), "f32[] 1"},
		{"Dot", nn.Of([]float64{1, 2}).Dot(nn.Of([]float64{3, 4})), "f32[] 11"},
		{"Diag", nn.Diag(nn.Of([]float64{1, 2})), "f32[2,2] [[1 0] [0 2]]"},
		{"Take", x.Take(1, nn.Of([]int{2, 0})), "f32[2,2] [[3 1] [-6 4]]"},
		{"GatherND", x.GatherND(nn.Of([][]int{{1, 2}, {0, 0}})), "f32[2] [-6 1]"},
		{"ScatterND", x.ScatterND("", nn.Of([][]int{{1, 2}}), nn.Of([]float64{9})), "f32[2,3] [[1 -2 3] [4 5 9]]"},
		{"ScatterWith", x.ScatterWith("max", 1, nn.Of([][]int{{1}, {0}}), nn.Zeros(2, 1)), "f32[2,3] [[1 0 3] [4 5 -6]]"},
		{"NonZero", list(x.Greater(2).NonZero()), "[i64[3] [0 1 1] i64[3] [2 0 1]]"},
		{"OneHotFill", nn.Of([]int{1, 0}).OneHotFill(2, 5, -1, 0), "f32[2,2] [[-1 5] [5 -1]]"},
		{"Unsqueeze", x.Unsqueeze(-1).Shape(), "[2 3 1]"},
		{"UnsqueezeDims", x.UnsqueezeDims(0, -2).Shape(), "[1 2 1 3]"},
		{"Squeeze", nn.Zeros(1, 2, 1).Squeeze().Shape(), "[2]"},
		{"Squeeze of an axis", nn.Zeros(1, 2, 1).Squeeze(0).Shape(), "[2 1]"},
		{"SwapDims", x.SwapDims(0, 1).Shape(), "[3 2]"},
		{"Flatten of a scalar", nn.Scalar(1).Flatten(0, -1).Shape(), "[1]"},
		{"RepeatDim", nn.Arange(2).RepeatDim(0, 2), "i64[4] [0 1 0 1]"},
		{"SliceDim", x.SliceDim(1, nn.R(-2, nn.End)), "f32[2,2] [[-2 3] [5 -6]]"},
		{"Slice beyond the end", x.Slice(nn.R(1, 9), nn.R(5, 7)).Shape(), "[1 0]"},
		{"SliceFill", x.SliceFill([]nn.Span{nn.R(1, 2)}, 0), "f32[2,3] [[1 -2 3] [0 0 0]]"},
		{"SliceAssign of all", x.SliceAssign(nil, 7), "f32[2,3] [[7 7 7] [7 7 7]]"},
		{"Chunk", list(nn.Arange(5).Chunk(3, 0)), "[i64[2] [0 1] i64[2] [2 3] i64[1] [4]]"},
		{"SplitSizes", list(nn.Arange(3).SplitSizes([]int{1, 2}, 0)), "[i64[1] [0] i64[2] [1 2]]"},
		{"Stack", nn.Stack(1, nn.Arange(2), nn.Arange(2)), "i64[2,2] [[0 0] [1 1]]"},
		{"TrilMask", nn.TrilMask(2, 3, 0), "bool[2,3] [[false true true] [false false true]]"},
		{"TriuMask", nn.TriuMask(2, 3, 0), "bool[2,3] [[false false false] [true false false]]"},
		{"DiagMask", nn.DiagMask(2, 2, 0), "bool[2,2] [[false true] [true false]]"},
		{"Tril of booleans", nn.FullOf(nn.Bool, 1, 2, 2).Tril(0), "bool[2,2] [[true false] [true true]]"},
		{"PaddingMask", nn.PaddingMask(nn.Of([][]int{{3, 0}}), 0), "bool[1,1,1,2] [[[[false true]]]]"},
		{"CartesianGrid", nn.CartesianGrid(2, 2), "i64[2,2,2] [[[0 0] [0 1]] [[1 0] [1 1]]]"},
		{"Full of an extent", nn.FullOf(nn.I32, 3, x.Dim(0)), "i32[2] [3 3]"},
		{"Empty", nn.Empty(1), "f32[1] [0]"},
		{"HammingWindow", fmt.Sprintf("%.2v", nn.HammingWindow(3, false)), "f32[3] [0.08 1.00 0.08]"},
		{"BlackmanWindow", fmt.Sprintf("%.2v", nn.BlackmanWindow(3, false).Abs()), "f32[3] [0.00 1.00 0.00]"},
		{"LpLoss", nn.LpLoss(x, nn.ZerosLike(x), 3), "f32[] 73.5"},
		{"GramMatrix", nn.GramMatrix(nn.Of([]float64{1, 2, 3, 4}, 1, 2, 1, 2)), "f32[1,2,2] [[[1.25 2.75] [2.75 6.25]]]"},
		{"a value as text", nn.Arange(2).String(), "i64[2] [0 1]"},
		{"an extent's arithmetic", fmt.Sprint(x.Dim(0).Add(1), x.Dim(1).Mul(x.Dim(0)), x.Size().Sub(1), x.Size().Div(4), x.Dim(0).Equal(2)), "3 6 5 1 true"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func both(a, b nn.Value) []nn.Value { return []nn.Value{a, b} }

func TestFactors(t *testing.T) {
	x := nn.Normal(0, 1, 2, 3, 3).Add(nn.Eye(3).Mul(4))
	l, u := nn.LU(x)
	q, r := nn.QR(x)
	for name, c := range map[string][2]nn.Value{
		"L·U": {l.MatMul(u), x}, "Q·R": {q.MatMul(r), x}, "QᵀQ": {q.T().MatMul(q), nn.Eye(3).Expand(2, 3, 3)},
		"L above its diagonal": {l.Triu(1), nn.Zeros(2, 3, 3)}, "U below its diagonal": {u.Tril(-1), nn.Zeros(2, 3, 3)}, "R below its diagonal": {r.Tril(-1), nn.Zeros(2, 3, 3)},
		"the inverse": {x.Inverse().MatMul(x), nn.Eye(3).Expand(2, 3, 3)},
	} {
		if !c[0].AllClose(c[1], 1e-4, 1e-5).Bools()[0] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}

func TestRandomValues(t *testing.T) {
	defer nn.Seed(0)
	nn.Seed(5)
	a, b := nn.Random(1000), nn.Random(1000)
	if a.Equal(b).Any().Bools()[0] {
		t.Error("two draws have an equal element")
	}
	nn.Seed(5)
	if !nn.RandomLike(a).Equal(a).All().Bools()[0] {
		t.Error("the same seed draws others")
	}
	for name, c := range map[string]struct {
		v             nn.Value
		least, most   float64
		mean, allowed float64
	}{
		"Random":        {a, 0, 1, 0.5, 0.05},
		"Normal":        {nn.Normal(3, 0.5, 1000), 0, 6, 3, 0.1},
		"Bernoulli":     {nn.Bernoulli(0.25, 1000), 0, 1, 0.25, 0.06},
		"UniformLike":   {nn.UniformLike(a, -1, 3), -1, 3, 1, 0.15},
		"NormalLike":    {nn.NormalLike(a, 3, 0.5), 0, 6, 3, 0.1},
		"BernoulliLike": {nn.BernoulliLike(a, 0.25), 0, 1, 0.25, 0.06},
		"RandomInts":    {nn.RandomInts(-1, 3, 1000).Float(), -1, 2, 0.5, 0.15},
		"Multinomial":   {nn.Multinomial(nn.Of([][]float64{{1, 0, 3}}), 1000).Float(), 0, 2, 1.5, 0.15},
	} {
		if v := c.v; v.Min().Item() < c.least || v.Max().Item() > c.most || math.Abs(v.Mean().Item()-c.mean) > c.allowed {
			t.Errorf("%s: from %v to %v, mean %v", name, v.Min(), v.Max(), v.Mean())
		}
	}
}

func TestLayersWithoutReferences(t *testing.T) {
	x := nn.Normal(0, 1, 2, 4)
	t.Run("RMSNorm", func(t *testing.T) {
		want := x.Div(x.Square().Mean(1).Add(1e-5).Sqrt())
		if !nn.NewRMSNorm(4).Forward(x).AllClose(want, 1e-5, 1e-6).Bools()[0] {
			t.Error("not x over the root of its mean square")
		}
	})
	t.Run("Identity", func(t *testing.T) {
		if !(nn.Identity{}).Forward(x).Equal(x).All().Bools()[0] {
			t.Error("not its operand")
		}
	})
	t.Run("CrossEntropy of probabilities", func(t *testing.T) {
		target := nn.Of([]int64{3, 0})
		got := nn.CrossEntropy(nn.Softmax(x, 1), target, nn.Probabilities)
		if !got.AllClose(nn.CrossEntropy(x, target), 1e-5, 1e-6).Bools()[0] {
			t.Error("the softmax of logits has another loss than the logits")
		}
		certain := nn.Of([][]float32{{0, 0, 0, 1}, {1, 0, 0, 0}})
		if got := nn.CrossEntropy(certain, target, nn.Probabilities).Item(); got != 0 {
			t.Errorf("the loss of a certain answer is %v", got)
		}
	})
	t.Run("PositionWiseFeedForward", func(t *testing.T) {
		p := nn.NewPositionWiseFeedForward(4, 8, 0.1)
		want := p.LinearOuter.Forward(nn.GELU(p.LinearInner.Forward(x)))
		if !p.Forward(x).Equal(want).All().Bools()[0] {
			t.Error("not two linear layers with a GELU between them")
		}
	})
	t.Run("SwiGLU", func(t *testing.T) {
		s := nn.NewSwiGLU(4, 3)
		a, b := s.Inner.Forward(x), s.Outer.Forward(x)
		if !s.Forward(x).AllClose(a.Mul(nn.Sigmoid(a)).Mul(b), 1e-5, 1e-6).Bools()[0] {
			t.Error("not SiLU of one linear layer times the other")
		}
	})
	t.Run("DeformConv2d", func(t *testing.T) {
		image := nn.Normal(0, 1, 1, 2, 5, 5)
		d, c := nn.NewDeformConv2d(2, 3, 3, 1, nn.Padding(1)), nn.NewConv2d(2, 3, 3, nn.Padding(1))
		nn.Name(d)
		nn.Assign(c, map[string]nn.Value{"weight": d.Weight.Value(), "bias": d.Bias.Value()})
		still := d.Forward(image, nn.Zeros(1, 18, 5, 5), none)
		if !still.AllClose(c.Forward(image), 1e-4, 1e-5).Bools()[0] {
			t.Error("without offsets it is not a convolution")
		}
		// One place to the right, and half as much of it.
		right := nn.Stack(2, nn.Zeros(1, 9, 5, 5), nn.Ones(1, 9, 5, 5)).Reshape(1, 18, 5, 5)
		moved := d.Forward(image, right, nn.Full(0.5, 1, 9, 5, 5)).Narrow(3, 0, 3)
		bias := d.Bias.Value().Reshape(1, 3, 1, 1)
		want := still.Narrow(3, 1, 3).Sub(bias).Mul(0.5).Add(bias)
		if !moved.AllClose(want, 1e-4, 1e-4).Bools()[0] {
			t.Errorf("%v\nwant %v", moved, want)
		}
	})
	t.Run("options of recurrent layers", func(t *testing.T) {
		seq := nn.Normal(0, 1, 4, 2, 3)
		forward, back := nn.NewRNN(3, 2), nn.NewRNN(3, 2, nn.Reversed)
		nn.Name(forward)
		state := map[string]nn.Value{}
		for name, p := range forward.Weights {
			state[name] = p.Value()
		}
		nn.Assign(back, state)
		a, _ := forward.Forward(seq.Flip(0), none)
		b, _ := back.Forward(seq, none)
		if !a.Flip(0).AllClose(b, 1e-5, 1e-6).Bools()[0] {
			t.Error("a reversed layer is not the layer of the reversed sequence")
		}
		for name, f := range map[string]func(o ...nn.RecurrentOption) nn.Value{
			"LSTM": func(o ...nn.RecurrentOption) nn.Value {
				nn.Seed(1)
				y, _, _ := named(nn.NewLSTM(3, 2, o...)).Forward(seq, none, none)
				return y
			},
			"GRU": func(o ...nn.RecurrentOption) nn.Value {
				nn.Seed(1)
				y, _ := named(nn.NewGRU(3, 2, o...)).Forward(seq, none)
				return y
			},
		} {
			plain := f()
			for option, o := range map[string]nn.RecurrentOption{"clip": nn.GateClip(0.01), "input forget": nn.InputForget, "reset before": nn.ResetBefore} {
				changes := option == "clip" || (option == "input forget") == (name == "LSTM")
				if same := f(o).AllClose(plain, 1e-6, 1e-7).Bools()[0]; same == changes {
					t.Errorf("%s with %s: the same is %t", name, option, same)
				}
			}
		}
		nn.Seed(0)
	})
	t.Run("initial values by option", func(t *testing.T) {
		wants(t, nn.NewLinear(2, 1, nn.WeightInit(nn.Constant(3))).Weight.Value(), 3, 3)
		wants(t, nn.NewEmbedding(1, 2, nn.WeightInit(nn.Constant(2))).Weight.Value(), 2, 2)
		w := nn.NewConv2d(1, 2, 1, nn.WeightInit(nn.Orthogonal(1))).Weight.Value()
		wants(t, w.Norm(2), 1)
		wants(t, nn.ParamOf(nn.Arange(2).Float()).Value(), 0, 1)
		wants(t, nn.BufferOf(nn.Of([]int{7})).Value(), 7)
		if nn.NewLayerNorm(2, nn.NoBias).Bias.Valid() || nn.NewConvTranspose2d(1, 1, 2, nn.NoBias).Bias.Valid() || nn.NewMultiHeadAttention(2, 1, nn.NoBias).InProjBias.Valid() {
			t.Error("there is a bias")
		}
	})
	t.Run("quiet attention", func(t *testing.T) {
		m := nn.NewMultiHeadAttention(4, 2, nn.Quiet)
		s := x.Unsqueeze(0)
		hidden := nn.FullOf(nn.Bool, 1, 2, 2)
		if y := m.Forward(s, s, s, hidden); !y.AllClose(m.OutProj.Bias.Value(), 1e-6, 1e-7).Bools()[0] {
			t.Errorf("all keys are hidden: %v", y)
		}
	})
	t.Run("scores of hidden keys", func(t *testing.T) {
		nn.Seed(5)
		m := nn.NewMultiHeadAttention(4, 2, nn.MinScore(-1e4))
		other := nn.NewMultiHeadAttention(4, 2)
		other.InProjWeight, other.OutProj = m.InProjWeight, m.OutProj
		s := x.Unsqueeze(0)
		all, second := nn.FullOf(nn.Bool, 1, 2, 2), nn.Of([][]bool{{false, true}, {false, true}})
		if y := m.Forward(s, s, s, second); !y.AllClose(other.Forward(s, s, s, second), 1e-6, 1e-7).Bools()[0] {
			t.Errorf("one key is hidden: %v", y)
		}
		// Scores of −1e4 leave both keys the same weight.
		values := s.MatMul(m.InProjWeight.Value().Narrow(0, 8, 4).T())
		want := m.OutProj.Forward(values.Mean(1))
		if y := m.Forward(s, s, s, all); !y.AllClose(want.Expand(1, 2, 4), 1e-5, 1e-6).Bools()[0] {
			t.Errorf("all keys are hidden: %v, want %v", y, want)
		}
		nn.Seed(0)
	})
	t.Run("interpolation by the filter of Lanczos", func(t *testing.T) {
		// As Pillow 9.4 enlarges a picture of mode F from 5×4 to 8×6 with LANCZOS.
		want := []float64{
			-0.152597, -0.290548, 0.852192, 3.813728, 4.10177, 1.784658, 1.279517, 1.698422,
			0.744735, 1.776959, 2.842914, 2.147353, 2.308709, 3.724587, 4.001616, 3.758868,
			3.787662, 4.247935, 3.434407, 0.288043, 0.697322, 4.415482, 5.191568, 4.525603,
			6.830902, 3.775744, 0.13159, 1.203651, 2.290552, 1.384348, 1.218103, 1.347591,
			4.445813, 2.546773, 1.252472, 4.074353, 4.800728, 2.360682, 1.851969, 2.272491,
			1.445039, 1.957178, 3.623372, 5.804816, 5.967549, 4.505598, 4.174716, 4.446523,
		}
		picture := make([][]float64, 4)
		for y := range picture {
			for x := range 5 {
				picture[y] = append(picture[y], float64((x*x+3*y)%7))
			}
		}
		got := nn.Interpolate(nn.Of(picture).Float().Reshape(1, 1, 4, 5), "lanczos", false, 6, 8)
		if !got.AllClose(nn.Of(want).Float().Reshape(1, 1, 6, 8), 1e-5, 1e-5).Bools()[0] {
			t.Errorf("got %v", got)
		}
	})
	t.Run("functions of pools", func(t *testing.T) {
		line, image, volume := nn.Arange(4).Float().Reshape(1, 1, 4), nn.Arange(4).Float().Reshape(1, 1, 2, 2), nn.Arange(8).Float().Reshape(1, 1, 2, 2, 2)
		got := []string{}
		for _, v := range []nn.Value{
			nn.MaxPool1d(line, 2), nn.AvgPool1d(line, 2), nn.AdaptiveAvgPool1d(line, 2),
			nn.MaxPool2d(image, 2), nn.AvgPool2d(image, 2), nn.AdaptiveMaxPool2d(image, 1, 1), nn.GlobalAvgPool(image),
			nn.MaxPool3d(volume, 2), nn.AvgPool3d(volume, 2), nn.AdaptiveAvgPool3d(volume, 1, 1, 2),
		} {
			got = append(got, fmt.Sprint(v.Floats()))
		}
		if want := "[1 3] [0.5 2.5] [0.5 2.5] [3] [1.5] [3] [1.5] [7] [3.5] [3 4]"; strings.Join(got, " ") != want {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// named gives a module's parameters their names.
func named[M any](m M) M { nn.Name(m); return m }
