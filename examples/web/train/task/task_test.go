package task

import "testing"

// TestTasks trains each task until its answers are right.
func TestTasks(t *testing.T) {
	for name, c := range map[string]struct{ steps, right int }{"xor": {600, 4}, "digits": {50, 35}} {
		task, err := New(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		var first, last float64
		for i := range c.steps {
			loss, err := task.Step()
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = loss
			}
			last = loss
		}
		v, err := task.Look()
		if err != nil {
			t.Fatal(err)
		}
		if v.Right < c.right || last > first/2 {
			t.Errorf("%s: %d of %d are right, the loss falls from %.3f to %.3f", name, v.Right, v.Of, first, last)
		}
	}
	if _, err := New("xxor", 1); err == nil {
		t.Error("there is a task xxor")
	}
}

// TestNumber asserts that the digits that networks are tested on are not those that they are trained on.
func TestNumber(t *testing.T) {
	seen := map[int]bool{}
	for i := range tested + known {
		n := number(i)
		if seen[n] {
			t.Fatalf("digit %d appears twice", n)
		}
		seen[n] = true
		if n/10%10 != i%10 {
			t.Fatalf("digit %d of the package has the label %d", i, n/10%10)
		}
	}
}
