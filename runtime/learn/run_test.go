package learn

import (
	"slices"
	"testing"
	"time"
)

func TestSummary(t *testing.T) {
	r := Run{Dir: "runs/mnist", Stopped: Stopped{Reason: "10 epochs done", Step: 8440, Took: 3*time.Minute + 12345*time.Millisecond}, Results: []Result{
		{Series: Series{Name: "loss", Better: -1}, Split: Train, Last: 0.03125, Best: 0.03125, Epoch: 10},
		{Series: Series{Name: "accuracy", Unit: "%", Better: 1}, Split: Train, Last: 98.76543, Best: 98.8, Epoch: 9},
		{Series: Series{Name: "loss", Better: -1}, Split: Valid, Last: nan, Best: nan},
		{Series: Series{Name: "items"}, Split: Valid, Last: 1e6, Best: nan},
	}}
	const want = `mnist: 10 epochs done after 8440 steps and 3m12s
                   last     best  epoch
train loss      0.03125  0.03125     10
train accuracy  98.77 %   98.8 %      9
valid loss      no data
valid items       1e+06
`
	if got := r.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestLoadBest trains until the loss rises, and loads the best weights. With averages these are the
// averages.
func TestLoadBest(t *testing.T) {
	for _, averaged := range []bool{false, true} {
		r := newRig(t, t.TempDir(), func(o *Options) {
			if !averaged {
				o.Average = nil
			}
			o.Epochs, o.Accumulate = 6, 1
			o.Optimizers[0].Rate = func(step int) float64 {
				if step > 20 {
					return 100 // too much
				}
				return 0.3
			}
		})
		run := r.mustFit(t)
		result, ok := run.Result("valid loss")
		if !ok || result.Epoch < 2 || result.Epoch > 5 || result.Best >= result.Last {
			t.Fatalf("result %+v", result)
		}
		before := slices.Clone(r.toy.params.Data)
		if err := run.LoadBest("valid loss"); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(before, r.toy.params.Data) {
			t.Error("the weights are as before")
		}
		test, err := r.learner.Test(t.Context(), loaded(12, 8, false))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := test.Result("test loss"); !ok || got.Last != result.Best {
			t.Errorf("averaged %v: loss %v, want %v", averaged, got.Last, result.Best)
		}
		wantError(t, run.LoadBest("test loss"), `there is no best "test loss"`)
	}
	run := newRig(t, "", nil).mustFit(t)
	wantError(t, run.LoadBest("valid loss"), "the run has no folder")
	run.Dir, run.checkpoints = "x", []Checkpoint{{Values: map[string]Number{"valid loss": 0}, Gone: true}}
	wantError(t, run.LoadBest("valid loss"), "the checkpoint of epoch 3 was not kept: Best(\"valid loss\") in Options.Keep keeps it")
}

func TestTestErrors(t *testing.T) {
	r := newRig(t, "", nil)
	_, err := r.learner.Test(t.Context(), nil)
	wantError(t, err, "learn: no test data")
	_, err = r.learner.Test(t.Context(), loaded(3, 0, false))
	wantError(t, err, "learn: test data: load: batches of 0 items")
	r.learner.task.Eval = nil
	_, err = r.learner.Test(t.Context(), loaded(3, 3, false))
	wantError(t, err, "learn: the task has no Eval")
}
