package main

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

var guide = flag.Bool("guide", false, "train ten epochs on MNIST's test set, several times: minutes")

// digitsOfCorpus returns MNIST's test set. It skips the test if the set is missing.
func digitsOfCorpus(t *testing.T) ([]cnn.Image, []int64) {
	t.Helper()
	images, labels, err := digits(corpus.Path(t, "datasets/mnist"))
	if err != nil {
		t.Fatal(err)
	}
	return images, labels
}

// TestGuide trains as Burn's guide does, and compares the accuracy with PyTorch's, which
// testdata/pytorch.py computes.
func TestGuide(t *testing.T) {
	if !*guide {
		t.Skip("without -guide")
	}
	images, labels := digitsOfCorpus(t)
	for _, tt := range []struct {
		rate  float64
		seeds []uint64
		least float64 // least mean accuracy in percent
	}{
		{1e-4, []uint64{42}, 93},
		{1e-3, []uint64{42, 43, 44}, 97},
	} {
		var mean float64
		for _, seed := range tt.seeds {
			_, run := mustTrain(t, plan{epochs: 10, rate: tt.rate, seed: seed, target: firstTarget}, images, labels)
			loss, accuracy := result(t, run, "train loss").Last, result(t, run, "valid accuracy").Last
			t.Logf("rate %g, seed %d: loss %.4f, accuracy %.1f %%", tt.rate, seed, loss, accuracy)
			mean += float64(accuracy) / float64(len(tt.seeds))
		}
		of := pytorch(t, tt.rate)
		t.Logf("rate %g: %.2f %%, PyTorch's is %.2f %%", tt.rate, mean, of)
		if mean < tt.least || math.Abs(mean-of) > 1 {
			t.Errorf("rate %g: %.2f %%: at least %g and PyTorch's %.2f ± 1 expected", tt.rate, mean, tt.least, of)
		}
	}
}

// pytorch returns PyTorch's mean accuracy at a rate, in percent.
func pytorch(t *testing.T, rate float64) float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "pytorch.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []struct {
		Rate, Accuracy float64
	}
	if err := json.Unmarshal(text, &runs); err != nil {
		t.Fatal(err)
	}
	var sum, n float64
	for _, r := range runs {
		if r.Rate == rate {
			sum, n = sum+r.Accuracy, n+1
		}
	}
	if n == 0 {
		t.Fatalf("PyTorch was not run at %g", rate)
	}
	return sum / n
}

// TestThreadsDoNotMatterOnMNIST is like [TestThreadsDoNotMatter], for an epoch of the guide.
func TestThreadsDoNotMatterOnMNIST(t *testing.T) {
	if !*guide {
		t.Skip("without -guide")
	}
	images, labels := digitsOfCorpus(t)
	defer rt.Threads(rt.Threads(1))
	p := plan{epochs: 1, rate: 1e-4, seed: 42, target: firstTarget}
	one := digestOf(t, p, images, labels)
	rt.Threads(2)
	if two := digestOf(t, p, images, labels); two != one {
		t.Error("two threads give other weights than one")
	}
}

// TestLossDoesNotDependOnTheMachine compares the losses of the first steps with the losses of a
// process without assembly.
func TestLossDoesNotDependOnTheMachine(t *testing.T) {
	const child = "MNIST_TEST_LOSSES" // the environment variable that tells a child process where to write its losses
	if path := os.Getenv(child); path != "" {
		text, err := json.Marshal(losses(t))
		if err == nil {
			err = os.WriteFile(path, text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if testing.Short() || runtime.GOOS == "js" {
		t.Skip("trains in another process")
	}
	path := filepath.Join(t.TempDir(), "losses.json")
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), "BURNGEN_CPU=generic", child+"="+path)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var generic []float64
	if err := json.Unmarshal(text, &generic); err != nil {
		t.Fatal(err)
	}
	here := losses(t)
	if len(here) == 0 || len(generic) != len(here) {
		t.Fatalf("%d losses, %d expected", len(generic), len(here))
	}
	for i, x := range here {
		if math.Abs(x-generic[i]) > 1e-3 {
			t.Errorf("step %d: the loss is %g, in plain Go %g", i+1, x, generic[i])
		}
	}
}

// losses returns the losses of some steps on drawn digits.
func losses(t *testing.T) []float64 {
	images, labels, err := draw(2 * batch)
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := cnn.New(42).NewTrainer(cnn.TrainerOptions{Batch: batch, Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := optim.NewAdam(trainer.Params(), optim.AdamConfig{})
	if err != nil {
		t.Fatal(err)
	}
	all := data.Zipped(data.Of(images), data.Of(labels))
	var out []float64
	for range 3 {
		for b, err := range data.Load(all, copied, data.LoaderOptions{Batch: batch}).Epoch(t.Context(), 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			r, err := trainer.Step(b.X, b.Y)
			if err != nil {
				t.Fatal(err)
			}
			if err := opt.Step(1e-3); err != nil {
				t.Fatal(err)
			}
			out = append(out, float64(r.Loss))
		}
	}
	return out
}
