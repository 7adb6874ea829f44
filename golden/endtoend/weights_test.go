package endtoend

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/images"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// mnist is the network for which the corpus has weights.
type mnist struct {
	Conv1, Conv2, Conv3 nn.Conv2d
	Norm1, Norm2        nn.BatchNorm
	FC1, FC2            nn.Linear
}

func newMNIST() *mnist {
	return &mnist{
		Conv1: nn.NewConv2d(1, 8, 3), Conv2: nn.NewConv2d(8, 16, 3), Conv3: nn.NewConv2d(16, 24, 3),
		Norm1: nn.NewBatchNorm(24), Norm2: nn.NewBatchNorm(10),
		FC1: nn.NewLinear(24*22*22, 32), FC2: nn.NewLinear(32, 10),
	}
}

func (m *mnist) forward(image nn.Value) nn.Value {
	x := image.Unsqueeze(1)
	for _, c := range []nn.Conv2d{m.Conv1, m.Conv2, m.Conv3} {
		x = nn.ReLU(c.Forward(x))
	}
	x = nn.ReLU(m.FC1.Forward(m.Norm1.Forward(x).Flatten(1, -1)))
	return nn.LogSoftmax(m.Norm2.Forward(m.FC2.Forward(x)), 1)
}

// mnistSource records the network; nested, its names begin with "net.".
func mnistSource(t *testing.T, nested bool) *gen.Source {
	t.Helper()
	r, err := nn.Record(func(r *nn.Recorder) {
		m := newMNIST()
		if nested {
			r.Model(&struct{ Net *mnist }{m})
		} else {
			r.Model(m)
		}
		r.Method(nn.Method{
			Name: "Forward", Pos: "model.go:1:1", Params: []string{"image"}, Results: []string{"scores"},
			Signature: func() string { return "(f32[N,28,28]) -> f32[N,10]" },
		}, func(in []nn.Value) []nn.Value { return []nn.Value{m.forward(in[0])} })
	})
	if err != nil {
		t.Fatal(err)
	}
	src, err := gen.FromRecord("mnist", "model.go", strings.Repeat("0", 64), nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// weightsOf opens a file of weights.
func weightsOf(t *testing.T, path string) *rt.Weights {
	t.Helper()
	w := rt.OpenWeightsFile(path)
	if filepath.Ext(path) == ".pt" {
		var err error
		if w, err = pytorch.Open(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// TestWeightsIntoADescription loads the weights that PyTorch saved into a described network. The
// network then recognises digits, and gives the results of the same network as an ONNX file.
func TestWeightsIntoADescription(t *testing.T) {
	files := fixture.Corpus("weights/burn-mnist").Dir(t)
	digits, err := images.MNIST(fixture.Corpus("datasets/mnist").Dir(t), images.Test)
	if err != nil {
		t.Fatal(err)
	}
	const count = 200
	var pixels []float32
	var labels []uint8
	for d, err := range data.All(data.Part(digits, 0, count)) {
		if err != nil {
			t.Fatal(err)
		}
		standard := d.Standard()
		pixels, labels = append(pixels, rt.FlatOf[float32](&standard)...), append(labels, d.Label)
	}
	for _, file := range []string{"mnist.pt", "mnist.safetensors"} {
		path := filepath.Join(files, file)
		onnx, err := gen.Load(fixture.Corpus("models/mnist-burn").Path(t), gen.Options{Foreign: &gen.Foreign{File: file, Weights: weightsOf(t, path)}})
		if err != nil {
			t.Fatal(err)
		}
		for name, options := range map[string][]keys.Option{"": nil, " with a prefix": {keys.Remap("^=>net.")}} {
			t.Run(file+name, func(t *testing.T) {
				o, err := keys.NewOptions(options...)
				if err != nil {
					t.Fatal(err)
				}
				m, err := gen.CompileSource(mnistSource(t, len(options) > 0), gen.Options{Foreign: &gen.Foreign{File: file, Weights: weightsOf(t, path), Keys: *o}})
				if err != nil {
					t.Fatal(err)
				}
				scores := compute(t, m, pixels, count, 28, 28)
				right := 0
				for i, label := range labels {
					row := scores[i*10:][:10]
					if slices.Index(row, slices.Max(row)) == int(label) {
						right++
					}
				}
				if right < count*97/100 {
					t.Errorf("%d of %d digits are read", right, count)
				}
				want := compute(t, onnx, pixels[:28*28], 1, 1, 28, 28)
				for i, x := range want {
					if math.Abs(float64(scores[i]-x)) > 1e-4 {
						t.Errorf("score %d is %v, %v as ONNX", i, scores[i], x)
					}
				}
			})
		}
	}
}

// compute runs a model with one f32 input and one f32 output.
func compute(t *testing.T, m *gen.Model, x []float32, shape ...int) []float32 {
	t.Helper()
	results, _, err := m.Run([]any{x}, [][]int{shape})
	if err != nil {
		t.Fatal(err)
	}
	return results[0].([]float32)
}

// TestWeightsIntoPackages builds packages of one network and gives them weights that PyTorch saved,
// at generation and at run time.
func TestWeightsIntoPackages(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := module.New(t)
	m.Copy(t, "weights", "weights/sequence_test.go")
	checkpoint := filepath.Join(module.Root, "pytorch", "testdata", "checkpoint_2.pt")
	m.Write(t, "weights/checkpoint.pt", module.ReadFile(t, checkpoint))
	model := fixture.Sequence.Write(t)
	m.Generate(t, "sequence", model)
	m.Generate(t, "filled", model, "-weights", checkpoint, "-top-key", "model", "-remap", `^(\d)=>net.$1`)
	if trained := fixture.Corpus("weights/burn-mnist"); trained.There() {
		m.Copy(t, "weights", "weights/mnist_test.go")
		file := filepath.Join(trained.Dir(t), "mnist.pt")
		m.Write(t, "weights/mnist.pt", module.ReadFile(t, file))
		m.Generate(t, "mnist", fixture.Corpus("models/mnist-burn").Path(t))
		m.Generate(t, "trained", fixture.Corpus("models/mnist-burn").Path(t), "-weights", file)
	} else {
		t.Logf("no corpus: without %s", trained)
	}
	m.Run(t, nil, "test", "./weights")
}
