// Package narrow holds the promises of a trainer to tests where a weight has 16 bits.
package narrow

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"

	"program/model"
)

func TestSmallStepsAreNotLost(t *testing.T) {
	m, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := m.NewTrainer(model.TrainerOptions{Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]model.X, 4), make([]model.Target, 4)
	rt.Uniform(rt.Flat[float32](x), -1, 1, 1)
	rt.Uniform(rt.Flat[float32](y), -1, 1, 2)
	first, err := tr.Step(x, y)
	if err != nil {
		t.Fatal(err)
	}
	before := first.Loss
	w := tr.Params().Match("fc1.weight")
	if w.Err() != nil || w.Len() != 48 {
		t.Fatalf("fc1.weight has %d elements: %v", w.Len(), w.Err())
	}
	for range 400 {
		for k, g := range w.Gradient(0) {
			w.Value(0)[k] -= float32(1e-3 * g) // less than a step of 16 bits
		}
		tr.Params().UseUp()
		if _, err := tr.Step(x, y); err != nil {
			t.Fatal(err)
		}
	}
	after, err := tr.Loss(x, y)
	if err != nil {
		t.Fatal(err)
	}
	if !(after.Loss < before*0.99) {
		t.Errorf("the loss went from %g to %g", before, after.Loss)
	}
	path := filepath.Join(t.TempDir(), "w")
	snapshot := tr.Model()
	if err := snapshot.Save(path); err != nil {
		t.Fatal(err)
	}
	saved := rt.OpenWeightsFile(path)
	if info, _ := saved.Info("fc1.weight"); info.DType != "f16" {
		t.Errorf("fc1.weight is saved as %v", info)
	}
	got, err := snapshot.Loss(x, y)
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Loss - after.Loss; d > 1e-4 || d < -1e-4 {
		t.Errorf("the snapshot's loss is %g, the trainer's %g", got.Loss, after.Loss)
	}
}

func TestCheckNaNNeedsChecks(t *testing.T) {
	m, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.NewTrainer(model.TrainerOptions{Batch: 4, CheckNaN: true})
	if err == nil || !strings.Contains(err.Error(), "generate it with -check-nan") {
		t.Errorf("got %v, want how to get the checks", err)
	}
}
