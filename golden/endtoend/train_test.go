package endtoend

import (
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
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

// TestTrainer holds the promises of a generated trainer to tests of its own.
func TestTrainer(t *testing.T) {
	long(t)
	m := newModule(t)
	model, err := gen.FromModule("model", drawn(t, trainedNet), gen.Options{Train: true, Loss: "mse", Package: "model"})
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
	m.copy(t, "trains", "train/train_test.go")
	m.run(t, nil, "vet", "./...")
	m.run(t, nil, "test", "./...")
}
