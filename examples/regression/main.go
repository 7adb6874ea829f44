// Regression predicts the quality of wines from laboratory measurements.
//
//	go run ./examples/regression [-data winequality-red.csv] [-epochs 60] [-rate 0.01] [-seed 42]
//
// The table is UCI's Wine Quality (Cortez and others, 2009), red or white. Without it wines are
// made up. Eight of ten rows are used for training, and the others for evaluation.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"github.com/burngen/burngen/examples/regression/mlp"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -set Features=11 -set Hidden=32,16 -o ./mlp

// plan holds the settings of a training run.
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
	rows, err := wines(*path)
	check(err)
	_, err = p.train(os.Stdout, rows)
	check(err)
}

// batch is the number of rows per step.
const batch = 32

// train trains a network on eight of ten rows and writes a line for every tenth epoch. It returns
// the root mean square error on the other rows.
func (p plan) train(w io.Writer, rows []wine) (float64, error) {
	parts := data.Parts(data.Shuffled(data.Of(rows), p.seed), 0.8, 0.2)
	training := data.Load(parts[0], columns, data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed})
	rest := data.Load(parts[1], columns, data.LoaderOptions{Batch: len(rows)}) // all in one batch
	t, err := mlp.New(p.seed).NewTrainer(mlp.TrainerOptions{Batch: max(batch, rest.Items()), Seed: p.seed})
	if err != nil {
		return 0, err
	}
	opt, err := optim.NewAdamW(t.Params(), optim.AdamWConfig{WeightDecay: 0.01})
	if err != nil {
		return 0, err
	}
	steps := p.epochs * training.Batches()
	rate := optim.Warmup(steps/20, optim.Cosine(p.rate, p.rate/100, steps))
	fmt.Fprintf(w, "%d rows; the mean is off by %.3f\n", len(rows), deviation(rows))
	step, off := 0, 0.
	for epoch := 1; epoch <= p.epochs; epoch++ {
		var sum float64
		for b, err := range training.Epoch(context.Background(), epoch, 0) {
			if err != nil {
				return 0, err
			}
			loss, err := t.Step(b.X, b.Y)
			if err != nil {
				return 0, err
			}
			t.Params().ClipNorm(1)
			if err := opt.Step(rate(step)); err != nil {
				return 0, err
			}
			step++
			sum += float64(loss) * float64(len(b.X))
		}
		for b, err := range rest.Epoch(context.Background(), 0, 0) {
			if err != nil {
				return 0, err
			}
			loss, err := t.Loss(b.X, b.Y) // as Forward: with running statistics
			if err != nil {
				return 0, err
			}
			off = math.Sqrt(float64(loss))
		}
		if epoch == 1 || epoch%10 == 0 {
			fmt.Fprintf(w, "epoch %3d  off by %.3f in training, by %.3f else\n", epoch, math.Sqrt(sum/float64(training.Items())), off)
		}
	}
	return off, nil
}

// deviation returns the root mean square error of predicting the mean quality.
func deviation(rows []wine) float64 {
	var sum, squares float64
	for _, r := range rows {
		sum += float64(r.Quality)
		squares += float64(r.Quality) * float64(r.Quality)
	}
	n := float64(len(rows))
	return math.Sqrt(max(0, squares/n-sum/n*sum/n))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
