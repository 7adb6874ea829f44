// Package learning trains the models of the examples on a GPU and on the CPU.
package learning

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"

	finetune "program/finetune/auto"
	mnist "program/mnist/auto"
	text "program/text/auto"
)

var steps = flag.Int("steps", 2, "trains on `N` batches")

const seed = 42

// device is the target that is compared with the CPU.
var device = os.Getenv("BURNGEN_TARGET")

// training is a run: its next step, which returns the loss, and what it trains.
type training struct {
	step   func() (float32, error)
	params *rt.Params
}

// history is what a run gives.
type history struct {
	losses []float32
	params []float32
}

// run trains on a target.
func run(t *testing.T, target string, start func() (training, error)) history {
	t.Helper()
	t.Setenv("BURNGEN_TARGET", target)
	r, err := start()
	if err != nil {
		t.Fatal(err)
	}
	var h history
	for k := range *steps {
		loss, err := r.step()
		if err != nil {
			t.Fatalf("%s, step %d: %v", target, k, err)
		}
		h.losses = append(h.losses, loss)
	}
	for i := range r.params.Items {
		h.params = append(h.params, r.params.Value(i)...)
	}
	return h
}

// late returns the mean of the last tenth of the losses.
func (h history) late() float64 {
	last := h.losses[len(h.losses)-max(1, len(h.losses)/10):]
	sum := 0.0
	for _, v := range last {
		sum += float64(v)
	}
	return sum / float64(len(last))
}

// sameBits reports whether two slices have the same bits.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// compare trains on the CPU, and twice on the device. Both runs on the device have the same bits. The mean of
// the last losses differs from the CPU's by 1 % at most, and the first loss by rounding.
func compare(t *testing.T, start func() (training, error)) {
	if device == "" || device == "cpu" {
		t.Fatal("BURNGEN_TARGET does not name a GPU's target")
	}
	cpu, first, second := run(t, "cpu", start), run(t, device, start), run(t, device, start)
	if !sameBits(first.losses, second.losses) || !sameBits(first.params, second.params) {
		t.Error("two runs on the device differ")
	}
	if got, want := float64(first.losses[0]), float64(cpu.losses[0]); !(math.Abs(got-want) <= 1e-4*(1+want)) {
		t.Errorf("the first loss is %v, want %v", got, want)
	}
	if got, want := first.late(), cpu.late(); !(math.Abs(got-want) <= 0.01*want) {
		t.Errorf("after %d steps the loss is %v, want %v", *steps, got, want)
	}
	t.Logf("the loss goes from %.4f to %.4f, and to %.4f on the CPU", first.losses[0], first.late(), cpu.late())
}

// TestText trains the transformer on sums in words.
func TestText(t *testing.T) {
	words := strings.Fields("nought one two three four five six seven eight nine ten")
	random := rand.New(rand.NewPCG(1, 0))
	var b strings.Builder
	for b.Len() < 20_000 {
		i, k := random.IntN(6), random.IntN(6)
		fmt.Fprintf(&b, "%s and %s is %s.\n", words[i], words[k], words[i+k])
	}
	tokens := data.Bytes(b.String())
	compare(t, func() (training, error) {
		const batch = 16
		m, err := text.New(seed)
		if err != nil {
			return training{}, err
		}
		trainer, err := m.NewTrainer(text.TrainerOptions{Batch: batch, Seed: seed})
		if err != nil {
			return training{}, err
		}
		opt, err := optim.NewAdamW(trainer.Params(), optim.AdamWConfig{})
		if err != nil {
			return training{}, err
		}
		random, next := rand.New(rand.NewPCG(seed, 0)), len(text.Tokens{})
		x, y := make([]text.Tokens, batch), make([]text.Next, batch)
		return training{params: trainer.Params(), step: func() (float32, error) {
			for i := range x {
				at := random.IntN(len(tokens) - next)
				copy(x[i][:], tokens[at:])
				copy(y[i][:], tokens[at+1:])
			}
			loss, err := trainer.Step(x, y)
			if err != nil {
				return 0, err
			}
			trainer.Params().ClipNorm(1)
			return loss, opt.Step(3e-3)
		}}, nil
	})
}

// images draws pictures of signs, and their numbers.
func images(t *testing.T, n int, signs []rune) (images [][28][28]float32, labels []int64) {
	t.Helper()
	for i := range n {
		for k, sign := range signs {
			h := hand.New(rand.New(rand.NewPCG(1, uint64(len(signs)*i+k))))
			h.Size = 40
			var image [28][28]float32
			if err := fit.Digit(&image, h.Draw(sign, i)); err != nil {
				t.Fatal(err)
			}
			images, labels = append(images, image), append(labels, int64(k))
		}
	}
	return images, labels
}

