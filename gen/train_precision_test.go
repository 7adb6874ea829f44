package gen_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir"
)

// convolutional is a model whose backward pass has convolutions.
const convolutional = `
weight conv1.weight : f32[2,2,3,3]
weight conv1.bias : f32[2]
weight conv2.weight : f32[2,2,3,3]
weight fc.weight : f32[32,3]

func @forward(%x: f32[N,2,4,4]) -> (logits: f32[N,3]) {
  %w = load {name="conv1.weight"} : f32[2,2,3,3]
  %b = load {name="conv1.bias"} : f32[2]
  %v = load {name="conv2.weight"} : f32[2,2,3,3]
  %m = load {name="fc.weight"} : f32[32,3]
  %c = conv %x, %w, %b {window={kernel=[3,3] pads=[1,1,1,1]} group=1} : f32[N,2,4,4]
  %c2 = conv %c, %v {window={kernel=[3,3] pads=[1,1,1,1]} group=1} : f32[N,2,4,4]
  %r = relu %c2 : f32[N,2,4,4]
  %f = reshape %r {shape=[N,32]} : f32[N,32]
  %logits = mat_mul %f, %m : f32[N,3]
  return %logits
}
`

// transformer is an encoder of one layer on 4 tokens of 8 features, and a classifier of its first token.
const transformer = `
weight q : f32[8,8]
weight k : f32[8,8]
weight v : f32[8,8]
weight o : f32[8,8]
weight scale : f32[8]
weight bias : f32[8]
weight up : f32[8,16]
weight down : f32[16,8]
weight head : f32[8,3]

func @forward(%x: f32[N,4,8]) -> (logits: f32[N,3]) {
  %wq = load {name="q"} : f32[8,8]
  %wk = load {name="k"} : f32[8,8]
  %wv = load {name="v"} : f32[8,8]
  %wo = load {name="o"} : f32[8,8]
  %s = load {name="scale"} : f32[8]
  %b = load {name="bias"} : f32[8]
  %wup = load {name="up"} : f32[8,16]
  %wdown = load {name="down"} : f32[16,8]
  %wh = load {name="head"} : f32[8,3]
  %n = layer_normalization %x, %s, %b {axis=2 epsilon=1e-05} : f32[N,4,8]
  %pq = mat_mul %n, %wq : f32[N,4,8]
  %pk = mat_mul %n, %wk : f32[N,4,8]
  %pv = mat_mul %n, %wv : f32[N,4,8]
  %q = reshape %pq {shape=[N,1,4,8]} : f32[N,1,4,8]
  %k = reshape %pk {shape=[N,1,4,8]} : f32[N,1,4,8]
  %v = reshape %pv {shape=[N,1,4,8]} : f32[N,1,4,8]
  %a = attention %q, %k, %v {scale=0.35 before=-1 after=-1} : f32[N,1,4,8]
  %m = reshape %a {shape=[N,4,8]} : f32[N,4,8]
  %p = mat_mul %m, %wo : f32[N,4,8]
  %y = add %x, %p : f32[N,4,8]
  %n2 = layer_normalization %y, %s, %b {axis=2 epsilon=1e-05} : f32[N,4,8]
  %u = mat_mul %n2, %wup : f32[N,4,16]
  %r = relu %u : f32[N,4,16]
  %d = mat_mul %r, %wdown : f32[N,4,8]
  %z = add %y, %d : f32[N,4,8]
  %first = slice %z {starts=[0,0,0] shape=[N,1,8] steps=[1,1,1]} : f32[N,1,8]
  %t = reshape %first {shape=[N,8]} : f32[N,8]
  %logits = mat_mul %t, %wh : f32[N,3]
  return %logits
}
`

