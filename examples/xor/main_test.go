package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/optim"
)

// documented is the documented training run: 50 epochs of 800 examples, in batches of 32, at a rate
// of 0.001.
var documented = plan{epochs: 50, batch: 32, rate: 1e-3, seed: 42}

func TestLearnsExclusiveOr(t *testing.T) {
	var out bytes.Buffer
	m, err := documented.train(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := predict(m); err != nil || !slices.Equal(got, classes) {
		t.Errorf("predictions are %v, %v:\n%s", got, err, &out)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 6 || !strings.Contains(out.String(), "epoch  50") {
		t.Errorf("it writes\n%s", &out)
	}
}

func TestReadsWhatItSaved(t *testing.T) {
	m, err := documented.train(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want, err := predict(m)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, dtype := range []string{"f32", "f16"} {
		path := filepath.Join(t.TempDir(), dtype+".safetensors")
		if err := save(m, path, dtype); err != nil {
			t.Fatal(err)
		}
		again, err := load(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := predict(again); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the model that is read predicts %v, %v; %v expected", dtype, got, err, want)
		}
		file, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes[dtype] = file.Size()
	}
	if saved := sizes["f32"] - sizes["f16"]; saved < 2*354 {
		t.Errorf("half precision saves %d bytes of 354 parameters: %v", saved, sizes)
	}
}

func TestEndsEarly(t *testing.T) {
	early := documented
	early.early = true
	var out bytes.Buffer
	if _, err := early.train(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, "100 %") || strings.Contains(last, "epoch  50") {
		t.Errorf("it writes\n%s", &out)
	}
}

// TestOneStepLowersTheLoss makes one step of Adam.
func TestOneStepLowersTheLoss(t *testing.T) {
	trainer, err := xor.New(42).NewTrainer(xor.TrainerOptions{Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := optim.NewAdam(trainer.Params(), optim.AdamConfig{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := trainer.Step(bits, classes)
	if err != nil {
		t.Fatal(err)
	}
	if err := opt.Step(1e-3); err != nil {
		t.Fatal(err)
	}
	after, err := trainer.Loss(bits, classes)
	if err != nil || !(after < before) {
		t.Errorf("the loss was %v and is %v, %v", before, after, err)
	}
}

func TestSameSeedSameModel(t *testing.T) {
	short := documented
	short.epochs = 2
	var files [2][]byte
	for i := range files {
		m, err := short.train(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "xor.safetensors")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the second training gives other weights")
	}
}