// TestMNIST trains the convolutional network on drawn digits.
func TestMNIST(t *testing.T) {
	all, labels := images(t, 40, []rune("0123456789"))
	compare(t, func() (training, error) {
		const batch = 64
		m, err := mnist.New(seed)
		if err != nil {
			return training{}, err
		}
		trainer, err := m.NewTrainer(mnist.TrainerOptions{Batch: batch, Seed: seed})
		if err != nil {
			return training{}, err
		}
		opt, err := optim.NewAdam(trainer.Params(), optim.AdamConfig{})
		if err != nil {
			return training{}, err
		}
		random, x, y := rand.New(rand.NewPCG(seed, 0)), make([]mnist.Image, batch), make([]int64, batch)
		return training{params: trainer.Params(), step: func() (float32, error) {
			for i := range x {
				at := random.IntN(len(all))
				x[i], y[i] = all[at], labels[at]
			}
			r, err := trainer.Step(x, y)
			if err != nil {
				return 0, err
			}
			return r.Loss, opt.Step(1e-4)
		}}, nil
	})
}

// TestLearner trains the convolutional network by a learner. The weights have the same bits as those of a loop that is
// written by hand, although the learner ends after a step and continues.
func TestLearner(t *testing.T) {
	t.Setenv("BURNGEN_TARGET", device)
	x, y := images(t, 13, []rune("0123456789"))
	const batch, steps = 64, 3
	set := data.Zipped(data.Of(x), data.Of(y))
	train := data.Load(set, data.Pairs(data.Copy[mnist.Image, int64]), data.LoaderOptions{Batch: batch, Shuffle: true, Workers: 2})
	valid := data.Load(data.Part(set, 0, 20), data.Pairs(data.Copy[mnist.Image, int64]), data.LoaderOptions{Batch: batch})
	start := func() (mnist.Trainer, *optim.Adam) {
		m, err := mnist.New(seed)
		if err != nil {
			t.Fatal(err)
		}
		trainer, err := m.NewTrainer(mnist.TrainerOptions{Batch: batch, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		adam, err := optim.NewAdam(trainer.Params(), optim.AdamConfig{})
		if err != nil {
			t.Fatal(err)
		}
		return trainer, adam
	}
	weights := func(p *rt.Params) (all []float32) {
		for i := range p.Items {
			all = append(all, p.Value(i)...)
		}
		return all
	}
	trainer, adam := start()
	for k := 0; k < steps; {
		for b, err := range train.Epoch(t.Context(), k/train.Batches(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if k++; k > steps {
				break
			}
			if _, err := trainer.Step(b.X, b.Y); err != nil {
				t.Fatal(err)
			}
			if err := adam.Step(1e-3); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := weights(trainer.Params())
	dir := t.TempDir()
	for _, end := range []int{1, steps} {
		trainer, adam := start()
		task := learn.Pairs(trainer.Step, trainer.Loss, func(_ []mnist.Image, y []int64, r mnist.LossResult) metric.Classes {
			return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
		})
		l, err := learn.New(trainer, task, learn.Options{
			Dir: dir, Resume: learn.Continue, Steps: end, Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(1e-3)}},
		}, metric.Accuracy(), metric.TopK(3))
		if err != nil {
			t.Fatal(err)
		}
		run, err := l.Fit(t.Context(), train, valid)
		if err != nil {
			t.Fatal(err)
		}
		if !run.Stopped.Done || run.Stopped.Step != end {
			t.Errorf("stopped %+v", run.Stopped)
		}
		if end == steps && !sameBits(weights(trainer.Params()), want) {
			t.Error("other weights than by hand")
		}
	}
}

// TestFinetune trains the network with a body of an ONNX file on drawn signs.
func TestFinetune(t *testing.T) {
	all, labels := images(t, 40, []rune("+−×÷="))
	compare(t, func() (training, error) {
		const batch = 16
		m, err := finetune.New(seed)
		if err != nil {
			return training{}, err
		}
		trainer, err := m.NewTrainer(finetune.TrainerOptions{Batch: batch, Seed: seed})
		if err != nil {
			return training{}, err
		}
		opt, err := optim.NewAdam(trainer.Params(), optim.AdamConfig{})
		if err != nil {
			return training{}, err
		}
		random, x, y := rand.New(rand.NewPCG(seed, 0)), make([]finetune.Image, batch), make([]int64, batch)
		return training{params: trainer.Params(), step: func() (float32, error) {
			for i := range x {
				at := random.IntN(len(all))
				x[i][0], y[i] = all[at], labels[at]
			}
			r, err := trainer.Step(x, y)
			if err != nil {
				return 0, err
			}
			return r.Loss, opt.Step(1e-5)
		}}, nil
	})
}
