package endtoend

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
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

// described compiles a described model for the CPU.
func described() (*gen.Model, error) { return fixture.Described(nil) }

// TestDescribedTrainer tests the trainer of a described model.
func TestDescribedTrainer(t *testing.T) {
	module.Long(t)
	testTrainer(t, "described/described_test.go", described)
}

// TestPreparing trains a model, and tests when its weights are prepared. The tests read variables
// of the generated package.
func TestPreparing(t *testing.T) {
	module.Long(t)
	m := trainedModule(t, described)
	m.Copy(t, "model", "prepared/prepared_test.go")
	if *races {
		m.Run(t, []string{"CGO_ENABLED=1"}, "test", "-race", "-run", "Prepare|Swap", "./model")
	} else {
		m.Run(t, nil, "test", "./model")
	}
}

// TestStoring tests a package whose weights file has both the original and the prepared weights. It
// runs the tests of packages that train, and tests of which weights are used.
func TestStoring(t *testing.T) {
	module.Long(t)
	m := trainedModule(t, func() (*gen.Model, error) {
		return gen.FromModule("model", drawn(t, trainedNet), gen.Options{Train: true, Loss: "mse", Package: "model", Keep: emit.KeepBoth, CheckNaN: true})
	})
	m.Copy(t, "tests", "train/train_test.go")
	m.Copy(t, "model", "stored/stored_test.go")
	m.Run(t, nil, "vet", "./...")
	m.Run(t, nil, "test", "./...")
}

// TestTrainer tests a generated trainer.
func TestTrainer(t *testing.T) {
	module.Long(t)
	testTrainer(t, "train/train_test.go", func() (*gen.Model, error) {
		return gen.FromModule("model", drawn(t, trainedNet), gen.Options{Train: true, Loss: "mse", Package: "model", CheckNaN: true})
	})
}

// TestNarrowTrainer trains 16-bit weights. Steps keep 32-bit copies of them.
func TestNarrowTrainer(t *testing.T) {
	module.Long(t)
	narrow := strings.NewReplacer("weight fc1.weight : f32", "weight fc1.weight : f16", `%w1 = load {name="fc1.weight"} : f32[6,8]`,
		"%n1 = load {name=\"fc1.weight\"} : f16[6,8]\n  %w1 = cast %n1 {to=f32} : f32[6,8]").Replace(trainedNet)
	testTrainer(t, "narrow/narrow_test.go", func() (*gen.Model, error) {
		return gen.FromModule("model", drawn(t, narrow), gen.Options{Train: true, Loss: "mse", Package: "model"})
	})
}

// trainedModule generates the package model in a module.
func trainedModule(t *testing.T, compile func() (*gen.Model, error)) module.Module {
	t.Helper()
	m := module.New(t)
	model, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	files, err := model.Files()
	if err != nil {
		t.Fatal(err)
	}
	m.Add(t, "model", files)
	return m
}

// testTrainer generates the package model in a module and runs tests of it, which are in another
// folder of the module.
func testTrainer(t *testing.T, tests string, compile func() (*gen.Model, error)) {
	t.Helper()
	m := trainedModule(t, compile)
	m.Copy(t, "tests", tests)
	m.Run(t, nil, "vet", "./...")
	m.Run(t, nil, "test", "./...")
}
