package endtoend

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/op"
)

// trainedNet is a perceptron whose nodes have names.
const trainedNet = `
weight fc1.weight : f32[6,8]
weight fc1.bias : f32[8]
weight fc2.weight : f32[8,3]
weight fc2.bias : f32[3]

func @forward(%x: f32[N,6]) -> (scores: f32[N,3]) {
  %w1 = load {name="fc1.weight"} : f32[6,8]  // first
  %b1 = load {name="fc1.bias"} : f32[8]  // first
  %0 = mat_mul %x, %w1 : f32[N,8]  // first
  %1 = add %0, %b1 : f32[N,8]  // first
  %hidden = tanh %1 : f32[N,8]  // tanh
  %w2 = load {name="fc2.weight"} : f32[8,3]  // second
  %b2 = load {name="fc2.bias"} : f32[3]  // second
  %2 = mat_mul %hidden, %w2 : f32[N,3]  // second
  %scores = add %2, %b2 : f32[N,3]  // second
  return %scores
}
`

// drawn parses a module and draws its weights.
func drawn(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range m.Weights {
		n, _ := w.Type.Elems().Int()
		shape, _ := w.Type.Static()
		data := exec.MakeSlice(w.Type.DType, n)
		exec.Draw(w.Type.DType, data, -1, 1, uint32(i+1))
		x, err := value.FromSlice(w.Type.DType, shape, data)
		if err != nil {
			t.Fatal(err)
		}
		w.Data = x.Bytes()
	}
	return m
}

// described is a model that package nn describes.
type described struct {
	Conv     nn.Conv2d
	Norm     nn.BatchNorm
	FC1, FC2 nn.Linear
	Drop     nn.Dropout
}

func (m *described) forward(image nn.Value) nn.Value {
	x := nn.ReLU(m.Norm.Forward(m.Conv.Forward(image.Unsqueeze(1))))
	x = nn.AdaptiveAvgPool2d(x, 4, 4).Flatten(1, -1)
	return m.FC2.Forward(m.Drop.Forward(nn.ReLU(m.FC1.Forward(x))))
}

// record records the model, with a second loss.
func (m *described) record(r *nn.Recorder) {
	r.Model(m)
	method := func(name, signature, params, results string, build func(in []nn.Value) []nn.Value) {
		r.Method(nn.Method{
			Name: name, Loss: strings.HasSuffix(name, "Loss"), Pos: "model.go:1:1",
			Signature: func() string { return signature }, Params: strings.Fields(params), Results: strings.Fields(results),
		}, build)
	}
	method("Forward", "(f32[N,8,8]) -> f32[N,4]", "image", "logits", func(in []nn.Value) []nn.Value {
		return []nn.Value{m.forward(in[0])}
	})
	method("Loss", "(f32[N,8,8], i64[N]) -> (f32[], f32[N,4])", "image target", "loss logits", func(in []nn.Value) []nn.Value {
		logits := m.forward(in[0])
		return []nn.Value{nn.CrossEntropy(logits, in[1]), logits}
	})
	method("DecayLoss", "(f32[N,8,8]) -> f32[]", "image", "loss", func(in []nn.Value) []nn.Value {
		w := m.FC2.Weight.Value()
		return []nn.Value{w.Mul(w).Sum().Add(in[0].Mul(0).Sum())}
	})
}

// compileDescribed compiles the described model for the CPU.
func compileDescribed() (*gen.Model, error) { return compileDescribedFor(nil) }

// compileDescribedFor compiles the described model for a target. A nil target is the CPU.
func compileDescribedFor(to target.Target) (*gen.Model, error) {
	r, err := nn.Record(func(r *nn.Recorder) {
		m := &described{Conv: nn.NewConv2d(1, 4, 3), Norm: nn.NewBatchNorm(4), FC1: nn.NewLinear(64, 32), FC2: nn.NewLinear(32, 4), Drop: nn.NewDropout(0.2)}
		m.record(r)
	})
	if err != nil {
		return nil, err
	}
	src, err := gen.FromRecord("net", "model.go", strings.Repeat("0", 64), map[string]string{"Forward": "Forward maps images to logits."}, r)
	if err != nil {
		return nil, err
	}
	name := "model"
	if to != nil && to.Name() != target.All[0].Name() {
		name = to.Name()
	}
	return gen.CompileSource(src, gen.Options{Train: true, Package: name, Target: to})
}

// TestDescribedTrainer tests the trainer of a described model.
func TestDescribedTrainer(t *testing.T) {
	long(t)
	testTrainer(t, "described/described_test.go", compileDescribed)
}

// TestPreparing trains a model, and tests when its weights are prepared. The tests read variables
// of the generated package.
func TestPreparing(t *testing.T) {
	long(t)
	m := trainedModule(t, compileDescribed)
	m.copy(t, "model", "prepared/prepared_test.go")
	if *races {
		m.run(t, []string{"CGO_ENABLED=1"}, "test", "-race", "-run", "Prepare|Swap", "./model")
	} else {
		m.run(t, nil, "test", "./model")
	}
}

// TestStoring tests a package whose weights file has both the original and the prepared weights. It
// runs the tests of packages that train, and tests of which weights are used.
func TestStoring(t *testing.T) {
	long(t)
	m := trainedModule(t, func() (*gen.Model, error) {
		return gen.FromModule("model", drawn(t, trainedNet), gen.Options{Train: true, Loss: "mse", Package: "model", Keep: emit.KeepBoth, CheckNaN: true})
	})
	m.copy(t, "tests", "train/train_test.go")
	m.copy(t, "model", "stored/stored_test.go")
	m.run(t, nil, "vet", "./...")
	m.run(t, nil, "test", "./...")
}

// TestTrainer tests a generated trainer.
func TestTrainer(t *testing.T) {
	long(t)
	testTrainer(t, "train/train_test.go", func() (*gen.Model, error) {
		return gen.FromModule("model", drawn(t, trainedNet), gen.Options{Train: true, Loss: "mse", Package: "model", CheckNaN: true})
	})
}

// TestNarrowTrainer trains 16-bit weights. Steps keep 32-bit copies of them.
func TestNarrowTrainer(t *testing.T) {
	long(t)
	narrow := strings.NewReplacer("weight fc1.weight : f32", "weight fc1.weight : f16", `%w1 = load {name="fc1.weight"} : f32[6,8]`,
		"%n1 = load {name=\"fc1.weight\"} : f16[6,8]\n  %w1 = cast %n1 {to=f32} : f32[6,8]").Replace(trainedNet)
	testTrainer(t, "narrow/narrow_test.go", func() (*gen.Model, error) {
		return gen.FromModule("model", drawn(t, narrow), gen.Options{Train: true, Loss: "mse", Package: "model"})
	})
}

// trainedModule generates the package model in a module.
func trainedModule(t *testing.T, compile func() (*gen.Model, error)) module {
	t.Helper()
	m := newModule(t)
	model, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	files, err := model.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		m.write(t, "model/"+f.Name, string(f.Data))
	}
	return m
}

// testTrainer generates the package model in a module and runs tests of it, which are in another
// folder of the module.
func testTrainer(t *testing.T, tests string, compile func() (*gen.Model, error)) {
	t.Helper()
	m := trainedModule(t, compile)
	m.copy(t, "tests", tests)
	m.run(t, nil, "vet", "./...")
	m.run(t, nil, "test", "./...")
}
