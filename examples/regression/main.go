// Regression predicts the quality of wines from laboratory measurements.
//
//	go run ./examples/regression [-data winequality-red.csv] [-epochs 60] [-rate 0.01] [-seed 42]
//
// The table is UCI's Wine Quality (Cortez and others, 2009), red or white. Without -data the program makes wines up.
// Eight of ten rows are used for training, and the others for evaluation.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/burngen/burngen/examples/regression/mlp"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -set Features=11 -set Hidden=32,16 -o ./mlp

type plan struct {
	epochs int
	rate   float64
	seed   uint64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("regression: ")
	path := flag.String("data", os.Getenv("WINE"), "reads the table in `FILE`")
	var p plan
	flag.IntVar(&p.epochs, "epochs", 60, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 1e-2, "learns at this `RATE`, and at less and less")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	rows, err := wines(*path)
	check(err)
	run, err := p.train(ctx, learn.Lines(os.Stdout), rows)
	check(err)
	fmt.Print(run)
}

// train trains a network on eight tenths of the rows and measures it on the rest.
func (p plan) train(ctx context.Context, show learn.Renderer, rows []wine) (*learn.Run, error) {
	const batch = 32
	parts := data.Parts(data.Shuffled(data.Of(rows), p.seed), 0.8, 0.2)
	training := data.Load(parts[0], columns, data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed})
	rest := data.Load(parts[1], columns, data.LoaderOptions{Batch: batch})
	t, err := mlp.New(p.seed).NewTrainer(mlp.TrainerOptions{Batch: batch, Seed: p.seed})
	if err != nil {
		return nil, err
	}
	adam, err := optim.NewAdamW(t.Params(), optim.AdamWConfig{WeightDecay: 0.01})
	if err != nil {
		return nil, err
	}
	steps := p.epochs * training.Batches()
	task := learn.Pairs(t.Step, t.Loss, func(_ []mlp.Features, y []float32, r mlp.LossResult) metric.Values {
		return metric.Values{Loss: r.Loss, Predicted: r.Predicted, Targets: y}
	})
	l, err := learn.New(t, task, learn.Options{
		Epochs: p.epochs, ClipNorm: 1, Show: show,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Warmup(steps/20, optim.Cosine(p.rate, p.rate/100, steps))}},
	}, metric.RMSE(), metric.R2())
	if err != nil {
		return nil, err
	}
	return l.Fit(ctx, training, rest)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