// causalTransformer is the transformer with 16 features, attention to earlier tokens as a formula, and a classifier of
// the last token.
var causalTransformer = strings.NewReplacer(
	"16", "32", "8", "16", "starts=[0,0,0]", "starts=[0,3,0]",
	"  %a = attention %q, %k, %v {scale=0.35 before=-1 after=-1} : f32[N,1,4,8]\n", `  %kt = transpose %k {perm=[0,1,3,2]} : f32[N,1,16,4]
  %scale = constant {value=f32[](0.35)} : f32[]
  %ones = constant {value=i32[4,4](1...)} : i32[4,4]
  %zero = constant {value=i32[](0)} : i32[]
  %none = constant {value=f32[](-Inf)} : f32[]
  %scores = mat_mul %q, %kt : f32[N,1,4,4]
  %scaled = mul %scores, %scale : f32[N,1,4,4]
  %triangle = trilu %ones : i32[4,4]
  %later = equal %triangle, %zero : bool[4,4]
  %seen = where %later, %none, %scaled : f32[N,1,4,4]
  %shares = softmax %seen {axis=3} : f32[N,1,4,4]
  %a = mat_mul %shares, %v : f32[N,1,4,16]
`,
).Replace(transformer)

// examples is the size of the batch of a learner.
const examples = 4

// learner trains a model by gradient descent on one batch, on interpreted kernels.
type learner struct {
	*gen.Model
	step    *gen.TrainFunc
	target  gpu.Target
	weights map[string][]float32
	args    []any
	shapes  [][]int
}

// newLearner returns a learner of a model with 3 classes.
func newLearner(t *testing.T, text string, p gpu.Precision) *learner {
	t.Helper()
	target := cuda.Target()
	target.Precision, target.Device = p, gpu.Interpreter{}
	m, err := gen.FromModule("net", drawn(t, text), gen.Options{Train: true, Loss: "cross_entropy", Target: target})
	if err != nil {
		t.Fatal(err)
	}
	l := &learner{Model: m, step: m.Training.Steps[0], target: target, weights: map[string][]float32{}}
	for _, name := range m.Training.Params {
		x, err := exec.Weights(m.Raw)(name)
		if err != nil {
			t.Fatal(err)
		}
		l.weights[name] = slices.Clone(x.([]float32))
		for i := range l.weights[name] {
			l.weights[name][i] /= 2
		}
	}
	for _, p := range l.step.IR.Params {
		shape := make([]int, p.Type.Rank())
		for i, d := range p.Type.Shape {
			shape[i] = examples
			if n, ok := d.Int(); ok {
				shape[i] = n
			}
		}
		n, err := ir.CheckedLen(shape)
		if err != nil {
			t.Fatal(err)
		}
		data := exec.MakeSlice(p.Type.DType, n)
		if labels, ok := data.([]int64); ok {
			for i := range labels {
				labels[i] = int64(i % 3)
			}
		} else {
			exec.Draw(p.Type.DType, data, -1, 1, 7)
		}
		l.args, l.shapes = append(l.args, data), append(l.shapes, shape)
	}
	return l
}

// gradients returns the loss and the gradients, with a loss scale in f16.
func (l *learner) gradients(t *testing.T, scale float32) (loss float64, gradients map[string][]float32) {
	t.Helper()
	args := l.args
	if l.target.Precision == gpu.F16 {
		args = append(slices.Clone(args[:len(args)-1]), []float32{scale, 1 / scale})
	}
	out, _, err := exec.New(l.step.Func, l.target, func(name string) (any, error) {
		if w, ok := l.weights[name]; ok {
			return w, nil
		}
		return exec.Weights(l.Raw)(name)
	}).Run(t.Context(), args, l.shapes)
	if err != nil {
		t.Fatal(err)
	}
	gradients = map[string][]float32{}
	for i, name := range l.step.IR.ResultNames {
		if name, ok := strings.CutPrefix(name, "grad/"); ok {
			gradients[name] = out[i].([]float32)
		}
	}
	return float64(out[0].([]float32)[0]), gradients
}

// learn makes steps and returns the loss of each.
func (l *learner) learn(t *testing.T, steps int) (losses []float64) {
	t.Helper()
	for range steps {
		loss, gradients := l.gradients(t, 1<<16)
		losses = append(losses, loss)
		for name, g := range gradients {
			for i := range g {
				l.weights[name][i] -= float32(0.2 * g[i])
			}
		}
	}
	return losses
}

