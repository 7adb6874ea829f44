package main

import (
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/rt"
)

// size returns the number of digits to draw and the settings of the training.
func size() (n int, p plan) {
	if testing.Short() {
		return 20, plan{epochs: 2, rate: 1e-3, seed: 42, target: firstTarget}
	}
	return 300, plan{epochs: 4, rate: 1e-3, seed: 42, target: firstTarget}
}

// mustTrain trains without an error, and shows nothing.
func mustTrain(t *testing.T, p plan, images []cnn.Image, labels []int64) (trainer, *learn.Run) {
	t.Helper()
	trainer, run, err := p.train(t.Context(), nil, images, labels)
	if err != nil {
		t.Fatal(err)
	}
	return trainer, run
}

// result returns what a metric came to.
func result(t *testing.T, run *learn.Run, key string) learn.Result {
	t.Helper()
	r, ok := run.Result(key)
	if !ok {
		t.Fatalf("%s was not measured", key)
	}
	return r
}

func TestLearnsToReadDrawnDigits(t *testing.T) {
	n, p := size()
	images, labels, err := draw(n)
	if err != nil {
		t.Fatal(err)
	}
	trainer, run := mustTrain(t, p, images, labels)
	loss, accuracy := result(t, run, "train loss"), result(t, run, "valid accuracy")
	if !run.Stopped.Done || loss.Epoch != p.epochs || !testing.Short() && accuracy.Last < 80 {
		t.Errorf("the run is\n%s", run)
	}
	item := 42 % n
	digit, err := infer(trainer.Model(), images[item])
	if err != nil || !testing.Short() && digit != labels[item] {
		t.Errorf("image %d is read as %d, %v, and shows %d", item, digit, err, labels[item])
	}
}

// TestContinues ends a run after its first epoch, and continues it: the weights are those of a run that
// did not end.
func TestContinues(t *testing.T) {
	n, p := size()
	images, labels, err := draw(n)
	if err != nil {
		t.Fatal(err)
	}
	p.epochs = 2
	want := digestOf(t, p, images, labels)
	p.folder = t.TempDir()
	p.epochs = 1
	mustTrain(t, p, images, labels)
	p.epochs = 2
	if got := digestOf(t, p, images, labels); got != want {
		t.Error("a run that was continued has other weights")
	}
	if files, err := filepath.Glob(filepath.Join(p.folder, "checkpoint", "*")); err != nil || len(files) != 2 {
		t.Errorf("checkpoints %q, %v", files, err)
	}
}

// digestOf trains and returns the digest of the weights.
func digestOf(t *testing.T, p plan, images []cnn.Image, labels []int64) string {
	t.Helper()
	trainer, _ := mustTrain(t, p, images, labels)
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	if err := trainer.Model().Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	return w.Digest()
}

// TestThreadsDoNotMatter compares training with one thread and with two.
func TestThreadsDoNotMatter(t *testing.T) {
	n, p := size()
	images, labels, err := draw(n)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[int]string{}
	for _, threads := range []int{1, 2} {
		defer rt.Threads(rt.Threads(threads))
		digests[threads] = digestOf(t, p, images, labels)
	}
	if digests[1] != digests[2] {
		t.Error("two threads give other weights than one")
	}
}
