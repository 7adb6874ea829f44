package rt

import (
	"slices"
	"testing"
)

// TestHold asserts which variables do not change while others are held: parameters that are held, and buffers of
// modules whose parameters are all held or frozen.
func TestHold(t *testing.T) {
	raw := NewWeights()
	variables := []Variable{
		{Name: "a.weight", Shape: []int{1}},
		{Name: "b.weight", Shape: []int{1}, Needed: true},
		{Name: "b.bias", Shape: []int{1}},
		{Name: "b.mean", Shape: []int{1}, Buffer: true},
		{Name: "steps", Shape: []int{1}, Buffer: true},
	}
	for _, v := range variables {
		Add(raw, v.Name, []float32{1}, 1)
	}
	tr, err := NewTraining(raw, variables, TrainingOptions{Where: "net", Batch: 1, Freeze: []string{"b.bias"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		held     bool
		patterns []string
		still    []bool
		ends     int
	}{
		{true, []string{"a", "steps"}, []bool{true, false, true, false, true}, 2},
		{false, []string{"a"}, []bool{false, false, true, false, true}, 3},
		{true, []string{"b"}, []bool{false, true, true, true, true}, 3},
		{false, []string{"**"}, []bool{false, false, true, false, false}, 3},
	} {
		if err := tr.hold("hold", c.patterns, c.held); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tr.still, c.still) {
			t.Errorf("%v, %t: still are %v, want %v", c.patterns, c.held, tr.still, c.still)
		}
		if p := tr.Pass(&Method{Ends: []int{3, 2, 1}}); p.Ends() != c.ends {
			t.Errorf("%v, %t: ends at %d, want %d", c.patterns, c.held, p.Ends(), c.ends)
		}
		if got := tr.Gradient(0, false) == nil; got != c.still[0] {
			t.Errorf("%v, %t: the gradient of a.weight has no memory: %t", c.patterns, c.held, got)
		}
		if tr.Gradient(1, false) == nil || tr.Gradient(1, true) == nil {
			t.Errorf("%v, %t: a gradient that is needed has no memory", c.patterns, c.held)
		}
	}
}

func TestTrainersFreeze(t *testing.T) {
	tr := lineOf(t, TrainingOptions{Batch: 1})
	if err := tr.Freeze("a"); err == nil || err.Error() != "net: NewTrainer: freeze: nothing would be left to train" {
		t.Errorf("got %v", err)
	}
	if _, err := tr.TrainForward([][1]float32{{1}}); err != nil {
		t.Fatal(err)
	}
	if err := tr.Unfreeze("a"); err != nil {
		t.Fatal(err)
	}
	if err := tr.Backward([][1]float32{{1}}); err == nil {
		t.Error("Backward does not know that Unfreeze was between")
	}
	if err := tr.frame.guard.Enter(); err != nil {
		t.Fatal(err)
	}
	if err := tr.Unfreeze("a"); err != ErrBusy {
		t.Errorf("got %v during a call", err)
	}
}
