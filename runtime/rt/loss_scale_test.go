package rt_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// scaled returns a training whose steps take a loss scale.
func scaled(t *testing.T) *rt.Training { return training(t, rt.TrainingOptions{Scaled: true}) }

// scaleIs asserts which factors the next step takes.
func scaleIs(t *testing.T, tr *rt.Training, exponent int) {
	t.Helper()
	want := []float32{float32(math.Ldexp(1, exponent)), float32(math.Ldexp(1, -exponent))}
	if got := tr.Scale(); !slices.Equal(got, want) {
		t.Errorf("the scale is %g, want 2^%d", got, exponent)
	}
}

// TestOverflowSkipsStep asserts that a step with a gradient that is not finite leaves the gradients and buffers
// as they were, and halves the scale.
func TestOverflowSkipsStep(t *testing.T) {
	tr := scaled(t)
	p := tr.Pass(whole)
	scaleIs(t, tr, 16)
	for i, x := range []float64{math.Inf(1), math.NaN(), math.Inf(-1)} {
		if err := step(tr, p, float32(x), nil); err != nil {
			t.Fatal(err)
		}
		if !tr.Params().UsedUp() || tr.Weight(3)[0] != 8 {
			t.Errorf("a step with gradients of %g changed something", x)
		}
		scaleIs(t, tr, 15-i)
	}
	if err := step(tr, p, 2, nil); err != nil {
		t.Fatal(err)
	}
	if err := step(tr, p, float32(math.Inf(1)), nil); err != nil { // beside gradients that are there
		t.Fatal(err)
	}
	if got := tr.Params().Gradient(0)[0]; got != 2 || !tr.Params().Fresh(0) {
		t.Errorf("after an overflow the gradient is %g, want the 2 of the step before", got)
	}
	scaleIs(t, tr, 12)
	if got := tr.Key()[1]; got != 5 {
		t.Errorf("%d steps, want 5", got)
	}
}

// TestScaleGrows asserts that the scale is doubled after 2,000 steps without overflow, up to a limit.
func TestScaleGrows(t *testing.T) {
	tr := scaled(t)
	p := tr.Pass(whole)
	steps := func(n int) {
		t.Helper()
		for range n {
			if err := step(tr, p, 1, nil); err != nil {
				t.Fatal(err)
			}
			tr.Params().UseUp()
		}
	}
	steps(1999)
	scaleIs(t, tr, 16)
	steps(1)
	scaleIs(t, tr, 17)
	steps(1999)
	if err := step(tr, p, float32(math.Inf(1)), nil); err != nil {
		t.Fatal(err)
	}
	scaleIs(t, tr, 16)
	steps(1999)
	scaleIs(t, tr, 16)
	steps(1 + 20*2000)
	scaleIs(t, tr, 24)
}

// TestScaleEnds asserts that a loss whose gradients are never finite is an error in the end.
func TestScaleEnds(t *testing.T) {
	tr := scaled(t)
	p := tr.Pass(whole)
	for range 40 {
		if err := step(tr, p, float32(math.NaN()), nil); err != nil {
			t.Fatal(err)
		}
	}
	scaleIs(t, tr, -24)
	if err := step(tr, p, float32(math.NaN()), nil); err == nil || !strings.HasPrefix(err.Error(), "net: gradients are not finite, although the loss is multiplied by ") {
		t.Errorf("got %v", err)
	}
}

// TestScaleIsState asserts that the scale is saved and restored, also through a trainer that does not use it,
// and that states without a scale can be restored.
func TestScaleIsState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	pass := func(from, to *rt.Training) {
		t.Helper()
		if err := rt.SaveState(path, map[string]rt.Stater{"t": from}); err != nil {
			t.Fatal(err)
		}
		if err := rt.LoadState(path, map[string]rt.Stater{"t": to}); err != nil {
			t.Fatal(err)
		}
	}
	from := scaled(t)
	p := from.Pass(whole)
	for _, x := range []float64{math.Inf(1), math.Inf(1), 1} {
		if err := step(from, p, float32(x), nil); err != nil {
			t.Fatal(err)
		}
	}
	plain, back := training(t, rt.TrainingOptions{}), scaled(t)
	pass(from, plain)
	pass(plain, back)
	scaleIs(t, back, 14)
	back.Params().UseUp()
	for i := range 1999 { // one step was made before
		if err := step(back, back.Pass(whole), 1, nil); err != nil {
			t.Fatal(err)
		}
		if back.Params().UseUp(); i == 1997 {
			scaleIs(t, back, 14)
		}
	}
	scaleIs(t, back, 15)

	pass(training(t, rt.TrainingOptions{}), back)
	scaleIs(t, back, 15)
	w, err := rt.CollectState(map[string]rt.Stater{"t": training(t, rt.TrainingOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.Names(), "t/training/loss_scale") {
		t.Error("a trainer without a scale saves one")
	}
	rt.Add(w, "t/training/loss_scale", []int64{25, 0}, 2)
	if err := rt.RestoreState(w, map[string]rt.Stater{"t": back}); err == nil || !strings.Contains(err.Error(), "a loss scale of 2^25 after 0 steps") {
		t.Errorf("got %v", err)
	}
}

// TestScaleHidesNaN asserts that a NaN in a step that overflows is not an error, although CheckNaN is set.
func TestScaleHidesNaN(t *testing.T) {
	tr := training(t, rt.TrainingOptions{Scaled: true, CheckNaN: true})
	p := tr.Pass(whole)
	nan := float32(math.NaN())
	p.Begin()
	tr.Watch().See("first", []float32{nan})
	tr.Gradient(0, false)[0] = nan
	if err := p.End(nil); err != nil {
		t.Errorf("gradients are not finite: %v", err)
	}
	p.Begin()
	tr.Watch().See("first", []float32{nan})
	tr.Gradient(0, false)[0] = 1
	if err := p.End(nil); err == nil || err.Error() != `node "first": computed a NaN` {
		t.Errorf("gradients are finite: %v", err)
	}
}
