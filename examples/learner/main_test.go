package main

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/internal/itself"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// write writes n drawn digits as MNIST's training set.
func write(t *testing.T, dir string, n int) {
	t.Helper()
	header := func(words ...uint32) (out []byte) {
		for _, w := range words {
			out = binary.BigEndian.AppendUint32(out, w)
		}
		return out
	}
	pixels, labels := header(0x803, uint32(n), 28, 28), header(0x801, uint32(n))
	for i := range n {
		h := hand.New(rand.New(rand.NewPCG(1, uint64(i))))
		h.Size = 40
		digit := i % 10
		var image cnn.Image
		if err := fit.Digit(&image, h.Draw(rune('0'+digit), i)); err != nil {
			t.Fatal(err)
		}
		for _, row := range image {
			for _, ink := range row {
				pixels = append(pixels, byte(255*ink))
			}
		}
		labels = append(labels, byte(digit))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"train-images-idx3-ubyte": pixels, "train-labels-idx1-ubyte": labels} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMain runs main if the test runs itself.
func TestMain(m *testing.M) {
	if os.Getenv("LEARNER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestProgram(t *testing.T) {
	itself.Need(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "mnist"), 320)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func() string {
		cmd := exec.Command(self)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LEARNER=1", "CI=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	first := run()
	for _, want := range []string{"mnist: 10 epochs done after 50 steps", "valid top-3 accuracy", "valid F1 (macro)"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	for _, file := range []string{"digits.safetensors", "runs/mnist/report.html", "runs/mnist/last.safetensors"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if again := run(); !strings.Contains(again, "10 epochs done after 50 steps") {
		t.Errorf("the second time it says\n%s", again)
	}
}

// TestLabelsThatAreNoDigits asserts that a label that the network does not have ends the run with an error that says
// which batch has it.
func TestLabelsThatAreNoDigits(t *testing.T) {
	labels := make([]int64, 8)
	labels[5] = 10
	train := data.Load(data.Zipped(data.Of(make([]cnn.Image, 8)), data.Of(labels)), data.Pairs(data.Copy[cnn.Image, int64]), data.LoaderOptions{Batch: 4})
	trainer, err := cnn.New(1).NewTrainer(cnn.TrainerOptions{Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	sgd, err := optim.NewSGD(trainer.Params(), optim.SGDConfig{})
	if err != nil {
		t.Fatal(err)
	}
	task := learn.Pairs(trainer.Step, trainer.Loss, func(_ []cnn.Image, y []int64, r cnn.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	l, err := learn.New(trainer, task, learn.Options{Epochs: 1, Optimizers: []learn.Optimizer{{Of: sgd, Rate: optim.Constant(0.1)}}}, metric.Accuracy())
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Fit(t.Context(), train, nil)
	if want := "learn: epoch 1, batch 2, step 2: "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "10") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want %s…10", err, want)
	}
}
