package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/finetune/signs"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

func drawn(t *testing.T, n int, seed uint64) set {
	t.Helper()
	s, err := draw(n, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLearnsSigns(t *testing.T) {
	n, others, least := 10, 20, 0.95
	if testing.Short() {
		n, others, least = 2, 2, 0.3 // chance is 0.2
	}
	rest := drawn(t, others, 2)
	var out bytes.Buffer
	m, err := train(&out, 42, drawn(t, n, 1), rest)
	if err != nil {
		t.Fatal(err)
	}
	right, err := accuracy(m, rest)
	if err != nil || right < least || strings.Count(out.String(), "\n") != len(stages) {
		t.Errorf("%.3f are right, %v; it writes\n%s", right, err, &out)
	}
}

// TestAFrozenBodyStaysWhatItIs takes a step of each stage, and asserts that frozen parameters do
// not change.
func TestAFrozenBodyStaysWhatItIs(t *testing.T) {
	s := drawn(t, 1, 1)
	m := signs.New(42)
	begin := saved(t, m)
	for _, stage := range stages {
		trainer, err := m.NewTrainer(signs.TrainerOptions{Batch: batch, Freeze: stage.freeze})
		if err != nil {
			t.Fatal(err)
		}
		opt, err := optim.NewAdam(trainer.Params(), optim.AdamConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Step(s.X, s.Y); err != nil {
			t.Fatal(err)
		}
		if err := opt.Step(1e-3); err != nil {
			t.Fatal(err)
		}
		after := saved(t, trainer.Model())
		for _, name := range begin.Names() {
			same := bytes.Equal(begin.Raw(name), after.Raw(name))
			if want := stage.freeze != nil && strings.HasPrefix(name, "body."); same != want {
				t.Errorf("%s: %s is as it was: %v, %v expected", stage.name, name, same, want)
			}
		}
	}
}

// saved returns a model's weights.
func saved(t *testing.T, m *signs.Model) *rt.Weights {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	t.Cleanup(func() { w.Close() })
	return w
}
