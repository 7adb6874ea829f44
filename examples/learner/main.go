// Learner trains the network of examples/mnist with everything that a learner offers: validation, checkpoints, early
// stopping, a dashboard, and a report. It is the program of docs/training.md.
//
//	go run ./examples/learner
//
// It reads MNIST's training set in the folder mnist, and keeps the run in runs/mnist. If it was interrupted, the next
// start continues the run.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/dash"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/images"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/learn/report"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

func main() {
	ctx, stop := learn.Interruptible(context.Background()) // the second Ctrl-C ends at once
	defer stop()
	digits, err := images.MNIST("mnist", images.Train)
	check(err)
	parts := data.Parts(data.Shuffled(digits, 42), 0.9, 0.1)
	put := data.Pairs(func(d images.Digit, x *cnn.Image, y *int64, _ *rand.Rand) error {
		*x, *y = d.Standard(), int64(d.Label)
		return nil
	})
	train := data.Load(parts[0], put, data.LoaderOptions{Batch: 64, Shuffle: true, Seed: 42, Workers: 4})
	valid := data.Load(parts[1], put, data.LoaderOptions{Batch: 64})

	t, err := cnn.New(42).NewTrainer(cnn.TrainerOptions{Batch: 64, Seed: 42})
	check(err)
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	check(err)
	task := learn.Pairs(t.Step, t.Loss, func(_ []cnn.Image, y []int64, r cnn.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	l, err := learn.New(t, task, learn.Options{
		Dir: "runs/mnist", Resume: learn.Continue, Epochs: 10,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(1e-4)}},
		Keep:       []learn.Keeper{learn.Last(2), learn.Best("valid accuracy")},
		Stop:       learn.NoBetter("valid loss", 3),
		Show:       dash.Terminal(), Report: report.Write,
	}, metric.Accuracy(), metric.TopK(3), metric.F1(metric.Macro))
	check(err)
	run, err := l.Fit(ctx, train, valid)
	check(err)
	fmt.Print(run)                        // the summary
	check(run.LoadBest("valid accuracy")) // the best epoch's weights into t
	check(t.Model().Save("digits.safetensors"))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
