package nn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

// wants compares a value's elements.
func wants(t *testing.T, v nn.Value, want ...float64) {
	t.Helper()
	got := v.Floats()
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", v, want)
	}
	for i, x := range want {
		if math.Abs(got[i]-x) > 1e-5*(1+math.Abs(x)) {
			t.Fatalf("%v, want %v", v, want)
		}
	}
}

func prints(t *testing.T, format string, v any, want string) {
	t.Helper()
	if got := fmt.Sprintf(format, v); got != want {
		t.Errorf("%s prints %q, want %q", format, got, want)
	}
}

func minMax(x nn.Value) nn.Value { return x.Sub(x.Min()).Div(x.Max().Sub(x.Min())) }

// The examples of the documents that the reference documents are, with their values.
func TestDocumentedValues(t *testing.T) {
	t.Run("the sum of two matrices", func(t *testing.T) {
		sum := nn.Of([][]float64{{2, 3}, {4, 5}}).Add(nn.Ones(2, 2))
		wants(t, sum, 3, 4, 5, 6)
		prints(t, "%v", sum, "f32[2,2] [[3 4] [5 6]]")
	})
	t.Run("from the least to the greatest of four", func(t *testing.T) {
		prints(t, "%.4v", minMax(nn.Of([]float64{1, 2, 3, 4})), "f32[4] [0.0000 0.3333 0.6667 1.0000]")
	})
	t.Run("from the least to the greatest of five", func(t *testing.T) {
		wants(t, minMax(nn.Of([]float64{2, 4, 6, 8, 10})), 0, 0.25, 0.5, 0.75, 1)
	})
	t.Run("creation", func(t *testing.T) {
		identity := nn.Of([][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
		prints(t, "%v", identity, "f32[3,3] [[1 0 0] [0 1 0] [0 0 1]]")
		prints(t, "%v", nn.Of([]int{10, 20, 30}), "i64[3] [10 20 30]")
		prints(t, "%v", identity.Greater(0), "bool[3,3] [[true false false] [false true false] [false false true]]")
		prints(t, "%v", nn.Eye(2), "f32[2,2] [[1 0] [0 1]]")
		prints(t, "%v", nn.Of([]int{1, -2}), "i64[2] [1 -2]")
		prints(t, "%v", nn.Of([2]bool{true, false}), "bool[2] [true false]")
		prints(t, "%v", nn.ArangeStep(5, 0, -2), "i64[3] [5 3 1]")
		prints(t, "%.2v", nn.Linspace(0, 1, 3), "f32[3] [0.00 0.50 1.00]")
		prints(t, "%v", nn.Of(int8(3)), "i8[] 3")
		prints(t, "%v", nn.Arange(20), "i64[20] [0 1 2 … 17 18 19]")
		prints(t, "%+v", nn.Arange(3).Repeat(6), "i64[18] [0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2]")
		prints(t, "%v", nn.Value{}, "none")
	})
	t.Run("softmax by hand", func(t *testing.T) {
		x := nn.Of([][]float64{{1, 2, 3}, {0, 0, 5}})
		byHand := x.Exp().Div(x.Exp().Sum(1))
		if !byHand.AllClose(nn.Softmax(x, 1), 1e-5, 1e-6).Bools()[0] {
			t.Errorf("%v, want %v", byHand, nn.Softmax(x, 1))
		}
		wants(t, byHand.Sum(1), 1, 1)
	})
	t.Run("the gradient of squares", func(t *testing.T) {
		x := nn.Of([]float64{1, 2, 3})
		prints(t, "%v", nn.Grad(x.Mul(x).Sum(), x)[0], "f32[3] [2 4 6]")
	})
	t.Run("the gradient of a squared error", func(t *testing.T) {
		w, x := nn.Of([]float64{0.5, -0.3, 0.8}), nn.Of([]float64{1, 2, 3})
		y := w.Mul(x).Sum()
		d := 2 * (y.Item() - 2.5)
		wants(t, nn.Grad(y.Sub(2.5).Square(), w)[0], d, 2*d, 3*d)
	})
	t.Run("a product that is used twice", func(t *testing.T) {
		x, y := nn.Normal(0, 1, 32, 32), nn.Normal(0, 1, 32, 32)
		z := x.Add(y).Mul(x).Exp()
		g := nn.Grad(z.Sum(), y)[0]
		if !g.AllClose(z.Mul(x), 1e-5, 1e-5).Bools()[0] {
			t.Error("the gradient differs from the formula")
		}
	})
	t.Run("a perceptron", func(t *testing.T) {
		m := nn.Sequential{nn.NewLinear(10, 64), nn.Activation(nn.ReLU), nn.NewLinear(64, 32), nn.Activation(nn.ReLU), nn.NewLinear(32, 3)}
		if y := m.Forward(nn.Normal(0, 1, 16, 10)); !slices.Equal(shapeOf(y), []int{16, 3}) {
			t.Errorf("%v", y)
		}
		if n := nn.NumParams(m); n != 10*64+64+64*32+32+32*3+3 {
			t.Errorf("%d parameters", n)
		}
	})
	t.Run("a convolutional network", func(t *testing.T) {
		m := nn.Sequential{
			nn.NewConv2d(1, 16, 3, nn.Padding(1)), nn.Activation(nn.ReLU), nn.NewMaxPool2d(2),
			nn.NewConv2d(16, 32, 3, nn.Padding(1)), nn.Activation(nn.ReLU), nn.NewMaxPool2d(2),
			nn.Flatten{}, nn.NewDropout(0.5), nn.NewLinear(32*7*7, 10),
		}
		y := m.Forward(nn.Zeros(4, 1, 28, 28))
		if !slices.Equal(shapeOf(y), []int{4, 10}) {
			t.Errorf("%v", y)
		}
		if n := len(y.Floats()); n != 40 {
			t.Errorf("%d elements", n)
		}
	})
	t.Run("cross entropy by hand", func(t *testing.T) {
		logits, target := nn.Normal(0, 2, 6, 4), nn.RandomInts(0, 4, 6)
		byHand := nn.LogSoftmax(logits, 1).Gather(1, target.Unsqueeze(1)).Mean().Neg()
		wants(t, byHand, nn.CrossEntropy(logits, target).Item())
	})
	t.Run("no class is taken from the end", func(t *testing.T) {
		logits := nn.Normal(0, 2, 3, 4)
		for _, target := range []int64{-100, -4, -1, 4} {
			targets := nn.Of([]int64{0, target, 3})
			if err := nn.Try(func() { nn.CrossEntropy(logits, targets).Item() }); err == nil {
				t.Errorf("class %d is one of 4", target)
			}
			if err := nn.Try(func() { nn.CrossEntropy(logits, targets, nn.IgnoreIndex(int(target))).Item() }); err != nil {
				t.Errorf("ignored %d: %v", target, err)
			}
		}
	})
	t.Run("likelihoods are taken as they are", func(t *testing.T) {
		logs := nn.Of([]float32{-1e-9, -120, 3, -500}, 2, 2)
		loss := nn.NLL(logs, nn.Of([]int64{1, 0}), nn.NoReduction)
		wants(t, loss.SelectDim(0, 0), 120)
		wants(t, loss.SelectDim(0, 1), -3)
		wants(t, nn.NLL(logs, nn.Of([]int64{0, 1}), nn.ReduceSum), 500+1e-9)
		wants(t, nn.Grad(nn.NLL(logs, nn.Of([]int64{1, 0})), logs)[0].SelectDim(0, 0), 0, -0.5)
	})
	t.Run("the data of exclusive or", func(t *testing.T) {
		points := nn.RandomInts(0, 2, 16, 2)
		target := points.SelectDim(1, 0).NotEqual(points.SelectDim(1, 1)).Int()
		for i, p := range target.Ints() {
			if x := points.Ints()[2*i:]; p != x[0]^x[1] {
				t.Errorf("row %d: %v gives %d", i, x[:2], p)
			}
		}
		prints(t, "%v", fmt.Sprint(points.Shape(), target.Shape()), "[16 2] [16]")
	})
	t.Run("a step against the gradient lowers the loss", func(t *testing.T) {
		first, second := nn.NewLinear(2, 16), nn.NewLinear(16, 2)
		x, y := nn.Of([][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}), nn.Of([]int{0, 1, 1, 0})
		loss := func(w nn.Value) nn.Value {
			h := nn.ReLU(x.MatMul(w.T()).Add(first.Bias.Value()))
			return nn.CrossEntropy(second.Forward(h), y)
		}
		w := first.Weight.Value()
		before := loss(w)
		after := loss(w.Sub(nn.Grad(before, w)[0].Mul(0.1)))
		if !(after.Item() < before.Item()) {
			t.Errorf("the loss was %v and is %v", before, after)
		}
	})
	t.Run("names of a network of PyTorch", func(t *testing.T) {
		// Its file names these "conv.conv1.weight" and so on.
		type net struct{ Conv1, Conv2 nn.Conv2d }
		m := &struct {
			Conv net `nn:"conv"`
		}{net{nn.NewConv2d(2, 2, 2), nn.NewConv2d(2, 2, 2, nn.NoBias)}}
		nn.Name(m)
		var names []string
		for _, p := range nn.Params(m) {
			names = append(names, p.Name())
		}
		if want := []string{"conv.conv1.weight", "conv.conv1.bias", "conv.conv2.weight"}; !slices.Equal(names, want) {
			t.Errorf("%v, want %v", names, want)
		}
	})
	t.Run("a variant picks the names", func(t *testing.T) {
		type separable struct{ DConv, PConv nn.Conv2d }
		m := struct{ Conv any }{separable{nn.NewConv2d(2, 2, 3, nn.Groups(2)), nn.NewConv2d(2, 4, 1)}}
		nn.Name(m)
		if got := nn.Params(m)[2].Name(); got != "conv.p_conv.weight" {
			t.Error(got)
		}
		m.Conv = nn.NewConv2d(2, 4, 3)
		nn.Name(m)
		if got := nn.Params(m)[0].Name(); got != "conv.weight" {
			t.Error(got)
		}
	})
	t.Run("closeness", func(t *testing.T) {
		lines := nn.Of([]float64{1, 1, 1, 1}).Closeness(nn.Of([]float64{1, 1, 1.05, 3}))
		if lines[0] != "1e+00: 100.00 %" || lines[1] != "1e-01:  75.00 %" || lines[9] != "1e-09:  50.00 %" {
			t.Errorf("%q", lines)
		}
	})
}