// TestLearnsInPrecisions trains models in each precision. The decrease of the loss is Σ rate·g² to first order,
// so an error of the gradients by a share r changes it by about 2r. A loss itself is off by about r, too.
func TestLearnsInPrecisions(t *testing.T) {
	const steps = 8
	for name, text := range map[string]string{
		"perceptron": perceptron, "convolutional": convolutional, "transformer": transformer, "causal transformer": causalTransformer,
	} {
		t.Run(name, func(t *testing.T) {
			want := newLearner(t, text, gpu.F32).learn(t, steps)
			if !(want[steps-1] < 0.7*want[0]) {
				t.Errorf("in f32 the loss goes from %g to %g", want[0], want[steps-1])
			}
			for _, p := range []gpu.Precision{gpu.TF32, gpu.F16, gpu.BF16} {
				l := newLearner(t, text, p)
				got := l.learn(t, steps)
				share := 3 * p.Rounding(l.Module, l.step.IR)
				most := 0.0
				for i := range want {
					most = max(most, math.Abs(got[i]-want[i]))
				}
				if !(most <= share*want[0]) || most < share*want[0]/1e4 {
					t.Errorf("%s: losses are off by up to %g; a share of %g of the first, %g, is expected", p, most, share, want[0])
				}
				if again := newLearner(t, text, p).learn(t, 2); !slices.Equal(again, got[:2]) {
					t.Errorf("%s: the losses of a second run are %v, of the first %v", p, again, got[:2])
				}
			}
		})
	}
}

// TestTrainsAttention asserts that the gradient of an attention that a model has as a formula is computed by a kernel in 16
// bits, without a mask, and by the derivatives of the formula in f32.
func TestTrainsAttention(t *testing.T) {
	for _, p := range []gpu.Precision{gpu.F32, gpu.TF32, gpu.F16, gpu.BF16} {
		l := newLearner(t, causalTransformer, p)
		text := l.Module.Func(l.step.IR.Name).String()
		want := p == gpu.F16 || p == gpu.BF16
		if strings.Contains(text, "attend_gradient") != want || strings.Contains(text, "const/") == want {
			t.Errorf("%s: a kernel of the gradient is expected: %t\n%s", p, want, text)
		}
	}
}

// TestGradientsAreF32 asserts that weights and gradients of training in 16 bits are f32, and that the products of
// the backward pass have narrow factors.
func TestGradientsAreF32(t *testing.T) {
	for _, p := range []gpu.Precision{gpu.F16, gpu.BF16} {
		l := newLearner(t, perceptron, p)
		for i, name := range l.step.IR.ResultNames {
			if r := l.step.IR.Results[i]; strings.HasPrefix(name, "grad/") && r.Type.DType != ir.F32 {
				t.Errorf("%s is %s", name, r.Type)
			}
		}
		text := l.Module.Func(l.step.IR.Name).String()
		if n := strings.Count(text, "= mat_mul "); n != 5 { // two forward, and of the second the gradients of both factors
			t.Errorf("%d products, want 5\n%s", n, text)
		}
		for name := range l.weights {
			if w := l.Module.Weight(name); w.Type.DType != ir.F32 {
				t.Errorf("weight %s is %s", name, w.Type)
			}
		}
	}
}

// TestScaleSavesSmallGradients computes gradients of a loss that is so small that gradients of activations would
// be 0 in f16. With a scale they are those of f32.
func TestScaleSavesSmallGradients(t *testing.T) {
	small := strings.Replace(perceptron, "  return %logits", "  %c = constant {value=f32[](1e-05)} : f32[]\n  %small = mul %logits, %c : f32[N,3]\n  return %small", 1)
	_, want := newLearner(t, small, gpu.F32).gradients(t, 1)
	l := newLearner(t, small, gpu.F16)
	off := func(scale float32) float64 {
		_, got := l.gradients(t, scale)
		size, off := 0.0, 0.0
		for name := range want {
			for i, g := range want[name] {
				size, off = max(size, math.Abs(float64(g))), max(off, math.Abs(float64(got[name][i]-g)))
			}
		}
		return off / size
	}
	if plain, scaled := off(1), off(1<<16); !(scaled < 1.0/256) || plain < 16*scaled {
		t.Errorf("gradients are off by %g, with a scale of 65536 by %g", plain, scaled)
	}
	if _, g := l.gradients(t, float32(math.Inf(1))); !slices.ContainsFunc(g["fc1.weight"], func(v float32) bool { return v-v != 0 }) {
		t.Error(fmt.Sprint("gradients of an infinite loss are finite: ", g["fc1.weight"]))
	}
}
