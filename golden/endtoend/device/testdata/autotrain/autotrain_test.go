// Package autotrain trains with a package that chooses its target, and compares with the CPU's package.
package autotrain

import (
	"math"
	"os"
	"testing"

	"github.com/burngen/burngen/runtime/rt"

	"program/model"
	"program/model/auto"
)

const batch = 8

// TestSteps makes steps on both.
func TestSteps(t *testing.T) {
	m, err := auto.New(7)
	if err != nil {
		t.Fatal(err)
	}
	if want := os.Getenv("WANT"); m.Target() != want {
		t.Fatalf("computes on %s, want %s", m.Target(), want)
	}
	o := auto.TrainerOptions{Batch: batch, Seed: 3}
	got, err := m.NewTrainer(o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := model.New(7).NewTrainer(o)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]model.Image, batch), make([]int64, batch)
	for k := range 3 {
		rt.Uniform(rt.Flat[float32](x), 0, 1, uint32(k))
		a, err := got.Step(x, y)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Step(x, y)
		if err != nil {
			t.Fatal(err)
		}
		if a, b = same(a, b); math.Abs(float64(a.Loss-b.Loss)) > 1e-4*(1+math.Abs(float64(b.Loss))) {
			t.Errorf("the loss is %v, want %v", a.Loss, b.Loss)
		}
		got.Params().UseUp()
		want.Params().UseUp()
	}
	s, err := got.Model().NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	logits := make([]auto.Logits, batch)
	if err := s.Forward(logits, x); err != nil {
		t.Fatal(err)
	}
	if now := got.Model().Target(); now != m.Target() {
		t.Errorf("the trained model computes on %s, want %s", now, m.Target())
	}
}

// same returns its arguments, which have one type.
func same[T any](a, b T) (T, T) { return a, b }
