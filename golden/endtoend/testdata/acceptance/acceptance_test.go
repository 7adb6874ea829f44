package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"

	"program/cnn"
	"program/describe/experiment"
	"program/fusion"
	"program/mlp"
	"program/net"
	"program/plain"
	"program/separable"
)

func TestConfiguration(t *testing.T) {
	c := experiment.NewExperimentConfig(64)
	if want := (experiment.ExperimentConfig{HiddenSize: 64, Dropout: 0.5, Activation: "relu", LR: 1e-4}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	changed := c.WithDropout(0.3)
	if c.Dropout != 0.5 || changed.Dropout != 0.3 {
		t.Errorf("%+v became %+v", c, changed)
	}
	path := filepath.Join(t.TempDir(), "config.json")
	if err := changed.Save(path); err != nil {
		t.Fatal(err)
	}
	if again, err := experiment.LoadExperimentConfig(path); err != nil || again != changed {
		t.Errorf("%+v is read as %+v, %v", changed, again, err)
	}
}

func TestMLP(t *testing.T) {
	var y []mlp.Output
	y, err := mlp.New(1).Forward(make([]mlp.X, 16))
	if err != nil || len(y) != 16 || len(y[0]) != 3 {
		t.Errorf("%d×%d, %v", len(y), len(mlp.Output{}), err)
	}
}

func TestCNN(t *testing.T) {
	y, err := cnn.New(1).Forward(make([]cnn.Image, 4))
	if err != nil || len(y) != 4 || len(y[0]) != 10 {
		t.Errorf("%d×%d, %v", len(y), len(cnn.Output{}), err)
	}
}

// expected holds results that PyTorch computed.
var expected = func() (e struct {
	X, Conv2d, Variant []float32
	KeyRemap           []float32 `json:"key_remap"`
}) {
	text, err := os.ReadFile("expected.json")
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		panic(err)
	}
	return e
}()

// same compares the output of a network with PyTorch's.
func same(t *testing.T, forward func(x, y []float32) error, want []float32) {
	t.Helper()
	y := make([]float32, len(want))
	if err := forward(expected.X, y); err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		if math.Abs(float64(y[i]-v)) > 1e-5 {
			t.Errorf("element %d is %v, not %v", i, y[i], v)
		}
	}
}

func open(t *testing.T, name string, options ...pytorch.Option) *rt.Weights {
	t.Helper()
	w, err := pytorch.Open(name+".pt", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestPyTorchNet(t *testing.T) {
	for _, tt := range []struct {
		w    *rt.Weights
		want []float32
	}{
		{open(t, "conv2d"), expected.Conv2d},
		{open(t, "key_remap", pytorch.Remap(`conv\.(.*)=>$1`)), expected.KeyRemap},
	} {
		m, err := net.LoadFrom(tt.w)
		if err != nil {
			t.Fatal(err)
		}
		same(t, func(x, y []float32) error {
			var in net.X
			copy(rt.FlatOf[float32](&in), x)
			out, err := m.Forward([]net.X{in})
			copy(y, rt.Flat[float32](out))
			return err
		}, tt.want)
	}
	if _, err := net.LoadFrom(open(t, "key_remap")); err == nil || !strings.Contains(err.Error(), "conv1.weight") {
		t.Errorf("names that nothing rewrites: %v", err)
	}
}

// TestVariant gives the weights to each variant: one fits.
func TestVariant(t *testing.T) {
	if _, err := plain.LoadFrom(open(t, "variant")); err == nil || !strings.Contains(err.Error(), "conv.weight") {
		t.Errorf("the other variant takes them: %v", err)
	}
	m, err := separable.LoadFrom(open(t, "variant"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, func(x, y []float32) error {
		var in separable.X
		copy(rt.FlatOf[float32](&in), x)
		out, err := m.Forward([]separable.X{in})
		copy(y, rt.Flat[float32](out))
		return err
	}, expected.Variant)
}

// TestFusion compares the gradient of the fused operator with that of separate operators.
func TestFusion(t *testing.T) {
	x, y := nn.Uniform(0, 1, 32, 32), nn.Uniform(0, 1, 32, 32)
	want := nn.Grad(x.Add(y).MatMul(x).Exp().Sum(), y)[0].Floats()
	var a, b fusion.X
	for i, v := range x.Floats() {
		rt.FlatOf[float32](&a)[i] = float32(v)
	}
	for i, v := range y.Floats() {
		rt.FlatOf[float32](&b)[i] = float32(v)
	}
	got, err := fusion.New(1).Forward(&a, &b)
	if err != nil {
		t.Fatal(err)
	}
	largest := slices.Max(want)
	for i, v := range rt.FlatOf[float32](got) {
		if math.Abs(float64(v)-want[i]) > 1e-4*math.Abs(want[i])+1e-7*largest {
			t.Errorf("element %d is %v, not %v", i, v, want[i])
		}
	}
}

func TestBatchesOfExclusiveOr(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 0))
	inputs, targets := make([][2]float32, 200), make([]int64, 200)
	for i := range inputs {
		a, b := rng.IntN(2), rng.IntN(2)
		inputs[i], targets[i] = [2]float32{float32(a), float32(b)}, int64(a^b)
	}
	var shapes []string
	batches := data.Load(data.Zipped(data.Of(inputs), data.Of(targets)), data.Pairs(data.Copy[[2]float32, int64]), data.LoaderOptions{Batch: 16, Shuffle: true, Seed: 42})
	for b, err := range batches.Epoch(t.Context(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range b.X {
			if int64(p[0])^int64(p[1]) != b.Y[i] {
				t.Errorf("%v has target %d", p, b.Y[i])
			}
		}
		shapes = append(shapes, fmt.Sprintf("inputs %v, targets %v", nn.Of(b.X).Shape(), nn.Of(b.Y).Shape()))
	}
	want := append(slices.Repeat([]string{"inputs [16 2], targets [16]"}, 12), "inputs [8 2], targets [8]")
	if !slices.Equal(shapes, want) {
		t.Errorf("%q", shapes)
	}
}
